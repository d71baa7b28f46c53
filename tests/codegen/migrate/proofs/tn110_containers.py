# fails: ValueError
import jax.numpy as jnp
from flax import nnx


def linears(count, rngs):
    return [nnx.Linear(2, 2, rngs=rngs) for _ in range(count)]


class Net(nnx.Module):
    def __init__(self, block, rngs: nnx.Rngs):
        self.a = [nnx.Linear(2, 2, rngs=rngs), nnx.relu]
        self.b = []
        for _ in range(2):
            self.b.append(nnx.Linear(2, 2, rngs=rngs))
        self.c = linears(2, rngs)
        self.d = {"x": nnx.Linear(2, 2, rngs=rngs)}
        self.e = {1: nnx.Linear(2, 2, rngs=rngs)}
        self.f = nnx.Linear(2, 2, rngs=rngs), nnx.relu
        self.g = [[nnx.Linear(2, 2, rngs=rngs)], [jnp.ones((1, 2))]]
        self.h = [block(2, 2, rngs=rngs)]
        self.i = {"items": nnx.Linear(2, 2, rngs=rngs)}
        self.j = {}
        for number in range(2):
            self.j[f"j{number}"] = nnx.Linear(2, 2, rngs=rngs)
        self.k = [nnx.Linear(2, 2, rngs=rngs)]
        self.sizes = (2, 2)

    def __call__(self, x):
        layers = self.k + list(self.f) + [*self.a, *self.b, *self.c, *self.g[0], *self.h]
        for layer in [*layers, *self.d.values(), *self.e.values(), *self.j.values()]:
            x = layer(x)
        for _, layer in self.i.items():
            x = layer(x)
        return x + self.g[1][0] * self.sizes[0]


net = Net(nnx.Linear, nnx.Rngs(0))
y = nnx.jit(lambda module, x: module(x))(net, jnp.ones((1, 2)))
result = y, [str(path) for path, _ in nnx.to_flat_state(nnx.state(net))]
