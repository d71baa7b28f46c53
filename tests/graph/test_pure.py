"""`pure`, `as_pure` and `as_abstract`; compared with flax.nnx."""

from __future__ import annotations

import typing as tp

import jax
import jax.numpy as jnp
import numpy as np

import typed_nnx as nnx
from tests.support.peer import Scenario, assert_as_in_flax, scenarios


def model(nnx: tp.Any) -> tp.Any:
    class Model(nnx.Module):
        def __init__(self) -> None:
            self.w = nnx.Param(jnp.ones((2, 3)), note="n")
            self.inner = nnx.List([nnx.BatchStat(jnp.zeros(1, jnp.int32)), jnp.zeros(3)])
            self.name = "model"

    Model.__qualname__ = "Model"
    return Model()


def pure_state(nnx: tp.Any) -> tp.Any:
    made = nnx.pure(nnx.state(model(nnx)))
    return type(made).__name__, [(p, x.tolist()) for p, x in nnx.to_flat_state(made)]


def pure_module(nnx: tp.Any) -> tp.Any:
    original = model(nnx)
    made = nnx.as_pure(original)
    return (
        type(made).__name__, made.w.tolist(), made.inner[0].tolist(), made.name,
        type(original.w).__name__,
    )  # fmt: skip


def pure_containers(nnx: tp.Any) -> tp.Any:
    tree = {"a": nnx.Param(1), "b": [nnx.Cache((2, 3)), 4, None]}
    return nnx.pure(tree)


def abstract(nnx: tp.Any) -> tp.Any:
    made = nnx.as_abstract(nnx.state(model(nnx)))
    return [
        (path, jax.tree.leaves(x)[0].shape, str(jax.tree.leaves(x)[0].dtype))
        for path, x in nnx.to_flat_state(made)
    ]


@scenarios(pure_state, pure_module, pure_containers, abstract)
def test_the_result_is_that_of_flax(scenario: Scenario) -> None:
    assert_as_in_flax(scenario)


def test_abstract_values_are_shapes_that_eval_shape_takes() -> None:
    graphdef, state = nnx.split(model(nnx))
    shapes = nnx.as_abstract(state)
    assert isinstance(shapes["w"].get_raw_value(), jax.ShapeDtypeStruct)
    assert shapes["w"].note == "n"
    out = jax.eval_shape(lambda s: nnx.merge(graphdef, s).w[...].sum(axis=0), shapes)
    assert out.shape == (3,)
    assert nnx.as_abstract([5, "x", np.ones(2)])[0] == 5


def test_pure_of_merge_of_pure_is_the_identity() -> None:
    graphdef, state = nnx.split(model(nnx))
    pure = nnx.pure(state)
    again = nnx.pure(nnx.state(nnx.merge(graphdef, pure)))
    assert again == pure
