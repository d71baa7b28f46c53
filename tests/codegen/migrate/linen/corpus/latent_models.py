"""Autoencoders with one or several methods."""

from typing import Any, Sequence

import jax
import jax.numpy as jnp
from flax import linen as nn


class Encoder(nn.Module):
    """Two heads for mean and log variance."""

    latents: int

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(7, name="fc1")(x)
        x = nn.relu(x)
        mean_x = nn.Dense(self.latents, name="fc2_mean")(x)
        logvar_x = nn.Dense(self.latents, name="fc2_logvar")(x)
        return mean_x, logvar_x


class Decoder(nn.Module):
    features: int = 6

    @nn.compact
    def __call__(self, z):
        z = nn.Dense(5, name="fc1")(z)
        z = nn.relu(z)
        return nn.Dense(self.features, name="fc2")(z)


def reparameterize(rng, mean, logvar):
    std = jnp.exp(0.5 * logvar)
    eps = jax.random.normal(rng, logvar.shape)
    return mean + eps * std


class VAE(nn.Module):
    latents: int = 4

    def setup(self):
        self.encoder = Encoder(self.latents)
        self.decoder = Decoder()

    def __call__(self, x, z_rng):
        mean, logvar = self.encoder(x)
        z = reparameterize(z_rng, mean, logvar)
        recon_x = self.decoder(z)
        return recon_x, mean, logvar

    def encode(self, x):
        return self.encoder(x)

    def generate(self, z):
        return nn.sigmoid(self.decoder(z))


class NoisyVAE(nn.Module):
    """Draws from a stream of its own; deterministic on request."""

    latents: int
    width: int

    @nn.compact
    def __call__(self, x, deterministic: bool = False):
        h = nn.elu(nn.Dense(self.width)(x))
        mu, logvar = jnp.split(nn.Dense(2 * self.latents)(h), 2, axis=-1)
        if deterministic:
            z = mu
        else:
            eps = jax.random.normal(self.make_rng("noise"), mu.shape)
            z = mu + jnp.exp(0.5 * logvar) * eps
        h = nn.elu(nn.Dense(self.width)(z))
        return nn.Dense(x.shape[-1])(h), mu, logvar


class ConvVAE(nn.Module):
    hidden_channels: Sequence[int]
    latent_dim: int
    image_channels: int = 3

    def setup(self):
        self.down = [nn.Conv(c, (3, 3), strides=(2, 2)) for c in self.hidden_channels]
        self.to_latent = nn.Dense(self.latent_dim * 2)
        self.from_latent = nn.Dense(2 * 2 * self.hidden_channels[-1])
        self.up = [
            nn.ConvTranspose(c, (3, 3), strides=(2, 2)) for c in reversed(self.hidden_channels)
        ]
        self.to_image = nn.Conv(self.image_channels, (3, 3))

    def encode(self, x):
        for conv in self.down:
            x = nn.relu(conv(x))
        x = x.reshape((x.shape[0], -1))
        mean, logvar = jnp.split(self.to_latent(x), 2, axis=-1)
        return mean, logvar

    def decode(self, z):
        h = self.from_latent(z)
        h = h.reshape((-1, 2, 2, self.hidden_channels[-1]))
        for conv in self.up:
            h = nn.relu(conv(h))
        return self.to_image(h)

    def __call__(self, x):
        mean, _ = self.encode(x)
        return self.decode(mean)


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
