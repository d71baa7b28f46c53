# fails: AttributeError
import jax
import jax.numpy as jnp
from flax import nnx

models = nnx.vmap(lambda rngs: nnx.Linear(2, 3, rngs=rngs))(nnx.Rngs(0).split(4))
static, params = nnx.split(models)


def apply(params, static, x):
    return static.merge(params)(x)


x = jnp.ones((1, 2))
outside = jax.vmap(apply, in_axes=(0, None, None))(params, static, x)
one = jax.tree.map(lambda leaf: leaf[0], params)
result = [outside, static.merge(one)(x)]
