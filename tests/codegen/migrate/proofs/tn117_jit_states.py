# fails: TypeError
from functools import partial

import jax.numpy as jnp
from flax import nnx


@nnx.jit(donate_state=True, constrain_state=False)
def double(model: nnx.Linear, x):
    model.kernel[...] = model.kernel[...] * 2
    return model(x)


@partial(nnx.jit, donate_argnums=2, donate_state=True)
def add(x, model, y):
    return model(x) + y


model = nnx.Linear(2, 3, kernel_init=nnx.initializers.ones, rngs=nnx.Rngs(0))
result = double(model, jnp.ones(2)), add(jnp.ones(2), model, jnp.ones(3)), model.kernel[...]
