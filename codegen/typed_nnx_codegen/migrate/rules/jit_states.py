"""TN117: ``donate_state`` and ``constrain_state`` are arguments of jit that jax knows."""

from __future__ import annotations

from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import is_name
from typed_nnx_codegen.migrate.patterns.transform_calls import TransformCalls, without_keywords
from typed_nnx_codegen.migrate.registry import Rule, register

_MESSAGES: Final = {
    "constrain_state": (
        "`constrain_state=` is gone: give the shardings of each Module in "
        "`in_shardings=nnx.StateSharding({filter: sharding})` and `out_shardings=`, or call "
        "jax.lax.with_sharding_constraint on its state inside"
    ),
    "donate_state": (
        "`donate_state=` is gone: name the Modules among the arguments in `donate_argnums=`"
    ),
}


@register
class JitStates(Rule):
    """`jit` treats the state of a Module as jax treats other arguments.

    False was the default of both and is removed. Otherwise a marker says what to write: the
    positions of the Modules in `donate_argnums`, or the shardings that came from the metadata of
    Variables.
    """

    code = "TN117"
    title = "`donate_state` and `constrain_state` are arguments of jit that jax knows"
    since = (0, 10, 0)
    example = """\
  from functools import partial
- from flax import nnx
+ import typed_nnx as nnx

- @partial(nnx.jit, static_argnames="n", donate_state=False)
+ @partial(nnx.jit, static_argnames="n")
  def train_step(model: nnx.Module, x, n):
      return model(x * n)
"""

    def plan(self) -> None:
        """Look for `jit` from now on."""
        self._calls = TransformCalls(self.file, "nnx.jit")

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Rewrite or mark the arguments of jit."""
        transform = self._calls.of(original)
        if transform is None:
            return updated
        for keyword, message in _MESSAGES.items():
            given = transform.keyword(keyword)
            if given is None:
                continue
            if is_name(given.value, "False"):
                updated = without_keywords(updated, keyword)
            else:
                self.file.decide(original, message)
        return updated
