# fails: AttributeError
import jax
import jax.numpy as jnp
from flax import nnx

static, params, rest = nnx.split(nnx.BatchNorm(2, rngs=nnx.Rngs(0)), nnx.Param, ...)


@jax.jit
def step(params, rest, x):
    def loss(params, stats):
        model = static.merge(params, stats)
        y = static.merge(params, rest)(model(x))
        return jnp.sum(y**2), nnx.state(model, nnx.BatchStat)

    return jax.value_and_grad(loss, has_aux=True)(params, rest)


(loss, stats), grads = step(params, rest, jnp.arange(8.0).reshape(4, 2))
result = [loss, nnx.to_pure_dict(stats), nnx.to_pure_dict(grads), nnx.to_pure_dict(rest)]
