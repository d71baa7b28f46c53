"""Modules of NNX and of Linen inside a `bridge.Module`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from typed_nnx._core.module import Module
from typed_nnx._core.rngs import Rngs
from typed_nnx.bridge._context import ModuleStackEntry, current_context
from typed_nnx.bridge._linen_like import place
from typed_nnx.bridge._to_nnx import ToNNX
from typed_nnx.errors import UnboundModuleError

if TYPE_CHECKING:
    import flax.linen

M = TypeVar("M", bound=Module)


def nnx_in_bridge_mdl(factory: Callable[[Rngs], M], name: str | None = None) -> M:
    """Make a Module of NNX inside a `bridge.Module`.

    Args:
        factory: Makes the Module of random streams, those of the `bridge.Module`.
        name: The attribute; in a compact method the name of its type and a number for None.

    Raises:
        UnboundModuleError: No `bridge.Module` runs.
    """
    entry = _running("nnx_in_bridge_mdl")
    module = factory(_streams(entry.module.scope.rngs))
    _put(entry, name, module, type(module))
    return module


def linen_in_bridge_mdl(linen_module: flax.linen.Module, name: str | None = None) -> ToNNX:
    """Make a Module of a Linen module inside a `bridge.Module`.

    Args:
        linen_module: The Linen module.
        name: The attribute; in a compact method the name of its type and a number for None.

    Raises:
        UnboundModuleError: No `bridge.Module` runs.
    """
    entry = _running("linen_in_bridge_mdl")
    module = ToNNX(linen_module, rngs=_streams(entry.module.scope.rngs))
    _put(entry, name, module, type(linen_module))
    return module


def _running(function: str) -> ModuleStackEntry:
    entry = current_context()
    if entry is None or entry.module.scope is None:
        raise UnboundModuleError(function, "" if entry is None else type(entry.module).__name__)
    return entry


def _put(entry: ModuleStackEntry, name: str | None, module: Any, cls: type) -> None:
    if name is None and entry.in_compact:
        name = entry.new_name(cls)
    if name is not None:
        place(entry.module, name, module)


def _streams(rngs: Rngs) -> Rngs:
    """Return the streams, with one to start from where `apply` was given none.

    What is drawn from it is replaced by the variables that `apply` was given.
    """
    if "default" in rngs:
        return rngs
    completed = Rngs(default=0)
    for name, stream in rngs.items():
        setattr(completed, name, stream)
    return completed
