# fails: TypeError
from functools import partial

import jax.numpy as jnp
from flax import nnx


class Model(nnx.Module):
    def __init__(self, rngs):
        self.linear = nnx.Linear(2, 3, rngs=rngs)
        self.scale = nnx.BatchStat(jnp.ones(3))

    def __call__(self, x):
        return self.linear(x) * self.scale[...]


def loss_fn(model, other, x):
    return jnp.sum((model(x) + other(x)) ** 2 * x.sum())


@partial(nnx.value_and_grad, wrt=nnx.Param, has_aux=True)
def with_aux(model, x):
    return jnp.sum(model(x)), "aux"


one, two = Model(nnx.Rngs(0)), Model(nnx.Rngs(1))
x = jnp.ones(2)
of_first = nnx.grad(loss_fn, argnums=0, wrt=nnx.BatchStat)(one, two, x)
of_second = nnx.grad(loss_fn, 1, wrt=nnx.BatchStat)(one, two, x)
(loss, aux), grads = with_aux(one, x)
result = [nnx.to_pure_dict(state) for state in (of_first, of_second, grads)], loss, aux
