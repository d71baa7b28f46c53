"""Example calls for apax/layers/properties.py of apax 0.14.0."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


def call(number, features):
    """Return the arguments for some atoms."""
    places = jnp.sin(jnp.arange(3.0 * number) + 1).reshape(number, 3) * 2
    inputs = jnp.cos(jnp.arange(number * features) + 1.0).reshape(number, features)
    elements = jnp.arange(number) % 3 + 1
    pairs = jnp.array([(i, j) for i in range(number) for j in range(number) if i != j]).T
    return inputs, places, places[pairs[0]] - places[pairs[1]], elements, pairs, jnp.zeros(3)


EXAMPLES = [
    Example(Build("PropertyHead", pname="charge"), *call(3, 5)),
    Example(Build("PropertyHead", pname="dipole", mode="l1", aggregation="sum"), *call(4, 6)),
]
