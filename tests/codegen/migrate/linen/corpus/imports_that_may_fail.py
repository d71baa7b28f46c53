"""A file that can be imported where jax is missing: its classes need it all the same."""

from typed_nnx_codegen.verify.examples import Build, Example

try:
    import jax.numpy as jnp
    from flax import linen as nn
except ImportError:
    import numpy as jnp

    nn = None


class WidenedTwice(nn.Module):
    features: int

    @nn.compact
    def __call__(self, x):
        for _ in range(2):
            x = jnp.concatenate([x, nn.Dense(self.features)(x)], axis=-1)
        return nn.Dense(3)(x)


EXAMPLES = [Example(Build("WidenedTwice", 4), jnp.ones((2, 5)))]
