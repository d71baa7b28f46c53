"""Steps of optimizers equal those of flax bit for bit, and are traced to the same program."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import optax
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.examples import few_or
from tests.training.models import (
    FLAX,
    OURS,
    TRANSFORMATIONS,
    contents,
    each_transformation,
    network,
    ones_like_params,
    trees,
)
from typed_nnx import errors


def program(lib: Any, tx: Any) -> str:
    """Return the jaxpr of an update."""
    model = network(lib)
    graphdef, state = lib.split((model, lib.Optimizer(model, tx, wrt=lib.Param)))

    def step(state: Any, grads: Any) -> Any:
        model, opt = lib.merge(graphdef, state)
        added = opt.update(model, grads)
        return lib.state((model, opt)), added

    return str(jax.make_jaxpr(step)(state, ones_like_params(lib, model)))


@each_transformation
@pytest.mark.parametrize("x64", [False, True], ids=["x32", "x64"])
def test_an_update_is_traced_to_the_program_of_flax(name: str, x64: bool) -> None:
    """Equal programs give equal bits."""
    tx = TRANSFORMATIONS[name]
    with jax.enable_x64(x64):
        assert program(OURS, tx()) == program(FLAX, tx())


@each_transformation
def test_an_update_adds_no_operation_to_those_of_optax_but_the_count(name: str) -> None:
    tx, model = TRANSFORMATIONS[name](), network(OURS)
    graphdef, state = OURS.split((model, OURS.Optimizer(model, tx, wrt=OURS.Param)))
    params = OURS.as_pure(OURS.state(model, OURS.Param))
    grads = jax.tree.map(jnp.ones_like, params)

    def ours(state: Any, grads: Any) -> Any:
        model, opt = OURS.merge(graphdef, state)
        opt.update(model, grads)
        return OURS.state((model, opt))

    def optax_alone(params: Any, state: Any, grads: Any) -> Any:
        updates, state = tx.update(grads, state, params)
        return optax.apply_updates(params, updates), state

    mine = jax.make_jaxpr(ours)(state, grads).eqns
    plain = jax.make_jaxpr(optax_alone)(params, tx.init(params), grads).eqns
    assert len(mine) == len(plain) + 1
    assert mine[-1].primitive.name == "add"


def test_lookahead_needs_two_sets_of_params_in_both_libraries() -> None:
    for lib in (OURS, FLAX):
        model = network(lib)
        opt = lib.Optimizer(model, optax.lookahead(optax.sgd(0.1), 2, 0.5), wrt=lib.Param)
        with pytest.raises(AttributeError, match="No attribute 'fast' in State"):
            opt.update(model, ones_like_params(lib, model))


SHAPES = st.lists(st.integers(0, 3), max_size=3).map(tuple)
DTYPES = st.sampled_from(["float32", "bfloat16", "float16"])
PARAMS = st.dictionaries(st.sampled_from("abcde"), st.tuples(SHAPES, DTYPES), min_size=1)


KINDS = st.sampled_from(["sgd", "adam", "lion", "momentum", "MultiSteps"])


@pytest.mark.thorough
@settings(max_examples=few_or(15, 300), deadline=None)
@given(PARAMS, st.booleans(), KINDS)
def test_models_of_any_shapes_are_updated_as_in_flax(
    params: dict[str, Any], nested: bool, name: str
) -> None:
    found = []
    for lib in (OURS, FLAX):
        leaves = {
            key: lib.Param(jnp.full(shape, 0.5, dtype), tag=key)
            for key, (shape, dtype) in params.items()
        }
        model = lib.Dict(inner=lib.Dict(leaves)) if nested else lib.Dict(leaves)
        opt = lib.Optimizer(model, TRANSFORMATIONS[name](), wrt=lib.Param)
        opt.update(model, ones_like_params(lib, model))
        added = opt.update(model, ones_like_params(lib, model))
        found.append((contents(lib, model), contents(lib, opt), trees(dict(added))))
    assert found[0] == found[1]


def test_gradients_by_keyword_alone_are_an_error_that_says_what_to_write() -> None:
    model = network(OURS)
    opt = OURS.Optimizer(model, optax.sgd(1.0), wrt=OURS.Param)
    with pytest.raises(errors.OptimizerError, match="`model`; got the keyword `grads` alone"):
        opt.update(grads=ones_like_params(OURS, model))
