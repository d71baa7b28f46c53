# fails: AttributeError
import jax
import jax.numpy as jnp
from flax import nnx


class Pair(nnx.TreeNode):
    def __init__(self, left, right):
        self.left = jnp.asarray(left)
        self.right = jnp.asarray(right)


@nnx.dataclass
class Batch(nnx.Pytree):
    images: jax.Array
    size: int = nnx.field(default=2, pytree_node=False)
    scale: float = nnx.field(default=1.0, pytree_node=True)
    note: str = nnx.field(default="none")


batch = Batch(jnp.arange(4.0))
pair = jax.tree.map(lambda x: x * 2, Pair([1.0], [2.0]))
result = len(jax.tree.leaves(batch)), batch.size, batch.note, isinstance(pair, nnx.TreeNode)
