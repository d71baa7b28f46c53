"""`Optimizer` and `ModelAndOptimizer`: what they keep, what they return and how they fail."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax.nnx.training import optimizer as flax_optimizer

import typed_nnx as nnx
from tests.training.models import (
    FLAX,
    OURS,
    batch,
    both,
    contents,
    loss,
    network,
    ones_like_params,
    trees,
)
from typed_nnx import errors
from typed_nnx.training.optimizer import to_opt_state


def static(values: dict[str, Any]) -> dict[str, Any]:
    """Leave out what belongs to flax's own bookkeeping."""
    return {name: value for name, value in values.items() if not name.startswith("_pytree__")}


def to_opt_state_of(lib: Any) -> Any:
    """Return the function of a library that is not among its top-level names."""
    return to_opt_state if lib is OURS else flax_optimizer.to_opt_state


def test_attributes_paths_types_and_metadata_are_those_of_flax() -> None:
    ours, flaxs = [
        lib.Optimizer(network(lib), optax.adam(0.1), wrt=lib.Param) for lib in (OURS, FLAX)
    ]
    assert list(static(vars(ours))) == list(static(vars(flaxs)))
    assert contents(OURS, ours) == contents(FLAX, flaxs)


@both
def test_update_returns_what_it_added(lib: Any) -> None:
    model = network(lib)
    opt = lib.Optimizer(model, optax.sgd(0.5), wrt=lib.Param)
    before = lib.as_pure(lib.state(model, lib.Param))
    added = opt.update(model, ones_like_params(lib, model))
    assert isinstance(added, lib.State)
    after = lib.as_pure(lib.state(model, lib.Param))
    assert trees(after) == trees(jax.tree.map(lambda a, b: a + b, before, added))
    assert all(np.all(np.asarray(leaf) == -0.5) for leaf in jax.tree.leaves(added))


FILTERS: dict[str, Any] = {
    "a type": lambda lib: lib.Param,
    "several types": lambda lib: (lib.Param, lib.BatchStat),
    "a path": lambda lib: lib.PathContains("layers"),
    "a predicate": lambda lib: lambda path, value: "w" in path,
    "all of": lambda lib: lib.All(lib.Param, lib.PathContains("head")),
    "not": lambda lib: lib.All(lib.Param, lib.Not(lib.PathContains("head"))),
    "a tag": lambda lib: lib.WithTag("matrix"),
    "all": lambda lib: ...,
    "nothing": lambda lib: lib.Nothing(),
}


@pytest.mark.parametrize("kind", list(FILTERS))
def test_only_what_the_filter_chooses_is_updated(kind: str) -> None:
    found = []
    for lib in (OURS, FLAX):
        wrt, model = FILTERS[kind](lib), network(lib)
        opt = lib.Optimizer(model, optax.adam(0.1), wrt=wrt)
        opt.update(model, jax.tree.map(jnp.ones_like, lib.state(model)))
        found.append((contents(lib, model), contents(lib, opt)))
    assert found[0] == found[1]


@both
def test_a_state_can_be_updated_in_the_place_of_its_model(lib: Any) -> None:
    model = network(lib)
    opt = lib.Optimizer(model, optax.sgd(1.0), wrt=lib.Param)
    opt.update(lib.state(model), ones_like_params(lib, model))
    assert np.all(model.layers[0].b[...] == -1.0)


@both
def test_extra_arguments_reach_the_transformation_as_values(lib: Any) -> None:
    seen: list[Any] = []

    def change(updates: Any, state: Any, params: Any = None, **extra: Any) -> Any:
        seen.append(extra)
        return updates, state

    tx = optax.GradientTransformationExtraArgs(lambda params: (), change)
    model = network(lib)
    grads = ones_like_params(lib, model)
    lib.Optimizer(model, tx, wrt=lib.Param).update(
        model, grads, value=lib.Param(jnp.ones(())), grad=grads, value_fn=loss
    )
    (extra,) = seen
    assert set(extra) == {"value", "grad", "value_fn"}
    assert isinstance(extra["value"], jax.Array)
    assert isinstance(extra["grad"].layers[0].b, jax.Array)
    assert extra["value_fn"] is loss


