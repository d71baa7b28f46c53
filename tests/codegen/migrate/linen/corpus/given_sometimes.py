"""Arguments that a field says whether a part is given them."""

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


class Reads(nn.Module):
    """Without a context it reads its own input."""

    features: int

    @nn.compact
    def __call__(self, x, context=None):
        context = x if context is None else context
        return nn.Dense(self.features)(x) + nn.Dense(self.features)(context)


class ReadsSometimes(nn.Module):
    """A field says whether the part is given the context."""

    crosses: bool = False

    def setup(self):
        self.part = Reads(4)
        self.other = Reads(4)

    def __call__(self, x, context):
        if self.crosses:
            x = self.part(x, context)
        else:
            x = self.part(x)
        return self.other(x, context)


X, CONTEXT = jnp.linspace(-1.0, 1.0, 10).reshape(2, 5), jnp.linspace(0.0, 1.0, 14).reshape(2, 7)
EXAMPLES = [
    Example(Build("Reads", 3), X),
    Example(Build("Reads", 3), X, CONTEXT),
    Example(Build("ReadsSometimes"), X, CONTEXT),
    Example(Build("ReadsSometimes", crosses=True), X, CONTEXT),
]
