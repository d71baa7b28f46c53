"""Modules that inherit fields and `setup` from another file; one name means two things."""

import flax.linen as nn
from flat_bases import Base, ReadsItsFile

WIDTH = 5


class Derived(Base):
    more: int = WIDTH

    def __call__(self, x):
        return self.more * nn.relu(self.dense(x))


class ReadsTheOther(ReadsItsFile):
    """The width of its layer is that of the other file."""

    def __call__(self, x):
        return 2 * self.dense(x)
