"""Gradients by plain `jax.grad` of the functional form: the independent model of `nnx.grad`."""

from __future__ import annotations

import typing as tp

import jax
import jax.numpy as jnp
import numpy as np

from tests.transforms.program_slices import copied
from tests.transforms.program_worlds import Play

#: Gradients are products of many factors; no other order of the same products may fail the test.
TOLERANCE = 1e-5
Gradients = dict[tp.Any, jax.Array]


def loss_of(acc: jax.Array) -> jax.Array:
    """Return a scalar with a different slope in each element."""
    return jnp.sum(acc * jnp.asarray([1.0, 3.0]))


def functional_gradients(nnx: tp.Any, play: Play, x: jax.Array, wrt: tp.Any) -> Gradients:
    """Differentiate the program of `play` by the leaves of its first argument that `wrt` chooses.

    The objects are split, and built anew inside of a pure function, so `play` stays as it is.
    """

    def chosen(path: tp.Any, leaf: tp.Any) -> bool:
        return path[0] == 0 and nnx.filterlib.to_predicate(wrt)(path[1:], leaf)

    graphdef, wanted, rest = nnx.split(play.roots, chosen, ...)

    def pure(values: tp.Any) -> jax.Array:
        model, other = nnx.merge(graphdef, values, copied(rest))
        return loss_of(play.run(model, other, x)[0])

    gradients = jax.grad(pure)(wanted)
    return {path[1:]: plain(leaf) for path, leaf in nnx.to_flat_state(gradients)}


def gradients_of(nnx: tp.Any, state: tp.Any) -> Gradients:
    """Map the path of each leaf of a State of gradients to its array."""
    return {path: plain(leaf) for path, leaf in nnx.to_flat_state(state)}


def plain(leaf: tp.Any) -> tp.Any:
    """Return what a leaf holds."""
    return leaf.get_raw_value() if hasattr(leaf, "get_raw_value") else leaf


def agree_on_gradients(found: Gradients, expected: Gradients) -> None:
    """Assert equal paths and, up to rounding, equal gradients."""
    assert sorted(map(str, found)) == sorted(map(str, expected))
    for path, gradient in expected.items():
        np.testing.assert_allclose(
            np.asarray(found[path]), np.asarray(gradient), rtol=TOLERANCE, err_msg=str(path)
        )