def lbfgs(lib: Any, tx: Any) -> list[tuple[Any, ...]]:
    """Minimise a quadratic by L-BFGS with a line search."""
    model = lib.Dict(w=lib.Param(jnp.arange(3.0)))
    opt = lib.Optimizer(model, tx, wrt=lib.Param)
    graphdef, _ = lib.split(model)

    def distance(model: Any) -> jax.Array:
        return jnp.square(model.w[...] - jnp.array([1.0, -2.0, 4.0])).sum()

    for _ in range(2):
        value, grads = lib.value_and_grad(distance)(model)
        opt.update(
            model,
            grads,
            value=value,
            grad=grads,
            value_fn=lambda state: distance(lib.merge(graphdef, state)),
        )
    return [*contents(lib, model), *contents(lib, opt)]


BACKTRACKING = optax.scale_by_backtracking_linesearch(max_backtracking_steps=5)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "tx",
    [optax.lbfgs(linesearch=BACKTRACKING), pytest.param(optax.lbfgs(), marks=pytest.mark.slow)],
    ids=["backtracking", "zoom"],
)
def test_lbfgs_reaches_the_minimum_and_goes_the_way_of_flax(tx: Any) -> None:
    ours, flaxs = lbfgs(OURS, tx), lbfgs(FLAX, tx)
    assert np.allclose(ours[0][-1], [1.0, -2.0, 4.0], atol=1e-5)
    assert [entry[:4] for entry in ours] == [entry[:4] for entry in flaxs]
    for mine, theirs in zip(ours, flaxs, strict=True):
        np.testing.assert_allclose(mine[-1], theirs[-1], atol=1e-6)


@both
def test_a_model_and_optimizer_updates_its_own_model(lib: Any) -> None:
    model = network(lib)
    opt = lib.ModelAndOptimizer(model, optax.sgd(1.0))
    assert opt.model is model
    assert opt.wrt is lib.Param
    assert list(static(vars(opt)))[-1] == "model"
    added = opt.update(ones_like_params(lib, model))
    assert isinstance(added, lib.State)
    assert np.all(model.layers[0].b[...] == -1.0)
    with pytest.raises(TypeError):
        opt.update(model, ones_like_params(lib, model))


@both
def test_params_in_references_are_updated_in_their_references(lib: Any) -> None:
    model = lib.Dict(w=lib.Param(jnp.ones(2), ref=True))
    opt = lib.Optimizer(model, optax.adam(0.5), wrt=lib.Param)
    reference = model.w.get_raw_value()
    opt.update(model, lib.State({"w": lib.Param(jnp.ones(2))}))
    assert model.w.get_raw_value() is reference
    assert np.allclose(model.w[...], 0.5)
    assert opt.opt_state[0].mu.w.ref


@both
def test_wrong_use_raises_what_flax_raises(lib: Any) -> None:
    model = network(lib)
    opt = lib.Optimizer(model, optax.adam(0.1), wrt=lib.Param)
    grads = ones_like_params(lib, model)
    tx = optax.adam(0.1)
    for error, does in (
        (TypeError, lambda: lib.Optimizer(model, tx)),
        (TypeError, lambda: lib.Optimizer(model, tx, lib.Param)),
        (TypeError, lambda: opt.update(grads)),
        (TypeError, lambda: opt.update()),
        (AttributeError, lambda: opt.model),
        (AttributeError, lambda: opt.other),
        (AttributeError, lambda: lib.Optimizer(model, 3, wrt=lib.Param)),
        (ValueError, lambda: opt.update(model, None)),
        (ValueError, lambda: opt.update(network(lib).layers[0], grads)),
        (ValueError, lambda: opt.update(model, lib.filter_state(grads, lib.PathContains("w")))),
        (TypeError, lambda: lib.ModelAndOptimizer(model, tx).update()),
        (TypeError, lambda: lib.ModelAndOptimizer(model, tx, graph=True)),
    ):
        with pytest.raises(error):
            does()


def frozen_shapes(grads: Any) -> Any:
    """Return gradients with one more axis."""
    return jax.tree.map(lambda g: g[None], grads)


def changed_state(new: Any) -> Any:
    """Return a transformation whose state does not keep its structure."""

    def init(params: Any) -> Any:
        return {"a": jnp.zeros(2), "n": None}

    def update(updates: Any, state: Any, params: Any = None) -> Any:
        return updates, new

    return optax.GradientTransformation(init, update)


