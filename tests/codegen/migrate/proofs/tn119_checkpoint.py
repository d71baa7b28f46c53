# stays: take the state of both
import optax
from flax import nnx

model = nnx.Linear(2, 1, rngs=nnx.Rngs(0))
optimizer = nnx.Optimizer(model, optax.sgd(0.5))  # typed-nnx: keep TN118
best = nnx.state(optimizer)
