# stays: nnx.capture
import jax.numpy as jnp
from flax import nnx


class Model(nnx.Module):
    def __init__(self, rngs: nnx.Rngs):
        self.linear = nnx.Linear(2, 3, rngs=rngs)

    def __call__(self, x):
        x = self.linear(x)
        self.sow(nnx.Intermediate, "hidden", x)
        return x


model = Model(nnx.Rngs(0))
y = model(jnp.ones((1, 2)))
result = nnx.pop(model, nnx.Intermediate)
