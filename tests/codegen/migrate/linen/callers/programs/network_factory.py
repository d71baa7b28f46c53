"""A function that makes a network: `init` and `apply` of a module in a dataclass."""

import dataclasses
from typing import Any, Callable, Sequence

import flax.linen as nn
import jax
import jax.numpy as jnp


@dataclasses.dataclass
class FeedForwardNetwork:
    init: Callable[..., Any]
    apply: Callable[..., Any]


class MLP(nn.Module):
    layer_sizes: Sequence[int]
    activate_final: bool = False

    @nn.compact
    def __call__(self, data: jnp.ndarray):
        hidden = data
        for i, hidden_size in enumerate(self.layer_sizes):
            hidden = nn.Dense(hidden_size, name=f"hidden_{i}")(hidden)
            if i != len(self.layer_sizes) - 1 or self.activate_final:
                hidden = nn.swish(hidden)
        return hidden


def make_policy_network(param_size: int, obs_size: int, hidden=(6, 6)) -> FeedForwardNetwork:
    policy_module = MLP(layer_sizes=list(hidden) + [param_size])

    def apply(processor_params, policy_params, obs):
        obs = obs * processor_params
        return policy_module.apply(policy_params, obs)

    dummy_obs = jnp.zeros((1, obs_size))
    return FeedForwardNetwork(init=lambda key: policy_module.init(key, dummy_obs), apply=apply)


def run():
    net = make_policy_network(2, 5)
    params = net.init(jax.random.PRNGKey(0))
    obs = jax.random.normal(jax.random.PRNGKey(1), (3, 5))
    out = net.apply(2.0, params, obs)
    grads = jax.grad(lambda p: net.apply(2.0, p, obs).sum())(params)
    return out, sum(jnp.sum(jnp.abs(g)) for g in jax.tree.leaves(grads))
