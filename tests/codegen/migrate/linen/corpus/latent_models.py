"""Autoencoders with one or several methods."""

from typing import Any, Sequence

import jax
import jax.numpy as jnp
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example


class Decoder(nn.Module):
    features: int = 6

    @nn.compact
    def __call__(self, z):
        z = nn.Dense(5, name="fc1")(z)
        z = nn.relu(z)
        return nn.Dense(self.features, name="fc2")(z)


class VectorQuantizer(nn.Module):
    """Nearest code, the codebook as a parameter, straight-through gradients."""

    n_codes: int
    beta: float = 0.25

    @nn.compact
    def __call__(self, z):
        dim = z.shape[-1]
        codebook = self.param(
            "codebook",
            nn.initializers.variance_scaling(1.0, "fan_in", "uniform"),
            (self.n_codes, dim),
        )
        flat = z.reshape(-1, dim)
        distances = (
            jnp.sum(flat**2, axis=1, keepdims=True)
            - 2 * flat @ codebook.T
            + jnp.sum(codebook**2, axis=1)
        )
        idx = jnp.argmin(distances, axis=-1)
        quantized = jnp.take(codebook, idx, axis=0).reshape(z.shape)
        loss = self.beta * jnp.mean((jax.lax.stop_gradient(quantized) - z) ** 2)
        self.sow("losses", "commitment", loss)
        quantized = z + jax.lax.stop_gradient(quantized - z)
        return quantized, idx.reshape(z.shape[:-1])


class EmaCodebook(nn.Module):
    """The codebook moves by averages that live in a collection of their own."""

    dim: int
    n_codes: int
    decay: float = 0.9

    def setup(self):
        self.embeddings = self.variable(
            "codebook",
            "embeddings",
            lambda: jnp.linspace(-1.0, 1.0, self.dim * self.n_codes).reshape(
                self.n_codes, self.dim
            ),
        )
        self.counts = self.variable("codebook", "counts", jnp.zeros, (self.n_codes,))

    def __call__(self, z, train: bool = False):
        codes = self.embeddings.value
        idx = jnp.argmin(((z[:, None] - codes[None]) ** 2).sum(-1), axis=-1)
        one_hot = jax.nn.one_hot(idx, self.n_codes)
        if train and not self.is_initializing():
            self.counts.value = self.decay * self.counts.value + (1 - self.decay) * one_hot.sum(0)
            target = one_hot.T @ z / jnp.maximum(one_hot.sum(0), 1.0)[:, None]
            self.embeddings.value = self.decay * codes + (1 - self.decay) * target
        return one_hot @ codes

    def lookup(self, indices):
        return self.embeddings.value[indices]


class VQVAE(nn.Module):
    encoder: nn.Module
    decoder: nn.Module
    n_codes: int
    dim: int

    def setup(self):
        self.pre = nn.Dense(self.dim)
        self.quantizer = VectorQuantizer(self.n_codes)

    def __call__(self, x):
        h = self.pre(self.encoder(x))
        quantized, idx = self.quantizer(h)
        return self.decoder(quantized), idx

    def codes(self, x):
        return self.quantizer(self.pre(self.encoder(x)))[1]


class LadderEncoder(nn.Module):
    """A dict of latents, one for each level."""

    widths: Sequence[int]
    latents: Sequence[int]
    act: Any = nn.gelu

    @nn.compact
    def __call__(self, x):
        latents = {}
        for level, (width, size) in enumerate(zip(self.widths, self.latents)):
            x = self.act(nn.Dense(width, name=f"trunk_{level}")(x))
            latents[f"level_{level}"] = {
                "mean": nn.Dense(size, name=f"mean_{level}")(x),
                "std": nn.softplus(nn.Dense(size, name=f"std_{level}")(x)),
            }
        return latents


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
