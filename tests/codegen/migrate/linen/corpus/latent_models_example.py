"""How the autoencoders are built and called."""

import jax.numpy as jnp
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.sin(jnp.arange(12.0)).reshape(2, 6)
Z = jnp.cos(jnp.arange(8.0)).reshape(2, 4)

EXAMPLES = [
    Example(Build("Decoder"), Z),
    Example(Build("VectorQuantizer", 5), Z.reshape(2, 2, 2), mutable=("losses",)),
    Example(Build("EmaCodebook", 4, 7), Z),
    Example(Build("EmaCodebook", 4, 7), Z, train=True, mutable=("codebook",)),
    Example(Build("EmaCodebook", 4, 7), jnp.array([1, 5]), method="lookup"),
    Example(Build("VQVAE", Build("Decoder", 5), Build("Decoder"), 5, 3), X),
    Example(
        Build(
            "VQVAE",
            encoder=Build(
                "flax.linen.Sequential",
                [Build("flax.linen.Dense", 5), nn.relu, Build("flax.linen.Dense", 4)],
            ),
            decoder=Build("Decoder", features=8),
            n_codes=5,
            dim=3,
        ),
        X,
        method="codes",
    ),
    Example(Build("LadderEncoder", (8, 6), (3, 2)), X),
]
