"""Linen modules as Modules and Modules as Linen modules, under the module name of NNX."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from typed_nnx._core.module import Module as Module
from typed_nnx._core.pytree import Pytree as Pytree
from typed_nnx._core.rngs import Rngs as Rngs
from typed_nnx._core.state import State as State
from typed_nnx._core.type_variables import M as M
from typed_nnx.bridge._functional import Functional as Functional
from typed_nnx.bridge._functional import functional as functional
from typed_nnx.bridge._lazy_init import lazy_init as lazy_init
from typed_nnx.bridge._linen import current_linen_module as current_linen_module
from typed_nnx.bridge._linen import linen_rngs_dict as linen_rngs_dict
from typed_nnx.bridge._to_linen import to_linen as to_linen
from typed_nnx.bridge._to_linen import to_linen_base
from typed_nnx.bridge._to_linen import to_linen_class as to_linen_class
from typed_nnx.bridge._to_nnx import ToNNX as ToNNX

if TYPE_CHECKING:
    from typed_nnx.bridge._declared import ToLinen as ToLinen

else:

    def __getattr__(name: str) -> Any:
        if name == "ToLinen":
            return to_linen_base()
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
