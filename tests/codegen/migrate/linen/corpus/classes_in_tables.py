"""Classes that a field chooses from a table."""

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


class FromDict(nn.Module):
    kind: str = "dense"

    @nn.compact
    def __call__(self, x):
        layer = {"relu": nn.relu, "dense": nn.Dense}[self.kind]
        if self.kind == "dense":
            return layer(3)(x)
        return layer(x)


X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)

EXAMPLES = [
    Example(Build("FromDict"), X),
    Example(Build("FromDict", "relu"), X),
]
