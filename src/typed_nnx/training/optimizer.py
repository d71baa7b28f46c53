"""`Optimizer`: a gradient transformation of optax with its state in Variables."""

from __future__ import annotations

import contextlib
import functools
import math
import warnings
from collections import Counter
from collections.abc import Callable, Set
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, overload

import jax
import jax.numpy as jnp
from typing_extensions import TypeVar

from typed_nnx._core.fields import data
from typed_nnx._core.filters import Filter, Nothing, to_predicate
from typed_nnx._core.jax_runtime import context, is_array_ref, new_array_ref, stacklevel_of_caller
from typed_nnx._core.nested import flat_items
from typed_nnx._core.paths import Path, key_of_entry
from typed_nnx._core.pytree import Pytree
from typed_nnx._core.rngs import RngState
from typed_nnx._core.sharding import place_value
from typed_nnx._core.state import State
from typed_nnx._core.variable import Variable
from typed_nnx._core.variable_types import BatchStat, Cache, Intermediate, Param, Perturbation
from typed_nnx._core.variable_types import OptArray as OptArray
from typed_nnx._core.variable_types import OptState as OptState
from typed_nnx._core.variable_types import OptVariable as OptVariable
from typed_nnx._graph.split import pure, state
from typed_nnx._graph.update import update
from typed_nnx.errors import (
    ChangedModelError,
    MeshRequiredError,
    OptimizerError,
    StateMismatchError,
)
from typed_nnx.training._values import (
    StateOf,
    Tree,
    is_variable,
    leaf_pairs,
    matched,
    value_of,
    values_of,
    write_value,
)

if TYPE_CHECKING:
    import optax


_Shape: TypeAlias = tuple[int, ...] | None

# What calls write themselves: a model without others may well have nothing to train.
_WRITTEN_BY_CALLS = (BatchStat, Cache, Intermediate, OptState, Perturbation, RngState)


def _warn_if_nothing_is_chosen(
    optimizer: str, model: Tree, params: Tree, wrt: Filter, graph: bool | None
) -> None:
    """Warn of a filter that chooses nothing of a model in which there is something to train."""
    if not isinstance(params, State) or params.raw_mapping:
        return
    if isinstance(to_predicate(wrt), Nothing):  # False, None: nothing was to be chosen
        return
    rest = state(model, graph=graph)
    found = [_kind(leaf) for _, leaf in flat_items(rest)] if isinstance(rest, State) else []
    kinds = Counter(kind for kind in found if kind is not None)
    if not kinds:
        return
    has = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    names = [kind for kind, _ in kinds.most_common() if kind != _BARE]
    fix = (
        f"nnx.{optimizer}(model, tx, wrt={names[0]})"
        if names
        else "put the arrays to train into Variables: self.w = nnx.Param(w)"
    )
    warnings.warn(
        f"{optimizer}: wrt={_shown(wrt)} chooses nothing of the {type(model).__name__}, which has {has}; "
        f"`update` will change nothing.\n  Fix: {fix}",
        UserWarning,
        stacklevel=stacklevel_of_caller(),
    )


_BARE = "bare array"


def _kind(leaf: Tree) -> str | None:
    """Return the name under which a leaf may be trained; None if it is not for that."""
    value = leaf.get_raw_value() if isinstance(leaf, Variable) else leaf
    dtypes = [getattr(part, "dtype", None) for part in jax.tree.leaves(value)]
    if not any(dtype is not None and jnp.issubdtype(dtype, jnp.inexact) for dtype in dtypes):
        return None
    if not isinstance(leaf, Variable):
        return _BARE
    return None if isinstance(leaf, _WRITTEN_BY_CALLS) else _shown(type(leaf))


def _shown(wrt: Filter) -> str:
    if not isinstance(wrt, type):
        return repr(wrt)
    is_public = wrt.__module__.startswith("typed_nnx.")
    return f"nnx.{wrt.__name__}" if is_public else wrt.__name__


