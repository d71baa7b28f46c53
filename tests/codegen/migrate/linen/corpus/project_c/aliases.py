"""Types that the other files import, some of them for type checkers only."""

from collections.abc import Sequence
from typing import Any

ModuleDef = Any
Shape = Sequence[int]
