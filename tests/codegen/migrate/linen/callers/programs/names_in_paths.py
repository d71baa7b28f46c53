"""Code that asks for parameters by the names that Linen gave them."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax import serialization, traverse_util
from jax.flatten_util import ravel_pytree


class Block(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return x + nn.Dense(self.width)(nn.LayerNorm()(x))


class Net(nn.Module):
    blocks: int = 2

    def setup(self):
        self.layers = [Block(4) for _ in range(self.blocks)]

    @nn.compact
    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        x = nn.RNN(nn.OptimizedLSTMCell(3))(x)
        return nn.Sequential([nn.Dense(5), nn.relu, nn.Dense(2, name="last")])(x)


def run():
    net = Net()
    x = jnp.linspace(-1.0, 1.0, 24).reshape(2, 3, 4)
    params = net.init(jax.random.key(0), x)["params"]
    flat, _ = ravel_pytree(params)
    filled = jax.tree.map(lambda one: jnp.sin(jnp.arange(one.size)).reshape(one.shape), params)

    def label(path, _):
        return "none" if "layers_0" in path or path[-1] == "scale" else "sgd"

    labels = traverse_util.path_aware_map(label, filled)
    tx = optax.multi_transform({"none": optax.set_to_zero(), "sgd": optax.sgd(0.1)}, labels)
    grads = jax.grad(lambda p: net.apply({"params": p}, x).sum())(filled)
    updates, _ = tx.update(grads, tx.init(filled))
    new = optax.apply_updates(filled, updates)
    new["layers_1"]["Dense_0"]["kernel"] = new["layers_1"]["Dense_0"]["kernel"] * 2
    again = serialization.from_bytes(new, serialization.to_bytes(new))
    sizes = {name: sum(map(jnp.size, jax.tree.leaves(one))) for name, one in again.items()}
    names = {"/".join(path): 0 for path in traverse_util.flatten_dict(again)}
    return net.apply({"params": again}, x), flat.size, sizes, names
