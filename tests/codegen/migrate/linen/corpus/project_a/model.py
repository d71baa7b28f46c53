"""Models over the encoders."""

import jax.numpy as jnp
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example

from . import encoders
from .encoders import StateEncoder
from .layers import ResidualMLP


class Agent(nn.Module):
    """Joins two encoders, whose outputs are in a named tuple."""

    width: int
    actions: int

    def setup(self):
        self.state_encoder = StateEncoder(self.width)
        self.image_encoder = encoders.ImageEncoder(keypoints=False)
        self.policy = nn.Sequential([ResidualMLP(self.width), nn.Dense(self.actions)])
        self.value = nn.Dense(1)

    def __call__(self, obs):
        state = self.state_encoder(obs["state"])
        image = self.image_encoder(obs["image"])
        joint = jnp.concatenate([state.features, image.features], axis=-1)
        return self.policy(joint), self.value(joint)[..., 0]


class Classifier(nn.Module):
    classes: int

    @nn.compact
    def __call__(self, images):
        features, tokens = encoders.ImageEncoder()(images)
        pooled = nn.Dense(6, name="pool")(tokens).max(axis=1)
        return nn.Dense(self.classes, name="head")(jnp.concatenate([features, pooled], -1))


X = jnp.sin(jnp.arange(12.0)).reshape(2, 6)
IMAGES = jnp.sin(jnp.arange(2 * 8 * 8 * 3.0)).reshape(2, 8, 8, 3)

EXAMPLES = [
    Example(Build("Agent", 4, 3), {"state": X, "image": IMAGES}),
    Example(Build("Classifier", classes=5), IMAGES),
]