def _check_model(
    function: str, opt_state: Tree, params: Tree, error: Exception | None = None
) -> None:
    """Say how a model differs from the one that the state of an optimizer was made for."""
    if not isinstance(params, State):
        return
    now: dict[Path, _Shape] = {path: _shape(leaf) for path, leaf in flat_items(params)}
    known: dict[Path, set[_Shape]] = {}
    for part in jax.tree.leaves(opt_state, is_leaf=lambda x: isinstance(x, State)):
        for path, leaf in flat_items(part) if isinstance(part, State) else ():
            known.setdefault(path, set()).add(_shape(leaf))
    if not known:  # the transformation keeps nothing for each parameter
        return
    appeared = [path for path in now if path not in known]
    vanished = [path for path in known if path not in now]
    reshaped: list[tuple[Path, object, object]] = []
    for path, shape in now.items():
        # Factors of a parameter, or its history, have another number of axes.
        then = [s for s in known.get(path, ()) if s is not None and shape and len(s) == len(shape)]
        if then and shape not in then:
            reshaped.append((path, max(then, key=math.prod), shape))
    if appeared or vanished or reshaped:
        raise ChangedModelError(function, appeared, vanished, reshaped) from error


def _shape(leaf: Tree) -> _Shape:
    value = leaf.get_raw_value() if isinstance(leaf, Variable) else leaf
    return getattr(value, "shape", None)


def _check_shapes(old: Tree, new: Tree) -> None:
    for path, before, after in leaf_pairs(old, new):
        was, now = getattr(before, "shape", None), getattr(after, "shape", None)
        if was != now and was is not None:
            raise StateMismatchError(
                "Optimizer.update",
                f"at path {path!r} the update of a parameter of shape {was} would make it one of "
                f"shape {now or ()}; nothing was updated.",
                fix="pass gradients of the shapes of the parameters (take the mean over a batch of "
                "gradients first)",
            )


def _same_structure(treedef: Tree, old: Tree, new: Tree) -> list[Tree]:
    """Return the leaves of a new state of the transformation in the order of the old one."""
    try:
        leaves: list[Tree] = treedef.flatten_up_to(new)
    except (ValueError, TypeError):
        before, after = _by_path(old), _by_path(new)
        missing = [path for path in before if path not in after]
        extra = [path for path in after if path not in before]
        if missing or extra:
            raise StateMismatchError(
                "Optimizer.update",
                "`tx.update` returned a state of another structure than `tx.init`; nothing was "
                "updated.",
                missing,
                extra,
                fix="let `tx.init` make every array that `tx.update` returns",
            ) from None
        return [after[path] for path in before]
    return leaves


def _by_path(tree: Tree) -> dict[Path, Tree]:
    found = jax.tree_util.tree_leaves_with_path(tree, is_leaf=is_variable)
    return {tuple(map(key_of_entry, path)): leaf for path, leaf in found}


A = TypeVar("A")
# Covariant (the name is that of flax): an Optimizer of a model goes where one of its base class is
# asked for. That is not safe, since `update` takes a model, but code that is given both has a model
# of the same class.
M = TypeVar("M", default=Any, covariant=True)
F = TypeVar("F", bound=Callable[..., Any])

Place: TypeAlias = tuple[str, tuple[int, ...] | None]
"""How a Variable is sharded, in words, and its shape."""

_OWN_SHARDING = "optimizer_sharding"


def to_opt_state(tree: object) -> Any:
    """Return a tree with its leaves in Variables of an optimizer.

    A Variable becomes an `OptVariable` with the same metadata, such as its sharding, or with the
    sharding that its metadata has as ``optimizer_sharding``; any other leaf becomes an `OptArray`.

    Args:
        tree: Any pytree, such as the state of an optax transformation.
    """
    return jax.tree.map(lambda leaf: _opt_leaf(leaf, None), tree, is_leaf=is_variable)


def _opt_leaf(leaf: Tree, places: Set[Place] | None) -> OptState[Tree]:
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


def _place(variable: Variable[Tree]) -> Place:
    return repr(variable.sharding_names), getattr(variable.get_raw_value(), "shape", None)


def _state_for(params: Tree, tx: optax.GradientTransformation | optax.MultiSteps) -> Tree:
    """Return the first state of a transformation, in Variables."""
    leaves = jax.tree.leaves(params, is_leaf=is_variable)
    variables = [leaf for leaf in leaves if isinstance(leaf, Variable)]
    places = set(map(_place, variables))
    if any(variable._meta.ref for variable in variables):  # `tx.init` looks at arrays
        params = jax.tree.map(
            lambda v: v.copy(value_of(v)) if is_variable(v) else v, params, is_leaf=is_variable
        )
    return jax.tree.map(lambda leaf: _opt_leaf(leaf, places), tx.init(params), is_leaf=is_variable)


