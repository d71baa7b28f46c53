# fails: AttributeError
import jax.numpy as jnp
from flax import nnx


class Count(nnx.Variable):
    pass


class Counter(nnx.Module):
    def __init__(self, *, rngs: nnx.Rngs):
        self.linear = nnx.Linear(2, 3, rngs=rngs)
        self.count = Count(jnp.zeros((), jnp.int32))

    def parts(self):
        return self.split(nnx.Param, Count)


model = Counter(rngs=nnx.Rngs(0))
state, static = model.split()
params, counts, static = model.split(nnx.Param, Count)
also_params, also_counts, definition = model.parts()
pair = model.split()
model = static.merge(params, counts)
result = [
    [sorted(part) for part in (params, counts, state, also_params, also_counts)],
    sorted(pair[0]),
    model.linear(jnp.ones((1, 2))),
    definition.merge(also_params, also_counts).linear(jnp.ones((1, 2))),
]
