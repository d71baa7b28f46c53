# warns: DeprecationWarning
from flax import nnx

model = nnx.Linear(2, 3, rngs=nnx.Rngs(0))
arrays = nnx.pure(nnx.state(model))
held = nnx.vars_as(model, ref=True)
shapes = nnx.abstract_with_sharding(nnx.state(model))
result = [arrays["kernel"], held.kernel.get_metadata("ref"), shapes["kernel"].shape]
