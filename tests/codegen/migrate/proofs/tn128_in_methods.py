# fails: ValueError
import jax.numpy as jnp
from flax import nnx


class Stack(nnx.Module):
    def __init__(self, depth: nnx.Static[int], rngs: nnx.Rngs):
        self.layers: nnx.Data[list[nnx.Linear]] = [nnx.Linear(2, 2, rngs=rngs)] * depth
        self.depth: nnx.Static[int] = depth


stack = Stack(2, nnx.Rngs(0))
result = stack.layers[1](jnp.ones((1, 2))), stack.depth, len(nnx.to_flat_state(nnx.state(stack)))
