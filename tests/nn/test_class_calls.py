"""Layers called through their class with another `self`, which has the attributes of one and no more."""

from __future__ import annotations

import types
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.nn.twins import LIBRARIES, Make

IMAGE, ROWS = jnp.linspace(-1, 1, 2 * 5 * 4).reshape(2, 5, 4), jnp.linspace(-1, 1, 8).reshape(2, 4)
CARRY = (ROWS, ROWS + 1)

LAYERS: dict[str, tuple[Make, tuple[Any, ...]]] = {
    "Linear": (lambda lib, rngs: lib.Linear(4, 3, rngs=rngs), (ROWS,)),
    "LinearGeneral": (lambda lib, rngs: lib.LinearGeneral(4, (2, 3), rngs=rngs), (ROWS,)),
    "Embed": (lambda lib, rngs: lib.Embed(4, 3, rngs=rngs), (jnp.arange(4),)),
    "Conv": (lambda lib, rngs: lib.Conv(4, 3, (3,), rngs=rngs), (IMAGE,)),
    "ConvTranspose": (lambda lib, rngs: lib.ConvTranspose(4, 3, (3,), rngs=rngs), (IMAGE,)),
    "BatchNorm": (lambda lib, rngs: lib.BatchNorm(4, rngs=rngs), (ROWS,)),
    "LayerNorm": (lambda lib, rngs: lib.LayerNorm(4, rngs=rngs), (ROWS,)),
    "RMSNorm": (lambda lib, rngs: lib.RMSNorm(4, rngs=rngs), (ROWS,)),
    "GroupNorm": (lambda lib, rngs: lib.GroupNorm(4, 2, rngs=rngs), (ROWS,)),
    "InstanceNorm": (lambda lib, rngs: lib.InstanceNorm(4, rngs=rngs), (IMAGE,)),
    "Dropout": (lambda lib, rngs: lib.Dropout(0.5, rngs=rngs), (ROWS,)),
    "MultiHeadAttention": (
        lambda lib, rngs: lib.MultiHeadAttention(2, 4, rngs=rngs, decode=False),
        (IMAGE,),
    ),
    "LSTMCell": (lambda lib, rngs: lib.LSTMCell(4, 4, rngs=rngs), (CARRY, ROWS)),
    "GRUCell": (lambda lib, rngs: lib.GRUCell(4, 4, rngs=rngs), (ROWS, ROWS)),
    "SimpleCell": (lambda lib, rngs: lib.SimpleCell(4, 4, rngs=rngs), (ROWS, ROWS)),
    "RNN": (lambda lib, rngs: lib.RNN(lib.LSTMCell(4, 4, rngs=rngs), rngs=rngs), (IMAGE,)),
    "Bidirectional": (
        lambda lib, rngs: lib.Bidirectional(
            lib.RNN(lib.GRUCell(4, 4, rngs=rngs)), lib.RNN(lib.GRUCell(4, 4, rngs=rngs)), rngs=rngs
        ),
        (IMAGE,),
    ),
    "Sequential": (lambda lib, rngs: lib.Sequential(lib.Linear(4, 3, rngs=rngs)), (ROWS,)),
    "LoRA": (lambda lib, rngs: lib.LoRA(4, 2, 3, rngs=rngs), (ROWS,)),
    "PReLU": (lambda lib, rngs: lib.PReLU(), (ROWS,)),
}


@pytest.mark.parametrize(("make", "args"), LAYERS.values(), ids=LAYERS)
def test_the_class_calls_what_has_its_attributes(make: Make, args: Any) -> None:
    results = []
    for lib in LIBRARIES:
        layer = make(lib, lib.Rngs(0))
        other = types.SimpleNamespace(**vars(layer))
        results.append(type(layer).__call__(other, *args))
    jax.tree.map(np.testing.assert_array_equal, *results)
