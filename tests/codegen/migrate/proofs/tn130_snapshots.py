# fails: AttributeError
import jax.numpy as jnp
from flax import nnx


class Model(nnx.Module):
    def __init__(self, rngs: nnx.Rngs):
        self.linear = nnx.Linear(2, 2, kernel_init=nnx.initializers.ones, rngs=rngs)
        self.count = nnx.BatchStat(jnp.array(0))

    def __call__(self, x):
        self.count.value += 1
        return self.linear(x)


model = Model(nnx.Rngs(0))
graphdef, before = nnx.split(model)
model(jnp.ones((1, 2)))
model.linear.bias.value = jnp.arange(2.0)
doubled = {
    path: leaf.replace(leaf.value * 2)
    for path, leaf in nnx.state(model).flat_state().items()
    if isinstance(leaf, nnx.VariableState)
}
other = nnx.merge(graphdef, nnx.State.from_flat_path(doubled))
y = other(jnp.ones((1, 2)))
first = nnx.merge(graphdef, before)
first(jnp.ones((1, 2)))
result = [y, other.count.value, model.count.value, before["count"].value, before.to_pure_dict()]
