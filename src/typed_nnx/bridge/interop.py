"""Modules of NNX and of Linen inside a `bridge.Module`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from typed_nnx._core.modules import Module
from typed_nnx._core.rngs import Rngs
from typed_nnx.bridge.module import ModuleStackEntry, current_context
from typed_nnx.bridge.wrappers import ToNNX
from typed_nnx.errors import BridgeError

if TYPE_CHECKING:
    import flax.linen

M = TypeVar("M", bound=Module)


def nnx_in_bridge_mdl(factory: Callable[[Rngs], M], name: str | None = None) -> M:
    """Make a Module of NNX inside a `bridge.Module`.

    Args:
        factory: Makes the Module of random streams, those of the `bridge.Module`.
        name: The attribute; in a compact method the name of its type and a number for None.

    Raises:
        BridgeError: No `bridge.Module` runs.
    """
    entry, rngs = _running("nnx_in_bridge_mdl")
    module = factory(rngs)
    _put(entry, name, module, type(module))
    return module


def linen_in_bridge_mdl(linen_module: flax.linen.Module, name: str | None = None) -> ToNNX:
    """Make a Module of a Linen module inside a `bridge.Module`.

    Args:
        linen_module: The Linen module.
        name: The attribute; in a compact method the name of its type and a number for None.

    Raises:
        BridgeError: No `bridge.Module` runs.
    """
    entry, rngs = _running("linen_in_bridge_mdl")
    module = ToNNX(linen_module, rngs=rngs)
    _put(entry, name, module, type(linen_module))
    return module


def _running(function: str) -> tuple[ModuleStackEntry, Rngs]:
    """Return the `bridge.Module` that runs, and its random streams.

    There is one to start from where `apply` was given none; what is drawn from it is replaced by the
    variables that `apply` was given.
    """
    entry = current_context()
    scope = None if entry is None else entry.module.scope
    if entry is None or scope is None:
        module = "" if entry is None else type(entry.module).__name__
        raise BridgeError.without_scope(function, module)
    if "default" in scope.rngs:
        return entry, scope.rngs
    completed = Rngs(default=0)
    for name, stream in scope.rngs.items():
        setattr(completed, name, stream)
    return entry, completed


def _put(entry: ModuleStackEntry, name: str | None, module: object, cls: type) -> None:
    if name is None and entry.in_compact:
        name = entry.new_name(cls)
    if name is not None:
        entry.place(name, module)
