# fails: AttributeError
import jax
import jax.numpy as jnp
from flax import nnx

pretrained = nnx.state(nnx.Linear(2, 3, rngs=nnx.Rngs(1)))
del pretrained["bias"]


def restored(state: nnx.State, rngs: nnx.Rngs):
    return nnx.Linear.partial_init(state)(2, 3, bias_init=jax.nn.initializers.ones, rngs=rngs)


model = nnx.Linear.partial_init(pretrained)(2, 3, rngs=nnx.Rngs(0))
x = jnp.ones((1, 2))
result = [model(x), restored(pretrained, nnx.Rngs(0))(x), pretrained["kernel"][...]]
