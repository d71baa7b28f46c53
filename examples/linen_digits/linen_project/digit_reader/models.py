"""A small convolutional network for images of digits."""

import flax.linen as nn
import jax
import jax.numpy as jnp


class ConvBlock(nn.Module):
    """A convolution, batch normalization and an activation: float [batch, height, width, _]."""

    features: int

    @nn.compact
    def __call__(self, x: jax.Array, train: bool) -> jax.Array:
        x = nn.Conv(self.features, kernel_size=(3, 3), use_bias=False)(x)
        x = nn.BatchNorm(use_running_average=not train, momentum=0.9)(x)
        return nn.gelu(x)


class Head(nn.Module):
    """Two layers from features to one logit for each class, with dropout between them."""

    classes: int
    width: int = 64
    rate: float = 0.2

    def setup(self) -> None:
        self.grow = nn.Dense(self.width)
        self.dropout = nn.Dropout(self.rate)
        self.logits = nn.Dense(self.classes)

    def __call__(self, x: jax.Array, train: bool) -> jax.Array:
        x = nn.gelu(self.grow(x))
        x = self.dropout(x, deterministic=not train)
        return self.logits(x)


class DigitReader(nn.Module):
    """Convolutions, their mean over the image, and a head: logits as float [batch, classes]."""

    widths: tuple[int, ...] = (16, 32, 64)
    classes: int = 10

    @nn.compact
    def __call__(self, images: jax.Array, train: bool = False) -> jax.Array:
        x = images
        for width in self.widths:
            x = ConvBlock(width)(x, train)
        x = jnp.mean(x, axis=(1, 2))
        return Head(self.classes, name="head")(x, train)
