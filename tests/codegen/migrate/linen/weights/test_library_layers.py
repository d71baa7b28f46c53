"""A layer of NNX that is filled from its Linen layer computes the same, on both runtimes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flax.linen as nn
import jax
import numpy as np
import pytest
from flax import nnx as flax_nnx

import typed_nnx
from tests.codegen.migrate.linen.weights.perturbed import perturbed
from typed_nnx_codegen.migrate import weights

RANDOM = np.random.default_rng(1)
# Of numpy: they are made whenever the tests are collected.
ROWS = RANDOM.normal(size=(2, 6)).astype(np.float32)
IMAGE = RANDOM.normal(size=(2, 8, 8, 3)).astype(np.float32)
SEQUENCE = RANDOM.normal(size=(2, 5, 6)).astype(np.float32)
NUMBERS = np.array([[0, 3], [2, 4]])
CARRY = (np.full((2, 4), 0.3, np.float32), np.full((2, 4), -0.2, np.float32))

Layer = Callable[[Any, Any], Any]
LAYERS: dict[str, tuple[nn.Module, tuple[Any, ...], Layer]] = {
    "Dense": (nn.Dense(4), (ROWS,), lambda n, r: n.Linear(6, 4, rngs=r)),
    "Dense without bias": (
        nn.Dense(4, use_bias=False),
        (ROWS,),
        lambda n, r: n.Linear(6, 4, use_bias=False, rngs=r),
    ),
    "DenseGeneral": (
        nn.DenseGeneral((2, 4)),
        (ROWS,),
        lambda n, r: n.LinearGeneral(6, (2, 4), rngs=r),
    ),
    "Einsum": (
        nn.Einsum((6, 2, 3), "ab,bcd->acd"),
        (ROWS,),
        lambda n, r: n.Einsum("ab,bcd->acd", (6, 2, 3), (2, 3), rngs=r),
    ),
    "Conv": (nn.Conv(4, (3, 3)), (IMAGE,), lambda n, r: n.Conv(3, 4, (3, 3), rngs=r)),
    "ConvTranspose": (
        nn.ConvTranspose(4, (3, 3)),
        (IMAGE,),
        lambda n, r: n.ConvTranspose(3, 4, (3, 3), rngs=r),
    ),
    "LayerNorm": (nn.LayerNorm(), (ROWS,), lambda n, r: n.LayerNorm(6, rngs=r)),
    "RMSNorm": (nn.RMSNorm(), (ROWS,), lambda n, r: n.RMSNorm(6, rngs=r)),
    "GroupNorm": (nn.GroupNorm(2), (ROWS,), lambda n, r: n.GroupNorm(6, 2, rngs=r)),
    "InstanceNorm": (nn.InstanceNorm(), (IMAGE,), lambda n, r: n.InstanceNorm(3, rngs=r)),
    "BatchNorm": (
        nn.BatchNorm(use_running_average=True),
        (ROWS,),
        lambda n, r: n.BatchNorm(6, use_running_average=True, rngs=r),
    ),
    "Embed": (nn.Embed(5, 4), (NUMBERS,), lambda n, r: n.Embed(5, 4, rngs=r)),
    "attention": (
        nn.MultiHeadDotProductAttention(2, qkv_features=8, normalize_qk=True),
        (SEQUENCE,),
        lambda n, r: n.MultiHeadAttention(2, 6, 8, decode=False, normalize_qk=True, rngs=r),
    ),
    "PReLU": (nn.PReLU(), (ROWS,), lambda n, r: n.PReLU()),
    "LSTMCell": (nn.LSTMCell(4), (CARRY, ROWS), lambda n, r: n.LSTMCell(6, 4, rngs=r)),
    "OptimizedLSTMCell": (
        nn.OptimizedLSTMCell(4),
        (CARRY, ROWS),
        lambda n, r: n.OptimizedLSTMCell(6, 4, rngs=r),
    ),
    "SimpleCell": (nn.SimpleCell(4), (CARRY[0], ROWS), lambda n, r: n.SimpleCell(6, 4, rngs=r)),
    "RNN": (
        nn.RNN(nn.OptimizedLSTMCell(4)),
        (SEQUENCE,),
        lambda n, r: n.RNN(n.OptimizedLSTMCell(6, 4, rngs=r), rngs=r),
    ),
    "Sequential": (
        nn.Sequential([nn.Dense(4), nn.relu, nn.Dense(3)]),
        (ROWS,),
        lambda n, r: n.Sequential(n.Linear(6, 4, rngs=r), n.relu, n.Linear(4, 3, rngs=r)),
    ),
    "WeightNorm": (
        nn.WeightNorm(nn.Dense(4)),
        (ROWS,),
        lambda n, r: n.WeightNorm(n.Linear(6, 4, rngs=r), rngs=r),
    ),
}


@pytest.mark.thorough
@pytest.mark.parametrize("nnx", [typed_nnx, flax_nnx], ids=["typed_nnx", "flax.nnx"])
@pytest.mark.parametrize("name", LAYERS)
def test_a_filled_layer_computes_what_its_linen_layer_does(name: str, nnx: Any) -> None:
    linen, inputs, make = LAYERS[name]
    variables = perturbed(linen.init(jax.random.key(0), *inputs))
    layer = make(nnx, nnx.Rngs(0))

    weights.load(variables, layer, {})

    found, expected = layer(*inputs), linen.apply(variables, *inputs)
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


def test_spectral_norm_takes_its_statistics_along() -> None:
    linen = nn.SpectralNorm(nn.Dense(4))
    variables = perturbed(linen.init(jax.random.key(0), ROWS, update_stats=False))
    layer = typed_nnx.SpectralNorm(
        typed_nnx.Linear(6, 4, rngs=typed_nnx.Rngs(0)), rngs=typed_nnx.Rngs(0)
    )

    weights.load(variables, layer, {})

    np.testing.assert_allclose(
        layer(ROWS, update_stats=False),
        linen.apply(variables, ROWS, update_stats=False),
        rtol=1e-5,
        atol=1e-5,
    )


def test_the_bias_that_the_gru_of_nnx_does_not_have_is_told() -> None:
    linen = nn.GRUCell(4)
    variables = linen.init(jax.random.key(0), CARRY[0], ROWS)
    cell = typed_nnx.GRUCell(6, 4, rngs=typed_nnx.Rngs(0))

    with pytest.raises(weights.WeightsError, match="params/hn/bias float32"):
        weights.load(variables, cell, {})
