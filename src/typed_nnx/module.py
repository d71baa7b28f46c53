"""``nnx.module``: `Module` and what works on Modules, under the name of the module."""

from typed_nnx._core.module import Module as Module
from typed_nnx._core.module import iter_modules as iter_modules
from typed_nnx._core.module import tuple_init as tuple_init
from typed_nnx._core.module import tuple_reduce as tuple_reduce
from typed_nnx._core.pytree import PytreeMeta
from typed_nnx._graph.capture import capture as capture
from typed_nnx._graph.views import view as view
from typed_nnx._graph.views import view_info as view_info
from typed_nnx._graph.views import with_attributes as with_attributes

ModuleMeta = PytreeMeta
