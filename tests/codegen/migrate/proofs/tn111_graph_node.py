# fails: AttributeError
import jax
import jax.numpy as jnp
from flax import nnx


class Counter(nnx.GraphNode):
    def __init__(self, start: int):
        self.count = nnx.Variable(jnp.array(start))
        self.name = "counter"

    def step(self) -> None:
        self.count[...] += 1


counter = Counter(2)
nnx.jit(lambda node: node.step())(counter)
layer = nnx.Linear(2, 3, rngs=nnx.Rngs(0))
result = counter.count[...], isinstance(layer, nnx.Object), len(jax.tree.leaves(counter))
