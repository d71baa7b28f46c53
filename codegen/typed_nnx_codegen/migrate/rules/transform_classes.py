"""TN114: ``nnx.Remat(Block)(...)`` and the other classes of transforms are functions."""

from __future__ import annotations

from typing import Final

from typed_nnx_codegen.migrate.registry import Rule, register

_ALONE: Final = (
    "`nnx.{old}` is gone: make the Module itself, and put @nnx.{new} above its `__call__`, or "
    "call it as nnx.{new}(Block.__call__)(block, x)"
)
_STACK: Final = (
    "`nnx.{old}` is gone: make the stack in a function under @nnx.split_rngs(splits=n) and @nnx.vmap, and "
    "call it as "
)


@register
class TransformClasses(Rule):
    """Transforms of Modules are functions: the classes `Jit`, `Remat`, `Scan` and `Vmap` are gone.

    Each gets a marker that says what to write: how to create the Module or the stack of Modules, and how to call it.
    """

    code = "TN114"
    title = "The classes of transforms are functions"
    since = (0, 12, 0)
    gone = {
        "JIT": _ALONE.format(old="JIT", new="jit"),
        "Jit": _ALONE.format(old="Jit", new="jit"),
        "Remat": _ALONE.format(old="Remat", new="remat"),
        "Scan": f"{_STACK.format(old='Scan')}nnx.scan(Block.__call__, in_axes=(0, nnx.Carry), "
        "out_axes=nnx.Carry)(blocks, x)",
        "Vmap": f"{_STACK.format(old='Vmap')}nnx.vmap(Block.__call__, in_axes=(0, None))(blocks, x)",
    }
    example = f"""\
- from flax import nnx
+ import typed_nnx as nnx

+ # TODO[typed-nnx] TN114: {gone["Remat"]}
  block = nnx.Remat(nnx.Linear)(8, 8, rngs=nnx.Rngs(0))
"""
