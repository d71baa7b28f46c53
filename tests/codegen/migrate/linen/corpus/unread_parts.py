"""Parts of `setup` that nothing calls: they have no variables in Linen."""

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


class Inner(nn.Module):
    """One layer."""

    size: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.size)(x)


class UnusedModule(nn.Module):
    """A module and a list of modules are spare."""

    size: int

    def setup(self):
        self.used = Inner(self.size)
        self.spare = Inner(4)
        self.spares = [Inner(4) for _ in range(2)]

    def __call__(self, x):
        return self.used(x)


class Passed(nn.Module):
    """Another module calls the part."""

    size: int

    def setup(self):
        self.used = Inner(self.size)
        self.lent = Inner(4)

    def __call__(self, x):
        return self.used(x)


class Lends(nn.Module):
    """It calls a part of its part."""

    def setup(self):
        self.owner = Passed(3)

    def __call__(self, x):
        return self.owner(x), self.owner.lent(x)


EXAMPLES = [
    Example(Build("Inner", 4), jnp.ones((2, 5))),
    Example(Build("UnusedModule", 4), jnp.ones((2, 5))),
    Example(Build("Passed", 4), jnp.ones((2, 5))),
    Example(Build("Lends"), jnp.ones((2, 5))),
]
