"""Parameters as dicts: frozen, flattened, as bytes, by path."""

import jax
import jax.numpy as jnp
from flax import linen as nn
from flax import serialization, traverse_util
from flax.core import freeze, unfreeze
from flax.core.frozen_dict import FrozenDict


class Tower(nn.Module):
    sizes: tuple = (4, 3)

    @nn.compact
    def __call__(self, x):
        for i, size in enumerate(self.sizes):
            x = nn.relu(nn.Dense(size, name=f"layer_{i}")(x))
        return nn.LayerNorm(name="norm")(x)


def count(params):
    return sum(x.size for x in jax.tree_util.tree_leaves(params))


def run():
    x = jnp.arange(6.0).reshape(2, 3)
    tower = Tower()
    variables = tower.init(jax.random.key(0), x)
    params = freeze(variables["params"])
    assert isinstance(params, FrozenDict)
    flat = traverse_util.flatten_dict(unfreeze(params), sep="/")
    flat = {
        path: value * 1.5 if path.endswith("kernel") else value + 0.1
        for path, value in flat.items()
    }
    changed = traverse_util.unflatten_dict(flat, sep="/")
    data = serialization.to_bytes(changed)
    restored = serialization.from_bytes(jax.tree.map(jnp.zeros_like, changed), data)
    mask = jax.tree_util.tree_map_with_path(lambda path, value: value.ndim > 1, restored)
    return count(restored), tower.apply({"params": restored}, x), sum(jax.tree.leaves(mask))
