"""The values that both sides are run with: weights with noise, inputs, keys, fixed random weights."""

from __future__ import annotations

import zlib
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np

from typed_nnx_codegen.verify.comparable import as_numpy, is_float, leaves_by_path

# How far weights are moved from what `init` made.
_NOISE: Final = 0.1


def perturbed(variables: Any) -> Any:
    """Return Linen variables whose floats have noise, so that zeros and ones hide no mistake.

    Arrays whose numbers are all positive, as variances are, stay positive.
    """

    def change(path: Any, value: Any) -> Any:
        if not is_float(value):
            return value
        random = np.random.default_rng(zlib.crc32(jax.tree_util.keystr(path).encode()))
        noise = _NOISE * random.standard_normal(value.shape)
        array = as_numpy(value).astype(np.float64)
        is_positive = array.size > 0 and bool((array > 0).all())
        changed = array * np.exp(noise) if is_positive else array + noise
        return jnp.asarray(changed, value.dtype)

    return jax.tree_util.tree_map_with_path(change, variables)


def concrete(value: Any) -> Any:
    """Return inputs with random numbers in place of every `jax.ShapeDtypeStruct`."""

    def made(path: Any, leaf: Any) -> Any:
        if not isinstance(leaf, jax.ShapeDtypeStruct):
            return leaf
        random = np.random.default_rng(zlib.crc32(jax.tree_util.keystr(path).encode()))
        if jnp.issubdtype(leaf.dtype, jnp.floating):
            return jnp.asarray(random.standard_normal(leaf.shape), leaf.dtype)
        return jnp.ones(leaf.shape, leaf.dtype)

    return jax.tree_util.tree_map_with_path(made, value)


def keys(streams: tuple[str, ...], seed: int) -> dict[str, Any]:
    """Return a key for each stream of random numbers."""
    return {name: jax.random.key(seed + zlib.crc32(name.encode()) % 1000) for name in streams}


def summed(outputs: Any, chosen: frozenset[str]) -> Any:
    """Return a scalar made from outputs: the sum of their floats times fixed random weights.

    Args:
        outputs: What a model returned.
        chosen: The paths of the leaves that count.
    """
    total = jnp.zeros((), jnp.float32)
    for path, leaf in leaves_by_path(outputs).items():
        if path in chosen and is_float(leaf):
            random = np.random.default_rng(zlib.crc32(path.encode()))
            weights = jnp.asarray(random.standard_normal(leaf.shape), jnp.float32)
            total = total + jnp.sum(leaf.astype(jnp.float32) * weights)
    return total


def float_leaves(tree: Any) -> tuple[list[Any], Any]:
    """Return the float arrays of a pytree, and a function that puts others in their places."""
    leaves, structure = jax.tree.flatten(tree)
    places = [index for index, leaf in enumerate(leaves) if is_float(leaf)]

    def with_leaves(given: list[Any]) -> Any:
        changed = list(leaves)
        for index, leaf in zip(places, given, strict=True):
            changed[index] = leaf
        return jax.tree.unflatten(structure, changed)

    return [jnp.asarray(leaves[index]) for index in places], with_leaves
