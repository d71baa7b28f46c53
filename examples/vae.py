"""A variational autoencoder that learns to draw handwritten digits.

Run ``python -m examples.vae``. The model draws its own random numbers from a stream of its `Rngs`,
inside the compiled step; they are other ones in each step because the stream's count is state.

Source: Kingma and Welling, "Auto-encoding variational Bayes", https://arxiv.org/abs/1312.6114.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from sklearn.datasets import load_digits

import typed_nnx as nnx

PIXELS, HIDDEN, LATENT = 64, 128, 8
ROWS = 128  # of a batch


class Gaussian(NamedTuple):
    """Independent normal distributions: mean and logarithm of the variance, float [batch, latent]."""

    mean: jax.Array
    log_variance: jax.Array

    def divergence(self) -> jax.Array:
        """Return the Kullback-Leibler divergence from the standard normal, float [batch] in nats."""
        variance = jnp.exp(self.log_variance)
        return 0.5 * (variance + self.mean**2 - 1.0 - self.log_variance).sum(-1)


class Encoder(nnx.Module):
    """Tells from images, float [batch, 64], how each may have been thought of."""

    def __init__(self, *, rngs: nnx.Rngs) -> None:
        self.hidden = nnx.Linear(PIXELS, HIDDEN, rngs=rngs)
        self.mean = nnx.Linear(HIDDEN, LATENT, rngs=rngs)
        self.log_variance = nnx.Linear(HIDDEN, LATENT, rngs=rngs)

    def __call__(self, images: jax.Array) -> Gaussian:
        x = nnx.relu(self.hidden(images))
        return Gaussian(self.mean(x), self.log_variance(x))


class Decoder(nnx.Module):
    """Draws thoughts, float [batch, latent], as logits of pixels, float [batch, 64]."""

    def __init__(self, *, rngs: nnx.Rngs) -> None:
        self.hidden = nnx.Linear(LATENT, HIDDEN, rngs=rngs)
        self.pixels = nnx.Linear(HIDDEN, PIXELS, rngs=rngs)

    def __call__(self, thoughts: jax.Array) -> jax.Array:
        return self.pixels(nnx.relu(self.hidden(thoughts)))


class VAE(nnx.Module):
    """Encoder, noise and decoder: images, float [batch, 64], to logits of pixels and a `Gaussian`."""

    def __init__(self, *, rngs: nnx.Rngs) -> None:
        self.encoder = Encoder(rngs=rngs)
        self.decoder = Decoder(rngs=rngs)
        self.rngs = rngs.fork()

    def __call__(self, images: jax.Array) -> tuple[jax.Array, Gaussian]:
        thought = self.encoder(images)
        noise = self.rngs.noise.normal(thought.mean.shape)
        return self.decoder(thought.mean + jnp.exp(0.5 * thought.log_variance) * noise), thought

    def draw(self, count: int) -> jax.Array:
        """Return new images, float [count, 64] from 0 to 1."""
        return nnx.sigmoid(self.decoder(self.rngs.noise.normal((count, LATENT))))


def loss_of(model: VAE, images: jax.Array) -> jax.Array:
    """Return the negative evidence lower bound in nats per image, float []."""
    logits, thought = model(images)
    surprise: jax.Array = optax.sigmoid_binary_cross_entropy(logits, images).sum(-1)
    return (surprise + thought.divergence()).mean()


@nnx.jit
def train_step(model: VAE, optimizer: nnx.Optimizer[VAE], images: jax.Array) -> jax.Array:
    """Take a step, and return the loss before it."""
    loss: jax.Array
    loss, slopes = nnx.value_and_grad(loss_of)(model, images)
    optimizer.update(model, slopes)
    return loss


def load() -> np.ndarray:
    """Return the digits that ship with scikit-learn, float32 [1797, 64] from 0 to 1."""
    pixels, _ = load_digits(return_X_y=True)
    return np.asarray(pixels / 16.0, np.float32)


def train(steps: int, seed: int = 0) -> tuple[VAE, list[float]]:
    """Return a trained model, and the losses of the steps."""
    images, rng = load(), np.random.default_rng(seed)
    model = VAE(rngs=nnx.Rngs(seed))
    optimizer = nnx.Optimizer(model, optax.adam(3e-3), wrt=nnx.Param)
    losses = []
    for _ in range(steps):
        batch = images[rng.integers(0, len(images), ROWS)]
        losses.append(train_step(model, optimizer, jnp.asarray(batch)))
    return model, [float(loss) for loss in losses]


def picture(image: np.ndarray) -> str:
    """Return an image, float [64] from 0 to 1, as eight lines of text."""
    shades = np.array(list(" .:-=+*#%@"))
    rows = shades[(image * 9.99).astype(int)].reshape(8, 8)
    return "\n".join("".join(np.repeat(row, 2)) for row in rows)


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, and print digits that nobody wrote."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1500)
    model, losses = train(parser.parse_args(arguments).steps)
    print(f"loss in nats per image: {losses[0]:.1f} at first, {np.mean(losses[-20:]):.1f} at last")
    for image in np.asarray(model.draw(3)):
        print(picture(image), end="\n\n")


if __name__ == "__main__":
    main()
