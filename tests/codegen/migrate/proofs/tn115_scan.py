# fails: TypeError
import jax.numpy as jnp
from flax import nnx


@nnx.scan(length=3, carry_argnum=1, state_axes={...: 0}, split_rngs=False)
def through(linear: nnx.Linear, x):
    return linear(x), x


linears = nnx.Linear(2, 2, rngs=nnx.Rngs(3))
linears.kernel = nnx.Param(jnp.ones((3, 2, 2)))
linears.bias = nnx.Param(jnp.ones((3, 2)))
result = through(linears, jnp.ones(2))
