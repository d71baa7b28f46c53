"""A program that asks a module for what only those of Linen have, beside another module."""

import flax.linen as nn
import jax
import jax.numpy as jnp


class Judge(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(1)(x)


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(nn.relu(nn.Dense(4)(x)))


def run():
    x = jnp.cos(jnp.arange(6.0)).reshape(2, 3)
    net, judge = Net(), Judge()
    variables = net.init(jax.random.key(3), x)
    x = net.apply(variables, x)
    judging = judge.init(jax.random.key(0), x)
    paths = [one for one in judge.module_paths(jax.random.key(0), x) if one]
    return [x, judge.apply(judging, x), len(paths)]
