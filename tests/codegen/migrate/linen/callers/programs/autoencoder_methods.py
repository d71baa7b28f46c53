"""Methods by name and by function; models that are constructed again for each call."""

import jax
import jax.numpy as jnp
import optax
from flax import linen as nn


class Encoder(nn.Module):
    latents: int

    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(6, name="fc1")(x))
        return nn.Dense(self.latents, name="mean")(x), nn.Dense(self.latents, name="logvar")(x)


class Decoder(nn.Module):
    out: int = 5

    @nn.compact
    def __call__(self, z):
        return nn.Dense(self.out, name="fc2")(nn.relu(nn.Dense(6, name="fc1")(z)))


class VAE(nn.Module):
    latents: int = 2

    def setup(self):
        self.encoder = Encoder(self.latents)
        self.decoder = Decoder()

    def __call__(self, x, z_rng, noise=0.0):
        mean, logvar = self.encoder(x)
        z = mean + noise * jnp.exp(0.5 * logvar)
        return self.decoder(z), mean, logvar

    def encode(self, x):
        return self.encoder(x)

    def generate(self, z):
        return nn.sigmoid(self.decoder(z))


def model():
    return VAE(latents=2)


def train_step(params, opt_state, tx, batch):
    def loss_fn(params):
        recon, mean, logvar = VAE(latents=2).apply({"params": params}, batch, jax.random.PRNGKey(0))
        kl = -0.5 * jnp.mean(1 + logvar - jnp.square(mean) - jnp.exp(logvar))
        return jnp.mean((recon - batch) ** 2) + kl

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = tx.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


def run():
    x = jax.random.normal(jax.random.PRNGKey(4), (3, 5))
    vae = VAE(latents=2)
    key = jax.random.PRNGKey(0)
    params = vae.init({"params": key, "noise": key}, x, key)["params"]
    tx = optax.sgd(0.1)
    opt_state = tx.init(params)
    for _ in range(3):
        params, opt_state, loss = train_step(params, opt_state, tx, x)
    variables = {"params": params}
    mean, _ = vae.apply(variables, x, method="encode")
    again, _ = vae.apply(variables, x, method=VAE.encode)
    third, _ = vae.apply(variables, x, method=vae.encode)
    images = vae.apply(variables, mean, method=vae.generate)
    bound = vae.bind(variables)
    other = vae.apply(variables, mean, method=lambda module, z: module.generate(z) * 2)
    return loss, mean, again, third, images, bound.generate(mean), other, bound(x, key)
