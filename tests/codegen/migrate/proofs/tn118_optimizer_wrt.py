# fails: TypeError
from functools import partial

import jax.numpy as jnp
import optax
from flax import nnx


class Counting(nnx.Optimizer):
    def __init__(self, model, tx):
        super().__init__(model, tx)
        self.calls = 0


model = nnx.Linear(2, 3, kernel_init=nnx.initializers.ones, rngs=nnx.Rngs(0))
make = partial(nnx.Optimizer, tx=optax.sgd(0.1))
first = nnx.Optimizer(model, optax.sgd(0.1))
second = nnx.Optimizer(model, optax.sgd(0.1), nnx.Param)
grads = nnx.grad(lambda model: model(jnp.ones(2)).sum())(model)
for optimizer in (first, second, make(model), Counting(model, optax.sgd(0.1))):
    optimizer.update(model, grads)
result = model(jnp.ones(2))
