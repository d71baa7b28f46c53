# fails: TypeError
import jax.numpy as jnp
import optax
from flax import nnx

model = nnx.Linear(2, 1, rngs=nnx.Rngs(0), kernel_init=nnx.initializers.ones)
optimizer = nnx.Optimizer(model, optax.sgd(0.5))
best = nnx.state(optimizer)  # with its model, and with values of its own
for _ in range(2):
    optimizer.update(nnx.grad(lambda m: m(jnp.ones((1, 2))).sum())(model))
last = [model.bias.value, optimizer.step.value]
nnx.update(optimizer, best)
result = [last, model.bias.value, optimizer.step.value, sorted(best)]
