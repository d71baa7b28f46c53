"""`EMA`: an exponential moving average of the Variables of a model."""

from __future__ import annotations

from typing import Any, Generic, overload

import jax
from typing_extensions import TypeVar

from typed_nnx._core.fields import data
from typed_nnx._core.filters import Filter
from typed_nnx._core.jax_runtime import new_array_ref
from typed_nnx._core.nested import describe_leaf, nested_of, sorted_items
from typed_nnx._core.paths import Path
from typed_nnx._core.pytree import Pytree
from typed_nnx._core.state import State
from typed_nnx._core.variable import Variable
from typed_nnx._graph.split import merge, split, state
from typed_nnx.errors import ArgumentTypeError
from typed_nnx.training._values import StateOf, Tree, matched, value_of

A = TypeVar("A")
M = TypeVar("M", default=Any)


class EMA(Pytree, Generic[M]):
    """Keeps averages of Variables: ``average = decay * average + (1 - decay) * new``.

    The averages start as copies of the values.

    Args:
        params: The model, or a State of it. It is not kept.
        decay: How much of the average stays at an update, 0 to 1.
        only: Which Variables are averaged, by a filter.
        graph: False asserts that models are trees.

    Attributes:
        decay: As given.
        filter: What `only` was.
        params: A State of the averages.

    Raises:
        ArgumentTypeError: `only` chooses something that is no Variable.
    """

    graph: bool | None
    decay: float
    filter: Filter
    params: StateOf[M]

    @overload
    def __init__(
        self: EMA[A],
        params: StateOf[A],
        decay: float,
        *,
        only: Filter = ...,
        graph: bool | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self, params: M, decay: float, *, only: Filter = ..., graph: bool | None = None
    ) -> None: ...
    def __init__(
        self, params: Any, decay: float, *, only: Filter = ..., graph: bool | None = None
    ) -> None:
        self.graph = graph
        self.decay = decay
        self.filter = only
        self.params = data(_averages(state(params, only, graph=graph)))

    def update(self, updates: M | StateOf[M]) -> None:
        """Move the averages towards the values of a model.

        Args:
            updates: The model, or a State of it.

        Raises:
            StateMismatchError: It does not have the Variables that are averaged.
        """
        values = self._matched("update", "updates", updates)
        found = sorted_items(values._mapping)
        for (_, average), (_, value) in zip(sorted_items(self.params._mapping), found, strict=True):
            average[...] = self.decay * average[...] + (1.0 - self.decay) * value

    def apply_to(self, model: A) -> A:
        """Return the model with the averages in the places of the Variables that are averaged.

        The other Variables are those of `model` itself.

        Args:
            model: The model, or a State of it; it stays as it is.

        Raises:
            StateMismatchError: It does not have the Variables that are averaged.
        """
        self._matched("apply_to", "model", model)
        graphdef, _, rest = split(model, self.filter, ..., graph=self.graph)
        made: A = merge(graphdef, self.params, rest)
        return made

    def _matched(self, method: str, argument: str, node: object) -> Tree:
        return matched(
            self.params,
            state(node, self.filter, graph=self.graph),
            where=f"EMA.{method}",
            expected=f"`{argument}` must have the Variables that are averaged",
            fix=f"ema.{method}(model) with the model, or a State of it, that the EMA was made of",
        )


def _averages(part: Tree) -> StateOf[Any]:
    if not isinstance(part, State):
        raise _not_averaged((), part)
    items = sorted_items(part._mapping)
    for path, leaf in items:
        if not isinstance(leaf, Variable):
            raise _not_averaged(path, leaf)
    return State._of(nested_of([(path, _copied(leaf)) for path, leaf in items]))


def _not_averaged(path: Path, leaf: object) -> ArgumentTypeError:
    return ArgumentTypeError(
        "EMA",
        f"at path {path!r} there is {describe_leaf(leaf)}; only Variables are averaged.",
        "choose Variables with a filter: nnx.EMA(model, decay, only=nnx.Param)",
    )


def _copied(variable: Variable[Tree]) -> Variable[Tree]:
    # Copies of the arrays too, also in a trace: model and averages may both be donated.
    value = jax.tree.map(lambda v: v.copy() if hasattr(v, "copy") else v, value_of(variable))
    return variable.copy(new_array_ref(value) if variable.ref else value)
