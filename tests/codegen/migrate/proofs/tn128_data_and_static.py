# warns: DeprecationWarning
import dataclasses

import jax.numpy as jnp
from flax import nnx


class Stack(nnx.Module):
    layers: nnx.Data[list[nnx.Linear]]
    names: nnx.Static[tuple[str, ...]]
    scale: nnx.Static[float] = 0.5

    def __init__(self, rngs: nnx.Rngs):
        self.layers = [nnx.Linear(2, 2, rngs=rngs) for _ in range(2)]
        self.names = ("first", "second")

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x) * self.scale
        return x


@dataclasses.dataclass
class Pair(nnx.Module):
    parts: nnx.Data[list[nnx.Module]]
    count: nnx.Static[int] = 3
    extra: nnx.Data[dict[str, nnx.Module]] = dataclasses.field(default_factory=dict)


stack = Stack(nnx.Rngs(0))
pair = Pair([stack])
pair.extra["more"] = nnx.Linear(1, 1, rngs=nnx.Rngs(1))
paths = [str(path) for path, _ in nnx.to_flat_state(nnx.state(pair))]
result = stack(jnp.ones((1, 2))), pair.count, paths
