"""Layers over any axes of inputs of any rank compute what Linen does."""

from __future__ import annotations

import ast

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import typed_nnx as nnx
from tests.codegen.migrate.linen.layers.filling import check_equal, check_shape, fill
from tests.codegen.migrate.linen.layers.migrated_calls import migrate, value_of_array
from tests.codegen.migrate.linen.weights.perturbed import perturbed
from typed_nnx_codegen.migrate.linen.layers import Inputs


@st.composite
def shapes_and_axes(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Draw the shape of inputs, and some of its axes but the first."""
    shape = draw(st.lists(st.integers(1, 3), min_size=2, max_size=4).map(tuple))
    rank = len(shape)
    axes = draw(st.lists(st.integers(1, rank - 1), min_size=1, unique=True))
    return shape, tuple(axis - rank if draw(st.booleans()) else axis for axis in axes)


def check(code: str, shape: tuple[int, ...], name: str) -> None:
    """Migrate a layer, and compare it with Linen."""
    x = jnp.asarray(np.random.default_rng(0).normal(size=shape), jnp.float32)
    layer = eval(code, {"nn": nn})
    variables = perturbed(layer.init(jax.random.key(0), x))
    call = ast.parse(code, mode="eval").body
    assert isinstance(call, ast.Call)

    found = migrate(call, Inputs({name: value_of_array(x, "x", symbolic=False)}))

    model = eval(found.code, {"nnx": nnx, "rngs": nnx.Rngs(0)})
    fill(model, variables, found.variables)
    expected = layer.apply(variables, x)
    check_equal(model(x), expected, 2e-5)
    check_shape(found.output, expected, {"x": x})


@pytest.fixture(autouse=True)
def _allow_rank_promotion() -> object:
    with jax.numpy_rank_promotion("allow"):
        yield


@pytest.mark.thorough
@given(shapes_and_axes(), st.lists(st.integers(1, 3), min_size=1, max_size=2))
@settings(max_examples=12, deadline=None)
def test_a_general_dense_layer_over_any_axes(
    case: tuple[tuple[int, ...], tuple[int, ...]], features: list[int]
) -> None:
    shape, axes = case
    check(f"nn.DenseGeneral({tuple(features)}, axis={axes})", shape, "inputs")


@pytest.mark.thorough
@given(shapes_and_axes(), st.sampled_from(["LayerNorm", "RMSNorm"]))
@settings(max_examples=12, deadline=None)
def test_a_norm_over_any_axes(case: tuple[tuple[int, ...], tuple[int, ...]], name: str) -> None:
    shape, axes = case
    check(f"nn.{name}(reduction_axes={axes}, feature_axes={axes})", shape, "x")
