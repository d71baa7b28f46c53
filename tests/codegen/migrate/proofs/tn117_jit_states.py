# fails: TypeError
import jax.numpy as jnp
from flax import nnx


@nnx.jit(donate_state=False, constrain_state=False)
def double(model: nnx.Linear, x):
    model.kernel[...] = model.kernel[...] * 2
    return model(x)


model = nnx.Linear(2, 3, kernel_init=nnx.initializers.ones, rngs=nnx.Rngs(0))
result = double(model, jnp.ones(2)), model.kernel[...]
