"""The stand-ins for NNX's layers against flax."""

from __future__ import annotations

import re
import typing as tp

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx as flax_nnx

import typed_nnx as nnx

from . import layers

MAKERS: dict[str, tp.Callable[[tp.Any, tp.Any], tp.Any]] = {
    "linear": lambda family, rngs: family.Linear(4, 6, rngs=rngs),
    "batch_norm": lambda family, rngs: family.BatchNorm(4, rngs=rngs),
    "dropout": lambda family, rngs: family.Dropout(0.5, rngs=rngs),
    "conv": lambda family, rngs: family.Conv(4, 5, [3, 3], padding="SAME", rngs=rngs),
}


def arrays(node: tp.Any, library: tp.Any) -> dict[str, np.ndarray]:
    """Map the key path of each leaf of the state of `node` to its bits."""
    leaves, _ = jax.tree.flatten_with_path(library.state(node))
    return {
        jax.tree_util.keystr(path): np.asarray(
            jax.random.key_data(x) if jnp.issubdtype(x.dtype, jax.dtypes.prng_key) else x
        )
        for path, x in leaves
    }


def assert_same_bits(ours: dict[str, np.ndarray], theirs: dict[str, np.ndarray]) -> None:
    assert list(ours) == list(theirs)
    for path, array in ours.items():
        assert array.dtype == theirs[path].dtype, path
        np.testing.assert_array_equal(array, theirs[path], err_msg=path)


@pytest.mark.parametrize("name", MAKERS)
def test_a_stand_in_draws_the_keys_and_computes_the_bits_of_flax(name: str) -> None:
    our_rngs, their_rngs = nnx.Rngs(3, dropout=7), flax_nnx.Rngs(3, dropout=7)
    ours = MAKERS[name](layers, our_rngs)
    theirs = MAKERS[name](flax_nnx, their_rngs)
    assert_same_bits(arrays(ours, nnx), arrays(theirs, flax_nnx))
    assert_same_bits(arrays(our_rngs, nnx), arrays(their_rngs, flax_nnx))

    shape = (2, 5, 5, 4) if name == "conv" else (8, 4)
    x = jax.random.normal(jax.random.key(1), shape)
    for _ in range(2):
        np.testing.assert_array_equal(np.asarray(ours(x)), np.asarray(theirs(x)))
    assert_same_bits(arrays(ours, nnx), arrays(theirs, flax_nnx))


def test_the_linear_stand_in_prints_as_the_linear_of_flax_prints() -> None:
    texts = [
        re.sub("0x[0-9a-f]+", "0x", repr(family.Linear(4, 4, rngs=rngs)))
        for family, rngs in ((layers, nnx.Rngs(0)), (flax_nnx, flax_nnx.Rngs(0)))
    ]
    assert texts[0] == texts[1]


def test_the_max_pool_stand_in_computes_the_bits_of_flax() -> None:
    x = jax.random.normal(jax.random.key(1), (2, 6, 6, 3))
    ours = layers.max_pool(x, (2, 2), strides=(2, 2))
    theirs = flax_nnx.max_pool(x, (2, 2), strides=(2, 2))
    assert jnp.array_equal(ours, theirs)
