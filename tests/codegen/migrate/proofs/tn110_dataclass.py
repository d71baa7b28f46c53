# fails: ValueError
from dataclasses import dataclass, field

import jax.numpy as jnp
from flax import nnx


@dataclass
class Stack(nnx.Module):
    layers: list[nnx.Linear]
    heads: dict[str, nnx.Linear] = field(default_factory=dict)
    names: tuple[str, ...] = ("a", "b")


rngs = nnx.Rngs(0)
stack = Stack([nnx.Linear(2, 2, rngs=rngs)])
stack.heads["a"] = nnx.Linear(2, 1, rngs=rngs)
y = stack.heads["a"](stack.layers[0](jnp.ones((1, 2))))
result = y, stack.names, [str(path) for path, _ in nnx.to_flat_state(nnx.state(stack))]
