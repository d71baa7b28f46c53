# fails: AttributeError
import jax
import jax.numpy as jnp
from flax import nnx


class Noise(nnx.Module):
    def __init__(self, scale: float, rngs: nnx.Rngs):
        self.scale = scale
        self.rngs = rngs

    def __call__(self, x):
        key = self.make_rng("noise")
        return x + self.scale * jax.random.normal(key, x.shape)


noise = Noise(0.1, nnx.Rngs(0, noise=1))
result = noise(jnp.ones((2, 3))), noise(jnp.ones((2, 3)))
