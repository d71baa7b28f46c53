"""First values that read arrays: those that `setup` keeps, and those that sizes decide."""

from collections.abc import Callable

import flax.linen as nn
import jax.numpy as jnp
import numpy as np


def scaled(init, mask):
    factor = jnp.sqrt(mask.size / mask.sum())

    def wrapped(*args):
        return factor * mask * init(*args)

    return wrapped


class MaskOfSetup(nn.Module):
    size: tuple[int, int]
    strict: bool = False
    kernel_init: Callable = nn.initializers.lecun_normal()

    def setup(self):
        rows, columns = self.size
        mask = np.ones((rows, columns))
        mask[-1, columns // 2 + (not self.strict) :] = 0
        self.mask = jnp.asarray(mask)

    @nn.compact
    def __call__(self, x):
        mask = self.mask
        kernel = self.param("kernel", scaled(self.kernel_init, mask), self.size)
        return x @ (mask * kernel)


class CountsOfSetup(nn.Module):
    shape: tuple[int, ...]

    @nn.compact
    def __call__(self, x):
        kernel = self.param("kernel", nn.initializers.normal(), (self.cells, 2 * self.cells))
        if self.more > 1:
            x = x * self.param("scale", nn.initializers.ones, (self.more * self.cells,))[: self.cells]
        return x @ kernel

    def setup(self):
        table = np.asarray(self.shape)
        self.cells = np.prod(table)
        self.more = table.shape[0]


class MaskOfInputs(nn.Module):
    features: int
    strict: bool = False

    @nn.compact
    def __call__(self, x):
        batch, size, width = x.shape
        mask = np.ones((size, size), dtype=np.float32)
        mask = np.triu(mask, self.strict)
        mask = np.kron(mask, np.ones((width, self.features), dtype=np.float32))
        mask = jnp.asarray(mask)
        init = nn.initializers.lecun_normal()
        kernel = self.param("kernel", scaled(init, mask), (size * width, size * self.features))
        y = x.reshape((batch, size * width)) @ (mask * kernel)
        return y.reshape((batch, size, self.features))


class ChangedInPlace(nn.Module):
    """The array that the first value reads is not the one that `setup` keeps."""

    size: int

    def setup(self):
        self.table = np.ones((self.size,), dtype=np.float32)

    @nn.compact
    def __call__(self, x):
        table = np.array(self.table)
        table[0] = x.shape[0]
        scale = self.param("scale", lambda key, one: jnp.asarray(one), table)
        return x * scale


class Borrows(nn.Module):
    """Two methods are those of another class, which it does not inherit from."""

    size: tuple[int, int]
    strict: bool = True
    kernel_init: Callable = nn.initializers.lecun_normal()

    def setup(self):
        MaskOfSetup.setup(self)

    def __call__(self, x):
        return 2 * MaskOfSetup.__call__(self, x)