def _wrt_is_given(init: F) -> F:
    """Say what to write where `wrt` is missing, which old code leaves out."""

    @functools.wraps(init)
    def checked(*args: Any, **kwargs: Any) -> None:
        if "wrt" not in kwargs:
            name = type(args[0]).__name__
            raise OptimizerError(
                name,
                f"missing required argument `wrt`; got {len(args) - 1} positional arguments.",
                f"nnx.{name}(model, tx, wrt=nnx.Param), or nnx.ModelAndOptimizer(model, tx)",
            )
        init(*args, **kwargs)

    wrapper: Any = checked
    result: F = wrapper  # it has the signature of what it wraps
    return result


def _grads_are_given(method: F) -> F:
    """Say what to write where only gradients are given, as in old code."""

    @functools.wraps(method)
    def checked(*args: Any, **kwargs: Any) -> Any:
        name = f"{type(args[0]).__name__}.update"
        call = "optimizer.update(model, grads)"
        if len(args) == 2 and "grads" not in kwargs:
            got = f"one positional argument, a {type(args[1]).__name__}"
            raise OptimizerError(name, f"missing required argument `grads`; got {got}.", call)
        if len(args) == 1 and "grads" in kwargs and "model" not in kwargs:
            problem = "missing required argument `model`; got the keyword `grads` alone."
            raise OptimizerError(name, problem, call)
        # Keywords are taken too, as in NNX, though the signature does not say so.
        given = [kwargs.pop(key) for key in ("model", "grads")[len(args) - 1 :] if key in kwargs]
        return method(*args, *given, **kwargs)

    wrapper: Any = checked
    result: F = wrapper  # it has the signature of what it wraps
    return result


