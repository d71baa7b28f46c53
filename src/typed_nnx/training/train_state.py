"""`TrainState`: structure, parameters and optimizer state in one immutable pytree."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Generic, Protocol, Self, overload

import jax
import jax.numpy as jnp
from typing_extensions import TypeVar

from typed_nnx._core.state import State
from typed_nnx._graph.graphdef import GraphDef
from typed_nnx._graph.split import CallProxy, merge
from typed_nnx.errors import ArgumentTypeError
from typed_nnx.training._values import FrozenPytree, StateOf, Tree, matched

if TYPE_CHECKING:
    import optax

M = TypeVar("M", default=Any)
N = TypeVar("N")


class _Itself(Protocol):
    """A `TrainState`, and none of a subclass: lists of those are no lists of it."""

    def __nnx_alike__(self, /) -> list[TrainState[Any]]: ...


class TrainState(FrozenPytree, Generic[M]):
    """Everything that a training step needs, as an immutable value for pure step functions.

    A subclass may add fields, such as ``batch_stats: nnx.State``.

    Attributes:
        graphdef: The structure of the model.
        params: The Variables that are trained.
        opt_state: The state of `tx`.
        step: How many steps were made, int32 [].
        tx: The transformation of optax; static for jax.
    """

    graphdef: GraphDef[M]
    params: StateOf[M]
    opt_state: optax.OptState
    step: jax.Array
    tx: optax.GradientTransformation = dataclasses.field(metadata={"pytree_node": False})

    if TYPE_CHECKING:

        def __nnx_alike__(self, /) -> list[Self]: ...

    # pyright takes the model of a `cls` without arguments for Any.
    @overload
    @classmethod
    def create(
        cls: type[_Itself],
        graphdef: GraphDef[N],
        *,
        params: StateOf[N],
        tx: optax.GradientTransformation,
        step: int = 0,
    ) -> TrainState[N]: ...
    @overload
    @classmethod
    def create(
        cls,
        graphdef: GraphDef[M],
        *,
        params: StateOf[M],
        tx: optax.GradientTransformation,
        step: int = 0,
        **kwargs: Any,
    ) -> Self: ...
    @classmethod
    def create(
        cls: Any,
        graphdef: GraphDef[Any],
        *,
        params: StateOf[Any],
        tx: optax.GradientTransformation,
        step: int = 0,
        **kwargs: Any,
    ) -> Any:
        """Return a state whose optimizer state is that of a first step.

        Args:
            graphdef: The structure of the model.
            params: The Variables that are trained.
            tx: The transformation, such as ``optax.adam(1e-3)``.
            step: How many steps were made before.
            **kwargs: The fields of a subclass.
        """
        trees: Tree = params  # optax has one type for all trees
        return cls(
            graphdef=graphdef,
            params=params,
            opt_state=tx.init(trees),
            step=jnp.asarray(step),
            tx=tx,
            **kwargs,
        )

    def apply(self, state: StateOf[Any] | str, *states: StateOf[Any] | str) -> CallProxy[M]:
        """Return a proxy that calls the model, or its methods, and does not change this state.

        ``y, (graphdef, state) = train_state.apply("params")(x)`` gives the output and the State
        that the call left behind.

        Args:
            state: A State, or the name of a field that holds one.
            *states: More of them; together they are all States of the model.

        Raises:
            ArgumentTypeError: A field holds no State.
            StateMismatchError: The States are not all States of the model, at the call.
        """
        given = [self._state_of(part) for part in (state, *states)]
        return CallProxy(lambda: merge(self.graphdef, *given, copy=True))

    def _state_of(self, part: Tree) -> Tree:
        if not isinstance(part, str):
            return part
        found = getattr(self, part)
        if isinstance(found, State):
            return found
        names = [f.name for f in dataclasses.fields(self)]
        fields = [name for name in names if isinstance(getattr(self, name), State)]
        raise ArgumentTypeError(
            "TrainState.apply",
            f"{type(self).__name__}.{part} is a {type(found).__name__}; expected the name of a "
            f"field that holds a State: {', '.join(map(repr, fields))}.",
            f"state.apply({fields[0] if fields else 'params'!r})(x)",
        )

    def apply_gradients(self, grads: StateOf[M], **kwargs: Any) -> Self:
        """Return the state after one step of the optimizer.

        Args:
            grads: The gradients of `params`.
            **kwargs: New values of other fields.

        Raises:
            StateMismatchError: The gradients do not lie at the paths of `params`.
        """
        from optax import apply_updates  # heavy, and who has a transformation has imported it

        trees: Tree = (grads, self.params)  # optax has one type for all trees
        try:
            updates, opt_state = self.tx.update(trees[0], self.opt_state, trees[1])
            params: Tree = apply_updates(trees[1], updates)
        except (ValueError, TypeError):
            matched(
                self.params,
                grads,
                where=f"{type(self).__name__}.apply_gradients",
                expected="`grads` must have one gradient for each leaf of `params`",
                fix="differentiate by the params: jax.grad(loss)(state.params)",
            )
            raise
        return self.replace(params=params, opt_state=opt_state, step=self.step + 1, **kwargs)
