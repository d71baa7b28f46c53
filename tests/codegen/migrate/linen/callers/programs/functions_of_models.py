"""`nn.apply` with a function, `bind` and `init_with_output` of a model that a function makes anew."""

import flax.linen as nn
import jax
import jax.numpy as jnp


class Encoder(nn.Module):
    latents: int

    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Conv(3, (3, 3), strides=(2, 2))(x))
        return nn.Dense(self.latents)(x.reshape(x.shape[0], -1))


class Autoencoder(nn.Module):
    latents: int

    def setup(self):
        self.encoder = Encoder(self.latents)
        self.decoder = nn.Dense(16)

    def __call__(self, x):
        return self.generate(self.encoder(x))

    def generate(self, z):
        return nn.sigmoid(self.decoder(z))


def model(latents):
    return Autoencoder(latents=latents)


@jax.jit
def evaluate(variables, images, z):
    def both(autoencoder):
        return autoencoder(images), autoencoder.generate(z)

    return nn.apply(both, model(2))(variables)


def run():
    images = jax.random.normal(jax.random.PRNGKey(1), (2, 4, 4, 1))
    variables = model(2).init(jax.random.PRNGKey(0), images)
    z = jnp.ones((3, 2))
    decoded = model(2).apply(variables, z, method=lambda one, z: one.decoder(z))
    bound = model(2).bind(variables)
    scaled = nn.apply(lambda one, z, scale: one.generate(z) * scale, model(2))
    later = evaluate(variables, images, z), bound(images), scaled(variables, z, scale=2.0)
    output, again = model(2).init_with_output(jax.random.PRNGKey(0), images)
    return decoded, bound.generate(z), later, model(2).apply(again, images) - output
