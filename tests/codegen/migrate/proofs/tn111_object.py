# fails: AssertionError
import jax.numpy as jnp
from flax import nnx


class Scale(nnx.Object):
    def __init__(self):
        self.scale = nnx.Param(jnp.ones(2))


found = []
for module in (nnx.Linear(2, 3, rngs=nnx.Rngs(0)), Scale()):
    # A Module was an Object once.
    assert isinstance(module, nnx.Object)
    found.append(sorted(str(path) for path, _ in nnx.to_flat_state(nnx.state(module))))
result = found
