"""``nnx.module``: `Module` and what works on Modules, under the name of the module."""

from typing import Any, TypeVar

from typed_nnx._core.modules import A as A
from typed_nnx._core.modules import B as B
from typed_nnx._core.modules import F as F
from typed_nnx._core.modules import M as M
from typed_nnx._core.modules import Module as Module
from typed_nnx._core.modules import P as P
from typed_nnx._core.modules import R as R
from typed_nnx._core.modules import V as V
from typed_nnx._core.modules import iter_module_children as iter_module_children
from typed_nnx._core.modules import iter_modules as iter_modules
from typed_nnx._core.modules import tuple_init as tuple_init
from typed_nnx._core.modules import tuple_reduce as tuple_reduce
from typed_nnx._core.pytree import Pytree as Pytree
from typed_nnx._core.pytree import PytreeMeta
from typed_nnx._core.state import State as State
from typed_nnx._core.state import split_state as split_state
from typed_nnx._graph.views import capture as capture
from typed_nnx._graph.views import view as view
from typed_nnx._graph.views import view_info as view_info
from typed_nnx._graph.views import with_attributes as with_attributes
from typed_nnx._graph.walk import iter_children as iter_children

ModuleMeta = PytreeMeta
S = TypeVar("S", bound=State[Any, Any] | tuple[State[Any, Any], ...])
