"""Example calls for netket/models/rbm.py of netket 3.23.0."""

import jax.numpy as jnp
import netket.utils  # type: ignore[import-not-found]  # only the sweep installs it
import numpy as np

from typed_nnx_codegen.verify.examples import Build, Example, wave

EXAMPLES = [
    Example(Build("RBM"), wave(2, 8)),
    Example(Build("RBM", use_hidden_bias=False), wave(2, 8)),
    Example(Build("RBM", use_visible_bias=False), wave(2, 8)),
    Example(Build("RBMModPhase"), wave(2, 8)),
    Example(Build("RBMModPhase", use_hidden_bias=False), wave(2, 8)),
    Example(Build("RBMMultiVal", n_classes=3), wave(2, 8)),
    Example(Build("RBMMultiVal", n_classes=3, use_hidden_bias=False), wave(2, 8)),
    Example(Build("RBMMultiVal", n_classes=3, use_visible_bias=False), wave(2, 8)),
    Example(
        Build(
            "RBMSymm",
            symmetries=netket.utils.HashableArray(
                np.array([[0, 1, 2, 3], [1, 2, 3, 0], [2, 3, 0, 1], [3, 0, 1, 2]])
            ),
            alpha=2,
        ),
        jnp.array([[1.0, -1, 1, -1], [1, 1, -1, -1]]),
    ),
    Example(
        Build(
            "RBMSymm",
            symmetries=netket.utils.HashableArray(
                np.array([[0, 1, 2, 3], [1, 2, 3, 0], [2, 3, 0, 1], [3, 0, 1, 2]])
            ),
            alpha=2,
            use_hidden_bias=False,
        ),
        jnp.array([[1.0, -1, 1, -1], [1, 1, -1, -1]]),
    ),
    Example(
        Build(
            "RBMSymm",
            symmetries=netket.utils.HashableArray(
                np.array([[0, 1, 2, 3], [1, 2, 3, 0], [2, 3, 0, 1], [3, 0, 1, 2]])
            ),
            alpha=2,
            use_visible_bias=False,
        ),
        jnp.array([[1.0, -1, 1, -1], [1, 1, -1, -1]]),
    ),
]
