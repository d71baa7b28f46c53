"""What fits a place is put there: casts, boxes, trees of arrays, keys."""

from __future__ import annotations

from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.codegen.migrate.linen.weights.models import (
    ROWS,
    entries,
    model_with,
)
from typed_nnx_codegen.migrate import weights


def test_floats_are_cast_to_other_floats_and_that_is_said(nnx: Any) -> None:
    model = model_with(nnx, a=nnx.Param(jnp.zeros(2, jnp.bfloat16)))

    loaded = weights.load({"params": {"x": jnp.ones(2)}}, model, entries(**{"params/x": "a"}))

    assert loaded.cast == ("params/x -> a: float32 cast to bfloat16",)
    assert model.a[...].dtype == jnp.bfloat16


def test_boxes_are_opened(nnx: Any) -> None:
    dense = nn.Dense(3, kernel_init=nn.with_partitioning(nn.initializers.ones, (None, "model")))
    variables = dense.init(jax.random.key(0), ROWS)
    layer = nnx.Linear(5, 3, rngs=nnx.Rngs(0))

    weights.load(variables, layer, {})

    np.testing.assert_array_equal(layer.kernel[...], np.ones((5, 3)))


def test_a_variable_may_hold_a_tree_of_arrays(nnx: Any) -> None:
    model = model_with(nnx, a=nnx.Param({"w": jnp.zeros(2), "v": {"u": jnp.zeros(3)}}))
    tree = {"w": jnp.ones(2), "v": {"u": jnp.full(3, 2.0)}}

    weights.load({"params": {"x": tree}}, model, entries(**{"params/x": "a"}))

    assert jax.tree.map(lambda x: x.tolist(), model.a.get_value()) == {
        "w": [1.0, 1.0],
        "v": {"u": [2.0, 2.0, 2.0]},
    }


def test_a_tree_of_another_form_is_told(nnx: Any) -> None:
    model = model_with(nnx, a=nnx.Param({"w": jnp.zeros(2)}))

    with pytest.raises(weights.WeightsError, match=r"found values at \['v'\], expected \['w'\]"):
        weights.load({"params": {"x": {"v": jnp.ones(2)}}}, model, entries(**{"params/x": "a"}))


def test_keys_of_random_numbers_are_values_too(nnx: Any) -> None:
    kind = type("Noise", (nnx.Variable,), {})
    model = model_with(nnx, a=kind(jax.random.key(0)))

    weights.load({"noise": {"x": jax.random.key(5)}}, model, entries(**{"noise/x": "a"}))
    assert jnp.array_equal(
        jax.random.key_data(model.a.get_value()), jax.random.key_data(jax.random.key(5))
    )

    weights.load({"noise": {"x": jax.random.PRNGKey(6)}}, model, entries(**{"noise/x": "a"}))
    assert jnp.array_equal(jax.random.key_data(model.a.get_value()), jax.random.PRNGKey(6))


def test_a_plain_array_attribute_is_filled(nnx: Any) -> None:
    model = model_with(nnx, table=jnp.zeros(2))

    weights.load({"constants": {"t": jnp.ones(2)}}, model, entries(**{"constants/t": "table"}))

    assert model.table.tolist() == [1.0, 1.0]
