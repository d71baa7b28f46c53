"""Example calls for netket/models/equivariant.py of netket 3.23.0."""

import jax.numpy as jnp
import numpy as np

from typed_nnx_codegen.verify.examples import Build, Example

# The translations of a ring of four sites.
STEPS = np.arange(4)
PLACES = (STEPS[None, :] - STEPS[:, None]) % 4


def array(values):
    """Return an array as a field holds it."""
    return Build("netket.utils.HashableArray", np.asarray(values))


def spins(*shape):
    """Return spins up and down."""
    return jnp.where(jnp.arange(np.prod(shape, dtype=int)) % 3 == 0, 1.0, -1.0).reshape(shape)


def fields(**more):
    """Return the fields that all models have."""
    return {
        "symmetries": array(PLACES),
        "layers": 3,
        "features": (2, 3, 4),
        "characters": array(np.ones(4)),
        **more,
    }


def irreps():
    """Return the fields with matrices of the four representations."""
    turns = [np.exp(2j * np.pi * k * STEPS / 4).reshape(4, 1, 1) for k in range(4)]
    return fields(irreps=tuple(map(array, turns)))


def tables():
    """Return the fields with the table of products."""
    return fields(product_table=array(PLACES), shape=(4,))


EXAMPLES = [
    Example(Build("GCNN_FFT", **tables()), spins(2, 4)),
    Example(Build("GCNN_Irrep", **irreps()), spins(2, 4)),
    Example(Build("GCNN_Parity_FFT", parity=1, **tables()), spins(2, 4)),
    Example(Build("GCNN_Parity_Irrep", parity=1, **irreps()), spins(2, 4)),
]
