"""`init` under jit and eval_shape, `init_with_output`, sown values."""

import jax
import jax.numpy as jnp
from flax import linen as nn


class Probe(nn.Module):
    features: int

    @nn.compact
    def __call__(self, x, *, scale=1.0):
        h = nn.Dense(self.features)(x) * scale
        self.sow("intermediates", "hidden", h)
        return nn.Dense(self.features)(h)


def run():
    x = jnp.arange(8.0).reshape(2, 4)
    probe = Probe(features=3)
    variables = jax.jit(probe.init)(jax.random.PRNGKey(0), x)
    shapes = jax.eval_shape(Probe(features=3).init, jax.random.PRNGKey(0), x)
    y, state = probe.apply(variables, x, scale=2.0, mutable=["intermediates"])
    second, own = Probe(2).init_with_output(jax.random.PRNGKey(1), x)
    again = Probe(2).apply(own, x)
    sizes = sorted(leaf.size for leaf in jax.tree.leaves(shapes))
    return y, state["intermediates"]["hidden"][0], second - again, jnp.array(sizes)
