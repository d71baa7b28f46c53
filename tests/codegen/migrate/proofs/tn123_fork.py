# fails: TypeError
import jax
from flax import nnx


class Block(nnx.Module):
    def __init__(self, features: int, rngs: nnx.Rngs):
        self.linear = nnx.Linear(features, features, rngs=rngs)

    def __call__(self, x):
        return nnx.relu(self.linear(x))


def create(scale, keys):
    block = Block(2, nnx.Rngs(keys))
    return jax.tree.map(lambda leaf: leaf * scale, nnx.state(block))


rngs = nnx.Rngs(0, dropout=1)
keys = rngs.fork(3)
states = jax.vmap(create, in_axes=(None, 0))(2.0, keys)
masks = rngs.fork(2)
result = nnx.to_pure_dict(states), masks["dropout"].key.shape
