"""How the autoencoders are built and called."""

import jax
import jax.numpy as jnp
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.sin(jnp.arange(12.0)).reshape(2, 6)
Z = jnp.cos(jnp.arange(8.0)).reshape(2, 4)
IMAGES = jnp.sin(jnp.arange(2 * 8 * 8 * 3.0)).reshape(2, 8, 8, 3)

EXAMPLES = [
    Example(Build("Encoder", 4), X),
    Example(Build("Decoder"), Z),
    Example(Build("VAE", 4), X, jax.random.key(3)),
    Example(Build("VAE", latents=3), X, method="encode"),
    Example(Build("VAE"), Z, method="generate"),
    Example(Build("NoisyVAE", 3, width=5), X, deterministic=True),
    Example(Build("NoisyVAE", 3, 5), X, rngs=("noise",), name="random"),
    Example(Build("ConvVAE", (4, 5), 3), IMAGES),
    Example(Build("ConvVAE", (4, 5), 3), IMAGES, method="encode"),
    Example(Build("ConvVAE", (4, 6), 3, image_channels=2), Z[:, :3], method="decode"),
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