class Optimizer(Pytree, Generic[M]):
    """Updates the Variables of a model, in place, by gradients and an optax transformation.

    Its state is in Variables: `OptVariable` for state of one Variable of the model, with the same
    metadata and so the same sharding, and `OptArray` for the rest.

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
        UserWarning: `wrt` selects nothing of a model that has something to train.

    Raises:
        OptimizerError: `wrt` is not given, or `tx` is no gradient transformation.
    """

    step: OptState[jax.Array]
    tx: optax.GradientTransformation | optax.MultiSteps
    opt_state: Any  # each transformation has a state of its own type
    wrt: Filter
    graph: bool | None

    @overload
    def __init__(
        self: Optimizer[A],
        model: StateOf[A],
        tx: optax.GradientTransformation | optax.MultiSteps,
        *,
        wrt: Filter,
        graph: bool | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self,
        model: M,
        tx: optax.GradientTransformation | optax.MultiSteps,
        *,
        wrt: Filter,
        graph: bool | None = None,
    ) -> None: ...
    @_wrt_is_given
    def __init__(
        self,
        model: Any,
        tx: optax.GradientTransformation | optax.MultiSteps,
        *,
        wrt: Filter,
        graph: bool | None = None,
    ) -> None:
        if not (hasattr(tx, "init") and hasattr(tx, "update")):
            raise OptimizerError(
                "Optimizer",
                f"`tx` is a {type(tx).__name__}; expected an optax.GradientTransformation, with "
                "`init` and `update`.",
                "nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)",
            )
        self.graph = graph
        self.step = OptState(jnp.array(0, dtype=jnp.uint32))
        self.tx = tx
        params = state(model, wrt, graph=graph)
        _warn_if_nothing_is_chosen(type(self).__name__, model, params, wrt, graph)
        self.opt_state = data(_state_for(params, tx))
        self.wrt = wrt

    if not TYPE_CHECKING:  # a checker that knows the attributes says it better

        def __getattr__(self, name):
            if name == "model":
                raise OptimizerError(
                    "Optimizer.model",
                    "Optimizer does not have attribute 'model': it keeps only the state of the "
                    "optimizer, and `update` is given the model.",
                    "keep the model beside the optimizer, or use nnx.ModelAndOptimizer(model, tx)",
                )
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    # A State of another model does not fit; a plain dict has no model.
    @overload
    def update(
        self,
        model: M,  # type: ignore[misc]  # pyright: ignore[reportGeneralTypeIssues]  # see M
        grads: StateOf[M] | dict[Any, Any] | M,
        /,
        **kwargs: Any,
    ) -> StateOf[M]: ...
    @overload
    def update(
        self, model: StateOf[M], grads: StateOf[M] | dict[Any, Any], /, **kwargs: Any
    ) -> StateOf[M]: ...
    @_grads_are_given
    def update(self, model: Any, grads: Any, /, **kwargs: Any) -> StateOf[M]:
        """Take one step: update the Variables of the model and the state of the optimizer.

        If an error is raised, nothing is updated.

        Args:
            model: The model, or a State of it.
            grads: The gradients, as `nnx.grad` returns them.
            **kwargs: Passed to the transformation, values in place of Variables; such as
                ``value=loss`` for line searches.

        Returns:
            What was added to the values of the Variables.

        Raises:
            OptimizerError: Only one argument is given.
            StateMismatchError: The gradients are not at the paths of the Variables, or a
                Variable would change its shape, or the transformation returned a state of another
                structure.
            ChangedModelError: The model has other Variables than when the optimizer was created.
            TraceLevelError: Model or optimizer belong to another jax trace.
        """
        from optax import apply_updates  # heavy, and who has a transformation has imported it

        params = state(model, self.wrt, graph=self.graph)
        old = values_of(params)
        leaves: list[Tree]
        treedef: Tree
        leaves, treedef = jax.tree.flatten(self.opt_state, is_leaf=is_variable)
        slopes = self._gradients(model, params, grads)
        known = treedef.unflatten(map(value_of, leaves))
        options = pure(kwargs) if kwargs else kwargs
        try:
            updates, opt_state = self.tx.update(slopes, known, old, **options)
            new: Tree = apply_updates(old, updates)
            _check_shapes(old, new)
        except (ValueError, TypeError, KeyError) as error:
            _check_model(f"{type(self).__name__}.update", self.opt_state, params, error)
            raise
        values = _same_structure(treedef, self.opt_state, opt_state)
        if any(map(_is_reshaped, leaves, values)):
            _check_model(f"{type(self).__name__}.update", self.opt_state, params)
        for leaf in (self.step, *leaves):
            if isinstance(leaf, Variable) and leaf._nnx_trace != context.trace:
                leaf._refuse()
        update(model, new)
        for leaf, value in zip(leaves, values, strict=True):
            if isinstance(leaf, Variable):
                write_value(leaf, value)
        if not all(map(is_variable, leaves)):  # somebody put in a state without Variables
            pairs = zip(leaves, values, strict=True)
            merged = [leaf if isinstance(leaf, Variable) else value for leaf, value in pairs]
            self.opt_state = data(treedef.unflatten(merged))
        self.step[...] += 1
        tree: Tree = updates  # optax has one type for all trees
        result: StateOf[M] = tree
        return result

    def _gradients(self, model: object, params: Tree, grads: Tree) -> Tree:
        if isinstance(model, State) and isinstance(grads, Pytree):
            raise OptimizerError(
                "Optimizer.update",
                f"the first argument is a {type(model).__name__} and the second is a "
                f"{type(grads).__name__}; expected the model, then the gradients.",
                "optimizer.update(model, grads)",
            )
        return matched(
            params,
            grads,
            chosen=self.wrt,
            graph=self.graph,
            where=f"{type(self).__name__}.update",
            expected=f"`grads` must have one gradient for each leaf that `wrt` ({self.wrt!r}) chooses",
            fix="differentiate by the Variables that the optimizer updates: "
            "nnx.grad(loss, argnums=nnx.DiffState(0, wrt))",
        )


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
        self, grads: StateOf[M] | dict[Any, Any] | M, /, **kwargs: Any
    ) -> StateOf[M]:
        """Take one step: update the Variables of the model and the state of the optimizer.

        Args and errors are those of `Optimizer.update`, without the model.
        """
        return super().update(self.model, grads, **kwargs)


def _is_reshaped(leaf: Tree, value: Tree) -> bool:
    shape = getattr(value_of(leaf), "shape", None)
    return shape is not None and shape != getattr(value, "shape", shape)
