"""Parameters that are read and changed by their names."""

import jax
import jax.numpy as jnp
from flax import linen as nn


class Stack(nn.Module):
    n: int = 2

    @nn.compact
    def __call__(self, x):
        for _ in range(self.n):
            x = nn.Dense(3)(x)
        return nn.LayerNorm()(x)


class Outer(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = Stack()(x)
        return nn.Dense(2, name="head")(x)


def run():
    x = jnp.arange(6.0).reshape(2, 3)
    model = Outer()
    variables = model.init(jax.random.PRNGKey(0), x)
    kernel = variables["params"]["Stack_0"]["Dense_1"]["kernel"]
    scale = variables["params"]["Stack_0"]["LayerNorm_0"]["scale"]
    params = jax.tree.map(lambda p: p, variables["params"])
    params["Stack_0"]["Dense_0"]["bias"] = jnp.ones(3)
    params["head"]["bias"] = params["head"]["bias"] + 1
    return kernel, scale, model.apply({"params": params}, x)
