"""A state that holds the module itself; one of the modules has no inputs."""

from __future__ import annotations

from typing import Any

import flax
import flax.linen as nn
import jax
import jax.numpy as jnp


class Policy(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(nn.tanh(nn.Dense(self.width)(x)))


class Temperature(nn.Module):
    first: float = 1.0

    @nn.compact
    def __call__(self):
        log = self.param("log", init_fn=lambda key: jnp.full((), jnp.log(self.first)))
        return jnp.exp(log)


@flax.struct.dataclass
class Model:
    module: nn.Module = flax.struct.field(pytree_node=False)
    params: Any

    @classmethod
    def create(cls, module: nn.Module, *inputs) -> Model:
        return cls(module=module, params=module.init(*inputs)["params"])

    def __call__(self, *args):
        return self.module.apply({"params": self.params}, *args)


def losses(policy, temperature, x):
    def loss_of_temperature(params):
        return 3.0 * temperature.module.apply({"params": params})

    def loss_of_policy(params):
        return (policy.module.apply({"params": params}, x) ** 2).mean() * temperature()

    temperature_loss, grad = jax.value_and_grad(loss_of_temperature)(temperature.params)
    return temperature_loss, grad["log"], loss_of_policy(policy.params)


def run():
    x = jax.random.normal(jax.random.key(1), (4, 3))
    policy = Model.create(Policy(5), jax.random.key(2), x)
    temperature = Model.create(Temperature(0.5), jax.random.key(3))
    return losses(policy, temperature, x), policy(x)
