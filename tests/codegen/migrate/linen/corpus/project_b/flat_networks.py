"""A file beside others, imported by its bare name."""

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


class FeedForward(nn.Module):
    """Gives a pair back."""

    hidden: int
    out: int

    @nn.compact
    def __call__(self, x):
        h = nn.relu(nn.Dense(self.hidden)(x))
        return nn.Dense(self.out)(h), h


class Gate(nn.Module):
    @nn.compact
    def __call__(self, x, gate):
        return x * nn.sigmoid(nn.Dense(x.shape[-1])(gate))


X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)

EXAMPLES = [
    Example(Build("FeedForward", 4, 3), X),
    Example(Build("Gate"), X, X[:, :2]),
]