@pytest.mark.parametrize(
    ("error", "tx", "grads"),
    [
        (errors.StateMismatchError, optax.adam(0.1), lambda g: nnx.State({})),
        (errors.StateMismatchError, optax.adam(0.1), lambda g: (jnp.ones(()), g)),
        (errors.StateMismatchError, optax.adam(0.1), lambda g: nnx.State({**g, "new": g.scale})),
        (errors.StateMismatchError, optax.adam(0.1), frozen_shapes),
        (errors.StateMismatchError, changed_state({"b": jnp.zeros(2)}), lambda g: g),
        (errors.StateMismatchError, changed_state({"a": jnp.zeros(2), "n": 1}), lambda g: g),
    ],
    ids=["no gradients", "a tuple", "extra", "other shapes", "other key", "None to number"],
)
def test_a_failed_update_changes_nothing(error: type[Exception], tx: Any, grads: Any) -> None:
    model = network(OURS)
    opt = OURS.Optimizer(model, tx, wrt=OURS.Param)
    before = contents(OURS, model), contents(OURS, opt)
    with pytest.raises(error), jax.numpy_rank_promotion("allow"):
        opt.update(model, grads(ones_like_params(OURS, model)))
    assert (contents(OURS, model), contents(OURS, opt)) == before


def test_an_optimizer_of_another_trace_is_refused_before_anything_changes() -> None:
    model = network(OURS)
    opt = OURS.Optimizer(model, optax.adam(0.1), wrt=OURS.Param)
    graphdef, state = nnx.split(model)

    @jax.jit
    def step(state: Any, x: jax.Array) -> Any:
        inner = nnx.merge(graphdef, state)
        before = inner.scale[...]
        with pytest.raises(nnx.errors.TraceLevelError):
            opt.update(inner, ones_like_params(OURS, inner))
        assert inner.scale[...] is before
        return x

    step(nnx.as_pure(state), batch())
    assert opt.step[...] == 0


@both
def test_a_state_of_optax_put_in_by_hand_is_used(lib: Any) -> None:
    model = lib.Dict(w=lib.Param(jnp.ones(2)))
    tx = optax.sgd(1.0, momentum=0.5)
    opt = lib.Optimizer(model, tx, wrt=lib.Param)
    opt.opt_state = lib.data(to_opt_state_of(lib)(tx.init(lib.state(model))))
    for _ in range(2):
        opt.update(model, lib.State({"w": lib.Param(jnp.ones(2))}))
    assert np.allclose(model.w[...], 1 - 1 - 1.5)


def test_a_state_without_variables_is_kept_without_them() -> None:
    model = nnx.Dict(w=nnx.Param(jnp.ones(2)))
    tx: Any = optax.sgd(1.0, momentum=0.5)  # the state of each transformation has its own type
    opt = OURS.Optimizer(model, tx, wrt=nnx.Param)
    opt.opt_state = nnx.data(tx.init(nnx.as_pure(nnx.state(model))))
    for _ in range(2):
        opt.update(model, nnx.State({"w": nnx.Param(jnp.ones(2))}))
    assert np.allclose(model.w[...], 1 - 1 - 1.5)
    assert np.allclose(opt.opt_state[0].trace.w, 1.5)


def test_to_opt_state_makes_the_same_variables_as_flax() -> None:
    found = []
    for lib in (OURS, FLAX):
        tree = {"a": jnp.ones(2), "b": lib.Param(jnp.ones(2), tag="t"), "c": None, "d": 1.5}
        made = to_opt_state_of(lib)(tree)
        assert made["c"] is None
        found.append(contents(lib, lib.Dict(made)))
    assert found[0] == found[1]


def test_the_same_optimizer_shows_the_same_parts_as_flax() -> None:
    texts = []
    for lib in (OURS, FLAX):
        model = lib.Dict(w=lib.Param(jnp.ones(2)))
        text = str(lib.Optimizer(model, optax.sgd(0.1, momentum=0.9), wrt=lib.Param))
        texts.append([line for line in text.splitlines() if "tx=" not in line])
    assert texts[0] == texts[1]
