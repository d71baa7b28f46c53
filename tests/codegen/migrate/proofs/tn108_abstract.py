# fails: AttributeError
import jax
import jax.numpy as jnp
from flax import nnx

rngs = nnx.Rngs(0)
abstract = nnx.Linear.create_abstract(2, 3, rngs=rngs)
state, static = nnx.Linear.create_abstract(2, 3, rngs=nnx.Rngs(0))
params, static = nnx.Linear.init(2, 3, rngs=rngs)
result = [
    abstract.kernel.get_value().shape,
    state["kernel"].get_value().shape,
    static.merge(params)(jnp.ones((1, 2))),
    jax.random.key_data(rngs()),
]
