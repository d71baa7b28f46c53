# fails: TypeError
from functools import partial

import jax.numpy as jnp
from flax import nnx


class Block(nnx.Module):
    def __init__(self, rngs: nnx.Rngs):
        self.linear = nnx.Linear(2, 2, rngs=rngs)
        self.dropout = nnx.Dropout(0.5, rngs=rngs)

    def __call__(self, x):
        return self.dropout(self.linear(x))


@partial(nnx.vmap, axis_size=3, state_axes={...: 0})
def create(rngs: nnx.Rngs):
    return Block(rngs)


@partial(nnx.vmap, in_axes=(0, None), axis_size=3, state_axes={nnx.Param: 0, ...: 0})
def each(block: Block, x):
    return block.linear(x)


@nnx.vmap(
    in_axes=(None, 0), axis_size=3, state_axes={nnx.Param: None, ...: None}, split_rngs="dropout"
)
def masked(block: Block, x):
    return block(x)


blocks = create(nnx.Rngs(0))
one = Block(nnx.Rngs(params=1, dropout=2))
x = jnp.ones((3, 2))
result = each(blocks, x[0]), masked(one, x), blocks.linear.kernel.shape
