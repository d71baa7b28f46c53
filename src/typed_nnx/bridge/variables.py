"""Linen variables and Variables, under the module name of NNX."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from typed_nnx._core.type_variables import A as A
from typed_nnx._core.type_variables import B as B
from typed_nnx.bridge._conversion import get_col_name as get_col_name
from typed_nnx.bridge._conversion import is_vanilla_variable as is_vanilla_variable
from typed_nnx.bridge._conversion import linen_vars_to_nnx_attrs as linen_vars_to_nnx_attrs
from typed_nnx.bridge._conversion import nnx_attrs_to_linen_vars as nnx_attrs_to_linen_vars
from typed_nnx.bridge._conversion import sort_variable_types as sort_variable_types
from typed_nnx.bridge._conversion import to_linen_var as to_linen_var
from typed_nnx.bridge._conversion import to_nnx_var as to_nnx_var
from typed_nnx.bridge._conversion import with_partitioning as with_partitioning
from typed_nnx.bridge._nnx_meta import nnx_meta_class

if TYPE_CHECKING:
    from typed_nnx.bridge._declared import NNXMeta as NNXMeta

else:

    def __getattr__(name: str) -> Any:
        if name == "NNXMeta":
            return nnx_meta_class()
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
