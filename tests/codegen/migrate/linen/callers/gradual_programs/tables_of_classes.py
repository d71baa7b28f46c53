"""Modules that a table has, and a wrapper that takes any module."""

from typing import Any

import flax.linen as nn
import flax.struct
import jax
import jax.numpy as jnp


class Small(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(1)(nn.relu(nn.Dense(self.width)(x)))


class Wide(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(1)(nn.tanh(nn.Dense(4 * self.width)(x)))


class Made(nn.Module):
    size: int

    @nn.compact
    def __call__(self, z, train: bool):
        z = nn.Dense(self.size, use_bias=False)(z)
        return nn.BatchNorm(use_running_average=not train)(z)


KINDS: dict[str, type[nn.Module]] = {"small": Small, "wide": Wide}


@flax.struct.dataclass
class Player:
    module: nn.Module = flax.struct.field(pytree_node=False)
    params: Any
    rest: Any

    @classmethod
    def make(cls, module, rng, *inputs):
        variables = module.init(rng, *inputs)
        rest, params = flax.core.pop(variables, "params")
        return cls(module, params, rest)

    def __call__(self, params, *args):
        return self.module.apply({"params": params, **self.rest}, *args)


def run():
    x = jnp.sin(jnp.arange(8.0)).reshape(4, 2)
    made = Player.make(Made(2), jax.random.key(0), x, True)
    found = [made(made.params, x, False)]
    for kind in KINDS:
        one = Player.make(KINDS[kind](3), jax.random.key(2), x)
        loss, grads = jax.value_and_grad(lambda p, one=one: jnp.mean(one(p, x) ** 2))(one.params)
        found += [loss, *jax.tree.leaves(grads)]
    return found
