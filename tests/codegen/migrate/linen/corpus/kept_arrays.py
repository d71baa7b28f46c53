"""First values that read arrays: those that `setup` keeps, and those that sizes decide."""

from collections.abc import Callable

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

from typed_nnx_codegen.verify.examples import Build, Example


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
            x = (
                x
                * self.param("scale", nn.initializers.ones, (self.more * self.cells,))[: self.cells]
            )
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


def ranged(low, high):
    def init(key, shape, dtype=jnp.float32):
        return jax.random.uniform(key, shape, dtype, low, high)

    return init


class MadeInSetup(nn.Module):
    size: int
    low: float = -1.0

    def setup(self):
        init = ranged(self.low, 1.0)
        self.weights = self.param("weights", init, (self.size,))

    def __call__(self, x):
        return x * self.weights


class MadeInMethod(nn.Module):
    size: int
    low: float = 0.0

    @nn.compact
    def __call__(self, x):
        init = ranged(self.low, 1.0)
        y = x * self.param("weights", init, x.shape[-1:]) + self.param("more", init, (1,))
        return nn.Dense(self.size, kernel_init=init)(y)


class FieldTable(nn.Module):
    """The size of a layer is that of an array in a field."""

    table: np.ndarray
    width: int = 3

    @nn.compact
    def __call__(self, x):
        query = nn.Dense(self.width)(self.table)
        key = nn.Dense(self.width)(x)
        return nn.Dense(2)(jnp.tanh(query @ key.T) @ x)


class ShiftedByLocal(nn.Module):
    """The attribute has the name of the parameter that it is computed from, and reads a local."""

    period: int
    size: int = 4

    def setup(self):
        if self.size % self.period == 0 and self.period > 0:
            shape = (self.period, self.size)
        else:
            raise ValueError("the size is no multiple of the period")
        identity = jnp.eye(*shape)
        self.tensors = self.param("tensors", nn.initializers.normal(), shape) + identity

    def __call__(self, x):
        return x @ self.tensors.T


X = jnp.linspace(-1.0, 1.0, 24).reshape(6, 4)
ROWS = X.reshape(2, 3, 4)

EXAMPLES = [
    Example(Build("MaskOfSetup", (4, 6)), X),
    Example(Build("MaskOfSetup", (4, 5), strict=True), X),
    Example(Build("CountsOfSetup", (2, 2)), X),
    Example(Build("CountsOfSetup", (4,)), X),
    Example(Build("MaskOfInputs", 2), ROWS),
    Example(Build("MaskOfInputs", 3, True), ROWS),
    Example(Build("ChangedInPlace", 4), X),
    Example(Build("Borrows", (4, 6)), X),
    Example(Build("MadeInSetup", 4), X),
    Example(Build("MadeInMethod", 3), X),
    Example(Build("ShiftedByLocal", 2), X),
    Example(Build("FieldTable", jnp.ones((5, 7))), X),
]
