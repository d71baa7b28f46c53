"""`Optimizer`: a gradient transformation of optax with its state in Variables."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Mapping, Set
from typing import TYPE_CHECKING, Any, Generic, TypeAlias

import jax
import jax.numpy as jnp
from typing_extensions import TypeVar

from typed_nnx._core.fields import data
from typed_nnx._core.filters import Filter
from typed_nnx._core.pytree import Pytree
from typed_nnx._core.references import is_array_ref, new_array_ref
from typed_nnx._core.sharding import place_value
from typed_nnx._core.state import State
from typed_nnx._core.trace import context
from typed_nnx._core.variable import Variable
from typed_nnx._core.variable_types import OptArray as OptArray
from typed_nnx._core.variable_types import OptState as OptState
from typed_nnx._core.variable_types import OptVariable as OptVariable
from typed_nnx._core.variable_types import Param
from typed_nnx._graph.pure import pure
from typed_nnx._graph.split_merge import state
from typed_nnx._graph.update import update
from typed_nnx.errors import (
    MeshRequiredError,
    MissingArgumentError,
    NoModelError,
    SwappedArgumentsError,
    TransformationError,
    UnmatchedLeavesError,
)
from typed_nnx.training._optimizer_checks import (
    check_model,
    check_shapes,
    same_structure,
    warn_if_nothing_is_chosen,
)
from typed_nnx.training._values import (
    Mismatch,
    is_variable,
    matched,
    value_of,
    values_of,
    write_value,
)

if TYPE_CHECKING:
    import optax

M = TypeVar("M", default=Any)
F = TypeVar("F", bound=Callable[..., Any])

Place: TypeAlias = tuple[str, tuple[int, ...] | None]
"""How a Variable is sharded, in words, and its shape."""

_OWN_SHARDING = "optimizer_sharding"


def to_opt_state(tree: Any) -> Any:
    """Return a tree with its leaves in Variables of an optimizer.

    A Variable becomes an `OptVariable` with the same metadata, such as its sharding, or with the
    sharding that its metadata has as ``optimizer_sharding``; any other leaf becomes an `OptArray`.

    Args:
        tree: Any pytree, such as the state of an optax transformation.
    """
    return jax.tree.map(lambda leaf: _opt_leaf(leaf, None), tree, is_leaf=is_variable)


def _opt_leaf(leaf: Any, places: Set[Place] | None) -> OptState[Any]:
    """Return the Variable of an optimizer for a leaf of its state.

    A value is placed by its metadata; if `places` are given, only where it has the shape of a
    Variable with that metadata: factors and histories have the metadata but other axes.
    """
    if not isinstance(leaf, Variable):
        return OptArray(leaf)
    meta, value = leaf._meta, leaf.get_raw_value()
    if _OWN_SHARDING in meta:
        meta = meta.updated({"out_sharding": meta[_OWN_SHARDING]}).without(_OWN_SHARDING)
    if places is None or _place(leaf) in places:
        with contextlib.suppress(MeshRequiredError):  # else it lies where what it is made of lies
            value = place_value(value, meta)
    is_new = meta.ref and not is_array_ref(value)
    return OptVariable._make(new_array_ref(value) if is_new else value, meta)


def _place(variable: Variable[Any]) -> Place:
    return repr(variable.sharding_names), getattr(variable.get_raw_value(), "shape", None)


def _state_for(params: Any, tx: optax.GradientTransformation | optax.MultiSteps) -> Any:
    """Return the first state of a transformation, in Variables."""
    leaves = jax.tree.leaves(params, is_leaf=is_variable)
    places = {_place(leaf) for leaf in leaves if isinstance(leaf, Variable)}
    return jax.tree.map(
        lambda leaf: _opt_leaf(leaf, places), tx.init(_without_refs(params)), is_leaf=is_variable
    )


def _wrt_is_given(init: F) -> F:
    """Say what to write where `wrt` is missing, which old code leaves out."""

    @functools.wraps(init)
    def checked(*args: Any, **kwargs: Any) -> None:
        if "wrt" not in kwargs:
            name = type(args[0]).__name__
            raise MissingArgumentError(
                name,
                "wrt",
                f"{len(args) - 1} positional arguments",
                f"nnx.{name}(model, tx, wrt=nnx.Param), or nnx.ModelAndOptimizer(model, tx)",
            )
        init(*args, **kwargs)

    return checked  # type: ignore[return-value]  # it has the signature of what it wraps


def _grads_are_given(method: F) -> F:
    """Say what to write where only gradients are given, as in old code."""

    @functools.wraps(method)
    def checked(*args: Any, **kwargs: Any) -> Any:
        name = f"{type(args[0]).__name__}.update"
        call = "optimizer.update(model, grads)"
        if len(args) == 2 and "grads" not in kwargs:
            got = f"one positional argument, a {type(args[1]).__name__}"
            raise MissingArgumentError(name, "grads", got, call)
        if len(args) == 1 and "grads" in kwargs and "model" not in kwargs:
            raise MissingArgumentError(name, "model", "the keyword `grads` alone", call)
        # Keywords are taken too, as in NNX, though the signature does not say so.
        given = [kwargs.pop(key) for key in ("model", "grads")[len(args) - 1 :] if key in kwargs]
        return method(*args, *given, **kwargs)

    return checked  # type: ignore[return-value]  # it has the signature of what it wraps


class Optimizer(Pytree, Generic[M]):
    """Updates the Variables of a model, in place, by gradients and an optax transformation.

    Its own state lives in Variables: `OptVariable` for what belongs to a Variable of the model, with
    the same metadata and so the same sharding, and `OptArray` for the rest.

    Args:
        model: The model, or a State of it. It is not kept.
        tx: The transformation, such as ``optax.adam(1e-3)``.
        wrt: Which Variables are updated, by a filter.
        graph: False asserts that model and gradients are trees.

    Attributes:
        step: How many updates were made, uint32 [].
        tx: The transformation.
        opt_state: Its state.
        wrt: The filter.

    Warns:
        UserWarning: `wrt` chooses nothing of a model that has something to train.

    Raises:
        MissingArgumentError: `wrt` is not given.
        TransformationError: `tx` is no gradient transformation.
    """

    step: OptState[jax.Array]
    tx: optax.GradientTransformation | optax.MultiSteps
    opt_state: Any  # each transformation has a state of its own type
    wrt: Filter
    graph: bool | None

    @_wrt_is_given
    def __init__(
        self,
        model: M,
        tx: optax.GradientTransformation | optax.MultiSteps,
        *,
        wrt: Filter,
        graph: bool | None = None,
    ) -> None:
        if not (hasattr(tx, "init") and hasattr(tx, "update")):
            raise TransformationError(type(tx).__name__)
        self.graph = graph
        self.step = OptState(jnp.array(0, dtype=jnp.uint32))
        self.tx = tx
        params = state(model, wrt, graph=graph)
        warn_if_nothing_is_chosen(type(self).__name__, model, params, wrt, graph)
        self.opt_state = data(_state_for(params, tx))
        self.wrt = wrt

    if not TYPE_CHECKING:  # a checker that knows the attributes says it better

        def __getattr__(self, name):
            if name == "model":
                raise NoModelError
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @_grads_are_given
    def update(
        self, model: M, grads: State[Any, Any, M, Any] | M | Mapping[Any, Any], /, **kwargs: Any
    ) -> State[Any, Any, M, Any]:
        """Make one step: update the Variables of the model and the state of the optimizer.

        If an error is raised, nothing is updated.

        Args:
            model: The model, or a State of it.
            grads: The gradients, as `nnx.grad` returns them.
            **kwargs: Passed to the transformation, values in the place of Variables; such as
                ``value=loss`` for line searches.

        Returns:
            What was added to the values of the Variables.

        Raises:
            MissingArgumentError: Only one argument is given.
            UnmatchedLeavesError: The gradients do not lie at the paths of the Variables.
            ChangedShapeError: A Variable would change its shape.
            ChangedOptStateError: The transformation returned a state of another structure.
            ChangedModelError: The model has other Variables than when the optimizer was made.
            TraceLevelError: Model or optimizer belong to another jax trace.
        """
        from optax import apply_updates  # heavy, and who has a transformation has imported it

        params = state(model, self.wrt, graph=self.graph)
        old = values_of(params)
        leaves: list[Any]
        treedef: Any
        leaves, treedef = jax.tree.flatten(self.opt_state, is_leaf=is_variable)
        slopes = self._gradients(model, params, grads)
        known = treedef.unflatten(map(value_of, leaves))
        options = pure(kwargs) if kwargs else kwargs
        try:
            updates, opt_state = self.tx.update(slopes, known, old, **options)
            new: Any = apply_updates(old, updates)
            check_shapes(old, new)
        except (ValueError, TypeError, KeyError) as error:
            check_model(f"{type(self).__name__}.update", self.opt_state, params, error)
            raise
        values = same_structure(treedef, self.opt_state, opt_state)
        if any(map(_is_reshaped, leaves, values)):
            check_model(f"{type(self).__name__}.update", self.opt_state, params)
        self._check_trace(leaves)
        update(model, new)
        for leaf, value in zip(leaves, values, strict=True):
            if isinstance(leaf, Variable):
                write_value(leaf, value)
        if not all(map(is_variable, leaves)):  # somebody put in a state without Variables
            pairs = zip(leaves, values, strict=True)
            merged = [leaf if isinstance(leaf, Variable) else value for leaf, value in pairs]
            self.opt_state = data(treedef.unflatten(merged))
        self.step[...] += 1
        result: Any = updates
        return result  # type: ignore[no-any-return]  # optax has one type for all trees

    def _gradients(self, model: Any, params: Any, grads: Any) -> Any:
        if isinstance(model, State) and isinstance(grads, Pytree):
            raise SwappedArgumentsError(type(model).__name__, type(grads).__name__)
        try:
            return matched(params, grads, self.wrt, self.graph)
        except Mismatch as error:
            raise UnmatchedLeavesError(
                f"{type(self).__name__}.update",
                f"`grads` must have one gradient for each leaf that `wrt` ({self.wrt!r}) chooses",
                error.got,
                error.missing,
                error.extra,
                "differentiate by the Variables that the optimizer updates: "
                "nnx.grad(loss, argnums=nnx.DiffState(0, wrt))",
            ) from None

    def _check_trace(self, leaves: list[Any]) -> None:
        trace = context.trace
        for leaf in (self.step, *leaves):
            if isinstance(leaf, Variable) and leaf._nnx_trace != trace:
                leaf._refuse()


class ModelAndOptimizer(Optimizer[M]):
    """An Optimizer that keeps the model that it updates.

    Args:
        model: The model.
        tx: The transformation, such as ``optax.adam(1e-3)``.
        wrt: Which Variables are updated, by a filter.

    Attributes:
        model: The model.
    """

    model: M

    def __init__(
        self, model: M, tx: optax.GradientTransformation | optax.MultiSteps, *, wrt: Filter = Param
    ) -> None:
        super().__init__(model, tx, wrt=wrt)
        self.model = data(model)

    def update(  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride]  # as in NNX: it has the model
        self, grads: State[Any, Any, M, Any] | M | Mapping[Any, Any], /, **kwargs: Any
    ) -> State[Any, Any, M, Any]:
        """Make one step: update the Variables of the model and the state of the optimizer.

        Args and errors are those of `Optimizer.update`, without the model.
        """
        return super().update(self.model, grads, **kwargs)


def _is_reshaped(leaf: Any, value: Any) -> bool:
    shape = getattr(value_of(leaf), "shape", None)
    return shape is not None and shape != getattr(value, "shape", shape)


def _without_refs(part: Any) -> Any:
    """Return a State whose Variables hold arrays, not references, for `tx.init` to look at."""
    leaves = jax.tree.leaves(part, is_leaf=is_variable)
    if not any(isinstance(leaf, Variable) and leaf._meta.ref for leaf in leaves):
        return part
    return jax.tree.map(
        lambda v: v.copy(value_of(v)) if isinstance(v, Variable) else v, part, is_leaf=is_variable
    )
