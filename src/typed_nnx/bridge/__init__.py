"""`nnx.bridge`: Modules and Linen modules inside each other. It needs flax when it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from typed_nnx.bridge import interop as interop
from typed_nnx.bridge import module as module
from typed_nnx.bridge import variables as variables
from typed_nnx.bridge import wrappers as wrappers
from typed_nnx.bridge.interop import linen_in_bridge_mdl as linen_in_bridge_mdl
from typed_nnx.bridge.interop import nnx_in_bridge_mdl as nnx_in_bridge_mdl
from typed_nnx.bridge.module import AttrPriority as AttrPriority
from typed_nnx.bridge.module import Module as Module
from typed_nnx.bridge.module import Scope as Scope
from typed_nnx.bridge.module import compact as compact
from typed_nnx.bridge.module import current_context as current_context
from typed_nnx.bridge.module import current_module as current_module
from typed_nnx.bridge.variables import with_partitioning as with_partitioning
from typed_nnx.bridge.wrappers import Functional as Functional
from typed_nnx.bridge.wrappers import ToNNX as ToNNX
from typed_nnx.bridge.wrappers import functional as functional
from typed_nnx.bridge.wrappers import lazy_init as lazy_init
from typed_nnx.bridge.wrappers import to_linen as to_linen
from typed_nnx.nn import initializers as initializers

if TYPE_CHECKING:
    from typed_nnx.bridge._declared import NNXMeta as NNXMeta
    from typed_nnx.bridge._declared import ToLinen as ToLinen

else:

    def __getattr__(name: str) -> Any:
        if name == "NNXMeta":
            return variables.NNXMeta
        if name == "ToLinen":
            return wrappers.ToLinen
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
