"""Modules that inherit fields and `setup` from another file; one name means two things."""

import flax.linen as nn
import jax.numpy as jnp
from flat_bases import Base, ReadsItsFile

from typed_nnx_codegen.verify.examples import Build, Example

WIDTH = 5


class Derived(Base):
    more: int = WIDTH

    def __call__(self, x):
        return self.more * nn.relu(self.dense(x))


class ReadsTheOther(ReadsItsFile):
    """The width of its layer is that of the other file."""

    def __call__(self, x):
        return 2 * self.dense(x)


X = jnp.linspace(-1.0, 1.0, 10).reshape(2, 5)
EXAMPLES = [
    Example(Build("Derived"), X),
    Example(Build("Derived", 4, more=2), X),
    Example(Build("ReadsTheOther"), X),
]
