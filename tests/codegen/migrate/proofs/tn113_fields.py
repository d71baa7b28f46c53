# fails: AttributeError
import jax
import jax.numpy as jnp
from flax import nnx


class Pair(nnx.TreeNode): ...


@nnx.dataclass
class Batch(nnx.Pytree):
    images: jax.Array
    size: int = nnx.field(default=2, pytree_node=False)
    scale: float = nnx.field(default=1.0, pytree_node=True)
    note: str = nnx.field(default="none")


batch = Batch(jnp.arange(4.0))
pair = Pair({"left": jnp.ones(1), "right": jnp.ones(2)})
result = len(jax.tree.leaves(batch)), batch.size, batch.note, isinstance(pair, nnx.TreeNode)
