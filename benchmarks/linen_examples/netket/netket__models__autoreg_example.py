"""Example calls for netket/models/autoreg.py of netket 3.23.0."""

import jax.numpy as jnp
import numpy as np

from typed_nnx_codegen.verify.examples import Build, Example


def bits(*shape):
    """Return zeros and ones."""
    return jnp.where(jnp.arange(np.prod(shape, dtype=int)) % 3 == 0, 1.0, 0.0).reshape(shape)


def hilbert(size):
    """Return the space of some qubits."""
    return Build("netket.hilbert.Qubit", size)


EXAMPLES = [
    Example(Build("ARNNDense", hilbert(4), layers=3, features=6), bits(2, 4)),
    Example(Build("ARNNDense", hilbert(6), layers=2, features=(5, 2)), bits(3, 6), name="others"),
    Example(Build("ARNNConv1D", hilbert(4), layers=3, features=6, kernel_size=3), bits(2, 4)),
    Example(Build("ARNNConv2D", hilbert(9), layers=3, features=6, kernel_size=(2, 3)), bits(2, 9)),
]
