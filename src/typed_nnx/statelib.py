"""``nnx.statelib``: State and its functions under the name of their module."""

from collections.abc import Hashable
from typing import Any, TypeVar

from typed_nnx._core.modules import A as A
from typed_nnx._core.state import FlatState as FlatState
from typed_nnx._core.state import State as State
from typed_nnx._core.state import diff as diff
from typed_nnx._core.state import filter_state as filter_state
from typed_nnx._core.state import from_flat_state as from_flat_state
from typed_nnx._core.state import map_state as map_state
from typed_nnx._core.state import merge_state as merge_state
from typed_nnx._core.state import replace_by_pure_dict as replace_by_pure_dict
from typed_nnx._core.state import restore_int_paths as restore_int_paths
from typed_nnx._core.state import split_state as split_state
from typed_nnx._core.state import to_flat_state as to_flat_state
from typed_nnx._core.state import to_pure_dict as to_pure_dict

K = TypeVar("K", bound=Hashable)
S = TypeVar("S", bound=State[Any, Any])
V = TypeVar("V")
