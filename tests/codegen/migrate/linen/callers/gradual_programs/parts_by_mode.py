"""A model of which one part cannot be migrated, with a call that needs to know whether it trains."""

import flax.linen as nn
import jax
import jax.numpy as jnp


class Halved(nn.Module):
    width: int
    deterministic: bool | None = None

    @nn.compact
    def __call__(self, x, deterministic: bool | None = None):
        quiet = nn.merge_param("deterministic", self.deterministic, deterministic)
        width = self.width
        while width > 1:
            x = nn.Dense(4)(x)
            width //= 2
        return x if quiet else 2 * x


class Block(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        return Halved(4)(nn.Dense(3)(x), deterministic=not train)


class Other(nn.Module):
    @nn.compact
    def __call__(self, x, train=False):
        x = nn.Dense(2)(x)
        return nn.BatchNorm(use_running_average=not train)(x)


def run():
    x = jnp.sin(jnp.arange(6.0)).reshape(2, 3)
    found = []
    for model in (Block(), Other()):
        variables = model.init(jax.random.key(0), x, False)
        found.append(model.apply(variables, x, False))
        found.append(model.apply(variables, x, True, mutable=["batch_stats"])[0])
    return found
