# fails: AttributeError
import jax
import jax.numpy as jnp
from flax import nnx

model = nnx.BatchNorm(2, rngs=nnx.Rngs(0))
graphdef, params, stats = model.split(nnx.Param, nnx.BatchStat)


@jax.jit
def forward(params, stats, x):
    model = graphdef.merge(params, stats)
    y = model(x)
    return y, model.split(nnx.Param, nnx.BatchStat)[2]


y, stats = forward(params, stats, jnp.arange(8.0).reshape(4, 2))
result = [y, sorted(stats)]
