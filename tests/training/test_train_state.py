"""`TrainState`: an immutable pytree, its `apply` and its steps."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import typed_nnx as nnx
from tests.training.models import FLAX, OURS, batch, both, loss, network, trees


def parts(lib: Any) -> Any:
    """Return structure, params and the other State of a network."""
    return lib.split(network(lib), lib.Param, ...)


def created(lib: Any, **kwargs: Any) -> Any:
    """Make a TrainState with a field for the statistics."""

    class WithStats(lib.TrainState):
        stats: Any

    graphdef, params, stats = parts(lib)
    return WithStats.create(graphdef, params=params, tx=optax.adam(0.1), stats=stats, **kwargs)


def test_fields_and_leaves_are_those_of_flax() -> None:
    found = []
    for lib in (OURS, FLAX):
        state = created(lib)
        names = [field.name for field in dataclasses.fields(state)]
        found.append((names, trees(state)))
    assert found[0] == found[1]


def test_a_step_is_traced_to_the_program_of_flax() -> None:
    """Equal programs give equal bits."""

    def program(lib: Any) -> str:
        def step(state: Any, x: jax.Array) -> Any:
            def objective(params: Any) -> jax.Array:
                return loss(lib.merge(state.graphdef, params, state.stats, copy=True), x)

            value, grads = jax.value_and_grad(objective)(state.params)
            return state.apply_gradients(grads), value

        return str(jax.make_jaxpr(step)(created(lib), batch()))

    assert program(OURS) == program(FLAX)


@both
def test_apply_returns_the_output_and_what_it_left(lib: Any) -> None:
    wanted = network(lib)(batch())
    for by_name in ((True, True), (False, False), (True, False)):
        state = created(lib)
        fields = zip(("params", "stats"), by_name, strict=True)
        given = [name if named else getattr(state, name) for name, named in fields]
        output, (graphdef, left) = state.apply(*given)(batch())
        assert np.array_equal(output, wanted)
        assert isinstance(left, lib.State)
        assert lib.merge(graphdef, left).layers[0].calls[...] == 1.0


@both
def test_apply_reaches_methods_and_parts_of_the_model(lib: Any) -> None:
    state = created(lib)
    output, _ = state.apply("params", "stats").layers[0](batch())
    assert np.array_equal(output, network(lib).layers[0](batch()))


def test_apply_works_under_transforms_of_jax() -> None:
    @jax.jit
    def step(state: Any, x: jax.Array) -> Any:
        def objective(params: Any) -> Any:
            output, (_, left) = state.apply(params, "stats")(x)
            return jnp.square(output).mean(), nnx.filter_state(left, nnx.BatchStat)

        grads, stats = jax.grad(objective, has_aux=True)(state.params)
        return state.apply_gradients(grads, stats=stats)

    state = step(step(created(OURS), batch()), batch(1))
    assert state.stats.layers[0].calls[...] == 2.0
    model = network(OURS)
    opt = OURS.Optimizer(model, optax.adam(0.1), wrt=nnx.Param)
    for number in range(2):
        opt.update(model, nnx.grad(lambda m, x: loss(m, x))(model, batch(number)))
    np.testing.assert_allclose(state.params.layers[0].w[...], model.layers[0].w[...], 1e-5)


@both
def test_it_is_frozen_and_replaced(lib: Any) -> None:
    state = created(lib)
    with pytest.raises(dataclasses.FrozenInstanceError):
        state.step = 3
    assert state.replace(step=7).step == 7
    assert state.step == 0
    with pytest.raises(TypeError):
        state.replace(other=1)


@both
def test_create_takes_a_step_and_the_fields_of_the_class(lib: Any) -> None:
    assert created(lib, step=5).step == 5
    assert created(lib).step.dtype == jnp.int32
    with pytest.raises(TypeError):
        created(lib, other=1)


@both
def test_it_goes_through_transforms_of_nnx(lib: Any) -> None:
    state = created(lib)
    after = lib.jit(lambda state: state.apply_gradients(state.params))(state)
    wanted = state.apply_gradients(state.params)
    for mine, other in zip(jax.tree.leaves(after), jax.tree.leaves(wanted), strict=True):
        np.testing.assert_allclose(mine, other, 1e-6)


@both
def test_wrong_use_raises_what_flax_raises(lib: Any) -> None:
    state = created(lib)
    for error, does in (
        (AttributeError, lambda: state.apply("parms")),
        (TypeError, lambda: state.apply("tx")),
        (TypeError, lambda: state.apply()),
        (ValueError, lambda: state.apply("params")(batch())),
        (ValueError, lambda: state.apply_gradients(lib.filter_state(state.params, "scale"))),
        (TypeError, lambda: lib.TrainState.create(state.graphdef, params=state.params)),
    ):
        with pytest.raises(error):
            does()
