"""Example calls for the modules of netket 3.23.0, by file."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from typed_nnx_codegen.verify.examples import Build, Example, variants, wave

EXAMPLES: dict[str, list[Example]] = {}

EXAMPLES["netket/_src/nn/freeze/linen.py"] = [
    Example(Build("FreezeLinenWrapper", model=Build("flax.linen.Dense", features=8)), wave(2, 8))
]

EXAMPLES["netket/experimental/nn/rnn/cells.py"] = [
    Example(Build("RNNCell", features=8), wave(2, 8), wave(2, 8), wave(2, 8)),
    Example(Build("LSTMCell", features=8), wave(2, 8), wave(2, 8), wave(2, 8)),
    Example(Build("GRU1DCell", features=8), wave(2, 8), wave(2, 8), wave(2, 8)),
]


def particles(number):
    """Return the space of some particles in a periodic plane."""
    box = Build("netket.experimental.geometry.Cell", 2, (2.0, 3.0))
    return Build("netket.experimental.hilbert.Particle", number, geometry=box)


EXAMPLES["netket/models/deepset.py"] = [
    Example(Build("DeepSetMLP"), wave(2, 8)),
    Example(
        Build(
            "DeepSetRelDistance",
            particles(3),
            layers_phi=2,
            layers_rho=3,
            features_phi=(4, 5),
            features_rho=(6, 7, 1),
        ),
        wave(2, 6),
    ),
]

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


EXAMPLES["netket/models/equivariant.py"] = [
    Example(Build("GCNN_FFT", **tables()), spins(2, 4)),
    Example(Build("GCNN_Irrep", **irreps()), spins(2, 4)),
    Example(Build("GCNN_Parity_FFT", parity=1, **tables()), spins(2, 4)),
    Example(Build("GCNN_Parity_Irrep", parity=1, **irreps()), spins(2, 4)),
]

EXAMPLES["netket/models/gaussian.py"] = [Example(Build("Gaussian"), wave(2, 8))]

EXAMPLES["netket/models/jastrow.py"] = [Example(Build("Jastrow"), wave(2, 8))]

EXAMPLES["netket/models/mlp.py"] = [
    Example(Build("MLP"), wave(2, 8)),
    Example(Build("MLP", use_output_bias=True), wave(2, 8)),
]

EXAMPLES["netket/models/ndm.py"] = [
    Example(Build("PureRBM"), wave(2, 8), wave(2, 8)),
    Example(Build("PureRBM", use_hidden_bias=False), wave(2, 8), wave(2, 8)),
    Example(Build("PureRBM", use_visible_bias=False), wave(2, 8), wave(2, 8)),
    Example(Build("MixedRBM"), wave(2, 8), wave(2, 8)),
    Example(Build("MixedRBM", use_bias=False), wave(2, 8), wave(2, 8)),
    Example(Build("NDM"), wave(2, 8)),
    Example(Build("NDM", use_hidden_bias=False), wave(2, 8)),
    Example(Build("NDM", use_ancilla_bias=False), wave(2, 8)),
    Example(Build("NDM", use_visible_bias=False), wave(2, 8)),
]

FEWER_BIASES: tuple[dict[str, Any], ...] = (
    {},
    {"use_hidden_bias": False},
    {"use_visible_bias": False},
)

EXAMPLES["netket/models/rbm.py"] = [
    Example(Build("RBM"), wave(2, 8)),
    Example(Build("RBM", use_hidden_bias=False), wave(2, 8)),
    Example(Build("RBM", use_visible_bias=False), wave(2, 8)),
    Example(Build("RBMModPhase"), wave(2, 8)),
    Example(Build("RBMModPhase", use_hidden_bias=False), wave(2, 8)),
    Example(Build("RBMMultiVal", n_classes=3), wave(2, 8)),
    Example(Build("RBMMultiVal", n_classes=3, use_hidden_bias=False), wave(2, 8)),
    Example(Build("RBMMultiVal", n_classes=3, use_visible_bias=False), wave(2, 8)),
    *(
        Example(
            Build("RBMSymm", symmetries=array((STEPS + STEPS[:, None]) % 4), alpha=2, **less),
            jnp.array([[1.0, -1, 1, -1], [1, 1, -1, -1]]),
        )
        for less in FEWER_BIASES
    ),
]

EXAMPLES["netket/nn/blocks/deepset.py"] = [Example(Build("DeepSetMLP"), wave(2, 8))]

EXAMPLES["netket/nn/blocks/mlp.py"] = [
    Example(Build("MLP"), wave(2, 8)),
    Example(Build("MLP", use_output_bias=False), wave(2, 8)),
]

CONV_2D: dict[str, Any] = {
    "L": 8,
    "features": 8,
    "kernel_size": (3, 3),
    "kernel_dilation": (1, 1),
    "exclusive": True,
}

EXAMPLES["netket/nn/fast_masked_linear.py"] = [
    Example(Build("FastMaskedDense1D", size=8, features=8, exclusive=True), wave(2, 8)),
    Example(
        Build("FastMaskedDense1D", size=8, features=8, exclusive=True, use_bias=False), wave(2, 8)
    ),
    *variants(
        Example(
            Build("FastMaskedConv1D", features=8, kernel_size=3, kernel_dilation=1, exclusive=True),
            wave(2, 8),
        ),
        {"use_bias": False},
    ),
    Example(Build("FastMaskedConv2D", **CONV_2D), wave(2, 16, 16, 3)),
    Example(Build("FastMaskedConv2D", **CONV_2D, use_bias=False), wave(2, 16, 16, 3)),
]

EXAMPLES["netket/nn/masked_linear.py"] = [
    Example(Build("MaskedDense1D", features=8, exclusive=True), wave(2, 8)),
    Example(Build("MaskedDense1D", features=8, exclusive=True, use_bias=False), wave(2, 8)),
    *variants(
        Example(
            Build("MaskedConv1D", features=8, kernel_size=3, kernel_dilation=1, exclusive=True),
            wave(2, 8),
        ),
        {"use_bias": False},
    ),
    *variants(
        Example(
            Build(
                "MaskedConv2D",
                features=8,
                kernel_size=(3, 3),
                kernel_dilation=(1, 1),
                exclusive=True,
            ),
            wave(2, 16, 16, 3),
        ),
        {"use_bias": False},
    ),
]
