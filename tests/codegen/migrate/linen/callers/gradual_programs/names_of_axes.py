"""A model whose variables have names of axes, made by a function of the file, beside another."""

import flax.linen as nn
import jax
import jax.numpy as jnp

with_axes = nn.with_logical_partitioning
kernel = nn.initializers.xavier_uniform()


class Table(nn.Module):
    @nn.compact
    def __call__(self, tokens):
        table = self.param(
            "table", with_axes(nn.initializers.normal(0.1), ("vocab", "embed")), (7, 4)
        )
        x = jnp.asarray(table)[tokens]
        return nn.Dense(3, kernel_init=with_axes(kernel, ("embed", "mlp")))(x)


class Head(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(2, kernel_init=kernel)(x)


def run():
    tokens = jnp.arange(6) % 5
    model = Table()
    boxed = model.init(jax.random.key(0), tokens)
    names = nn.get_partition_spec(boxed)["params"]["table"]
    variables = nn.unbox(boxed)
    x = model.apply(variables, tokens)
    head = Head()
    return [len(names), x, head.apply(head.init(jax.random.key(1), x), x)]
