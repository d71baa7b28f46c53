"""TN124: ``nnx.fork`` and ``nnx.ForkStates`` are ``nnx.split_rngs``."""

from __future__ import annotations

from typed_nnx_codegen.migrate.registry import Rule, register

_MESSAGE = (
    "`nnx.{name}` is gone: `nnx.split_rngs(node, splits=n, only=F)` splits the keys inside an object, "
    "and `nnx.StateAxes` says which of its keys are mapped"
)


@register
class SplitInsideObjects(Rule):
    """The keys inside an object are split in place: `nnx.fork` is gone.

    Its result, States of the keys that were split and of the others, has no successor:
    `nnx.split_rngs` changes the object, and `nnx.StateAxes` says which of its keys are mapped. Uses
    of both names get a marker.
    """

    code = "TN124"
    title = "`nnx.fork` and `nnx.ForkStates` are `nnx.split_rngs`"
    since = (0, 10, 0)
    example = f"""\
- from flax import nnx
+ import typed_nnx as nnx

  rngs = nnx.Rngs(0)
+ # TODO[typed-nnx] TN124: {_MESSAGE.format(name="fork")}
  keys = nnx.fork(rngs, ..., 3)
"""
    gone = {name: _MESSAGE.format(name=name) for name in ("fork", "ForkStates")}
