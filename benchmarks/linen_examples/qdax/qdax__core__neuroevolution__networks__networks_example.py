"""Example calls for qdax/core/neuroevolution/networks/networks.py of qdax 0.5.0."""

import jax.numpy as jnp
import numpy as np

from typed_nnx_codegen.verify.examples import Build, Example


def wave(*shape):
    """Return an array without two equal numbers."""
    return jnp.sin(jnp.arange(np.prod(shape, dtype=int), dtype=jnp.float32) + 1).reshape(shape)


EXAMPLES = [
    Example(Build("MLP", layer_sizes=(8, 8)), wave(2, 8)),
    Example(Build("MLP", layer_sizes=(8, 8), bias=False), wave(2, 8), name="bias=False"),
    Example(Build("MLPDC", layer_sizes=(8, 8)), wave(2, 8), wave(2, 8)),
    Example(
        Build("MLPDC", layer_sizes=(8, 8), bias=False), wave(2, 8), wave(2, 8), name="bias=False"
    ),
    Example(Build("QModule", hidden_layer_sizes=(8, 8)), wave(2, 8), wave(2, 3)),
    Example(Build("QModuleDC", hidden_layer_sizes=(8, 8)), wave(2, 8), wave(2, 3), wave(2, 8)),
]
