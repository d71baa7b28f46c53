"""The one place that imports flax, when something that works with Linen is used."""

from __future__ import annotations

from typing import Any

from typed_nnx.errors import FlaxRequiredError


def flax_modules(needed_by: str) -> Any:
    """Return the module ``flax``, with ``flax.linen``, ``flax.core.meta`` and ``flax.struct``.

    Args:
        needed_by: What is used, for the error.

    Raises:
        FlaxRequiredError: flax is not installed.
    """
    try:
        import flax
        import flax.core.meta
        import flax.linen
        import flax.struct
    except ModuleNotFoundError as error:
        if error.name != "flax":  # flax is there, and something that it needs is not
            raise
        raise FlaxRequiredError(needed_by) from None
    return flax


def current_linen_module() -> Any:
    """Return the Linen module whose method is running, or None."""
    linen = flax_modules("current_linen_module")
    # flax has no public name for it.
    stack = linen.linen.module._context.module_stack
    return stack[-1] if stack else None


def linen_rngs_dict(linen_module: Any, add_default: bool = False) -> dict[str, Any]:
    """Return a new key for each random stream of a Linen module that runs.

    Args:
        linen_module: A bound Linen module.
        add_default: Add the seed 0 as ``default`` when there is no such stream.

    Raises:
        AssertionError: The module is not bound.
    """
    if linen_module.scope is None:
        raise AssertionError(
            "linen_rngs_dict: the Linen module has no scope; it must be called inside a Linen "
            "module.\n  Fix: call it in a method that runs under init or apply"
        )
    names = linen_module.scope.rngs
    keys: dict[str, Any] = {name: linen_module.make_rng(name) for name in names}
    if add_default:
        keys.setdefault("default", 0)
    return keys
