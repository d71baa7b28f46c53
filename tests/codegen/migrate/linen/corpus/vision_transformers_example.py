"""How the vision transformers are built and called."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

IMAGES = jnp.sin(jnp.arange(2 * 8 * 8 * 3.0)).reshape(2, 8, 8, 3)
TOKENS = jnp.cos(jnp.arange(2 * 5 * 6.0)).reshape(2, 5, 6)

EXAMPLES = [
    Example(Build("AddPositionEmbs"), TOKENS),
    Example(Build("MlpBlock", 8), TOKENS, deterministic=True),
    Example(Build("MlpBlock", 8, out_dim=3), TOKENS, deterministic=True),
    Example(Build("EncoderBlock", mlp_dim=8, num_heads=3), TOKENS, deterministic=True),
    Example(Build("Encoder", 2, 8, 2), TOKENS, train=False),
    Example(Build("Encoder", 1, 8, 2, add_position_embedding=False), TOKENS, train=False),
    Example(Build("VisionTransformer", 5, 4, 6, num_layers=2), IMAGES, train=False),
    Example(
        Build("VisionTransformer", 5, 4, 6, classifier="gap", representation_size=7),
        IMAGES,
        train=False,
    ),
    Example(Build("VisionTransformer", 0, 2, 6), IMAGES, train=False),
    Example(Build("MixerBlock", 4, 8), TOKENS),
    Example(Build("MlpMixer", 4, 6, 2, 3), IMAGES),
    Example(Build("PatchesInTheCall", (2, 2), 6), IMAGES),
]
