# fails: AttributeError
import jax
import jax.numpy as jnp
from flax import nnx

model = nnx.BatchNorm(2, rngs=nnx.Rngs(0))
static, params, stats = nnx.split(model, nnx.Param, nnx.BatchStat)
other = nnx.clone(model)
model.update(jax.tree.map(lambda leaf: leaf + 1, params))
model.update(params, stats, static)
other.update(model)
model.update(params, static)
result = [nnx.to_pure_dict(nnx.state(each)) for each in (model, other)]
result += [model(jnp.ones((3, 2)), use_running_average=True)]
