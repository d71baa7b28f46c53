"""What a function takes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any


def has_keyword_arg(func: Callable[..., Any], name: str) -> bool:
    """Whether a function has a parameter that can be given by this name."""
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    found = inspect.signature(func).parameters.get(name)
    return found is not None and found.kind in by_name
