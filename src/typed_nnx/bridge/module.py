"""The Linen-like Module and what belongs to it, under the module name of NNX."""

from __future__ import annotations

from typing import Any

from typed_nnx._core.data_types import register_data_type as register_data_type
from typed_nnx._core.pytree import Pytree as Pytree
from typed_nnx._core.type_variables import A as A
from typed_nnx._core.type_variables import F as F
from typed_nnx._core.type_variables import M as M
from typed_nnx.bridge._context import MODULE_CONTEXT as MODULE_CONTEXT
from typed_nnx.bridge._context import ModuleContext as ModuleContext
from typed_nnx.bridge._context import ModuleStackEntry as ModuleStackEntry
from typed_nnx.bridge._context import current_context as current_context
from typed_nnx.bridge._context import running_module
from typed_nnx.bridge._linen_like import Module as Module
from typed_nnx.bridge._linen_like import ModuleMeta as ModuleMeta
from typed_nnx.bridge._linen_like import compact as compact
from typed_nnx.bridge._linen_like import has_setup as has_setup
from typed_nnx.bridge._module_state import ModuleState as ModuleState
from typed_nnx.bridge._scope import AttrPriority as AttrPriority
from typed_nnx.bridge._scope import Scope as Scope


def current_module() -> Module | None:
    """Return the `bridge.Module` whose method runs, or None."""
    module: Any = running_module()
    return module  # type: ignore[no-any-return]  # only Modules of this kind are put on the stack
