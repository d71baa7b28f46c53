# stays: while the model changes
import optax
from flax import nnx

model = nnx.Linear(2, 3, rngs=nnx.Rngs(0))
optimizer = nnx.Optimizer(model, optax.sgd(0.1))  # typed-nnx: keep TN118
best = nnx.state(model)
