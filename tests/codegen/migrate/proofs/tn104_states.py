# fails: AttributeError
from flax import nnx

model = nnx.BatchNorm(2, rngs=nnx.Rngs(0))
params, stats = model.extract(nnx.Param, nnx.BatchStat)
result = [sorted(part) for part in (model.get_state(), model.extract(nnx.Param), params, stats)]
