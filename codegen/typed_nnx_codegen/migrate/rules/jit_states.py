"""TN117: ``donate_state`` and ``constrain_state`` are arguments of jit that jax knows."""

from __future__ import annotations

from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import number_of
from typed_nnx_codegen.migrate.patterns.module_arguments import is_node
from typed_nnx_codegen.migrate.patterns.transform_calls import (
    TransformCall,
    TransformCalls,
    renamed_keyword,
    without_keywords,
)
from typed_nnx_codegen.migrate.registry import Rule, register

_DONATE: Final = "donate_state"
_CONSTRAIN: Final = "constrain_state"
_DONATE_MESSAGE: Final = (
    "`donate_state=` is gone: name the Modules among the arguments in `donate_argnums=`; {why}"
)
_CONSTRAIN_MESSAGE: Final = (
    "`constrain_state=` is gone: give the shardings of each Module in "
    "`in_shardings=nnx.StateSharding({filter: sharding})` and `out_shardings=`, or call "
    "jax.lax.with_sharding_constraint on its state inside"
)


@register
class JitStates(Rule):
    """`jit` treats the state of a Module as jax treats other arguments.

    ``donate_state=True`` donated all Modules: the rule writes their positions into
    `donate_argnums`, beside those that are there, where it is known which arguments are Modules;
    otherwise it leaves a marker. False was the default and goes away. ``constrain_state=`` took
    shardings from the metadata of Variables; a person has to say them.
    """

    code = "TN117"
    title = "`donate_state` and `constrain_state` are arguments of jit that jax knows"
    since = (0, 10, 0)
    example = """\
  from functools import partial
- from flax import nnx
+ import typed_nnx as nnx

- @partial(nnx.jit, donate_state=True)
+ @partial(nnx.jit, donate_argnums=(0, 1))
  def train_step(model: nnx.Module, optimizer: nnx.Optimizer, x):
      return model(x)
"""

    def plan(self) -> None:
        """Look for `jit` from now on."""
        self._calls = TransformCalls(self.file, "nnx.jit")

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Rewrite the arguments of jit."""
        transform = self._calls.of(original)
        if transform is None:
            return updated
        constrain = transform.keyword(_CONSTRAIN)
        if constrain is not None:
            if _is(constrain, "False"):
                updated = without_keywords(updated, _CONSTRAIN)
            else:
                self.file.decide(original, _CONSTRAIN_MESSAGE)
        donate = transform.keyword(_DONATE)
        if donate is None:
            return updated
        if _is(donate, "False"):
            return without_keywords(updated, _DONATE)
        if not _is(donate, "True"):
            self._decide(original, "whether to do so is computed")
            return updated
        return self._donating(transform, updated)

    def _donating(self, transform: TransformCall, updated: cst.Call) -> cst.Call:
        names = transform.parameters
        if names is None or transform.function is None:
            self._decide(transform.node, "the function is not in this file")
            return updated
        answers = [is_node(self.file, transform.function, name) for name in names]
        by_keyword = [is_node(self.file, transform.function, name) for name in transform.by_keyword]
        if None in answers or any(answer is not False for answer in by_keyword):
            self._decide(transform.node, "it cannot be seen which of the arguments are Modules")
            return updated
        there = self._there(transform)
        if there is None:
            self._decide(transform.node, "those that are donated already are computed")
            return updated
        positions = sorted({*there, *(index for index, found in enumerate(answers) if found)})
        value = _argnums(positions)
        if transform.keyword("donate_argnums") is not None:
            updated = without_keywords(updated, _DONATE)
            return renamed_keyword(updated, "donate_argnums", "donate_argnums", value)
        if not positions:
            return without_keywords(updated, _DONATE)
        return renamed_keyword(updated, _DONATE, "donate_argnums", value)

    @staticmethod
    def _there(transform: TransformCall) -> list[int] | None:
        """Return the arguments that are donated already; None where that is computed."""
        given = transform.keyword("donate_argnums")
        if given is None:
            return None if transform.has_star else []
        nodes: list[cst.BaseExpression] = [given.value]
        if isinstance(given.value, (cst.Tuple, cst.List)):
            nodes = [element.value for element in given.value.elements]
        numbers = [number_of(node) for node in nodes]
        found = [number for number in numbers if isinstance(number, int) and number >= 0]
        return found if len(found) == len(nodes) else None

    def _decide(self, node: cst.Call, why: str) -> None:
        self.file.decide(node, _DONATE_MESSAGE.format(why=why))


def _is(arg: cst.Arg, name: str) -> bool:
    return isinstance(arg.value, cst.Name) and arg.value.value == name


def _argnums(positions: list[int]) -> cst.BaseExpression:
    if len(positions) == 1:
        return cst.Integer(str(positions[0]))
    return cst.parse_expression(f"({', '.join(map(str, positions))})")
