"""Helper methods, local functions, properties and constants."""

from typing import ClassVar, Sequence

import jax
import jax.numpy as jnp
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example


class LocalFunctions(nn.Module):
    """Functions inside compact that build."""

    width: int

    @nn.compact
    def __call__(self, x):
        def residual(y, scale=1.0):
            h = nn.gelu(nn.Dense(self.width)(y))
            return y + scale * nn.Dense(y.shape[-1])(h)

        def dense(features, name):
            return nn.Dense(features, use_bias=False, name=name)

        act = lambda z: nn.tanh(nn.Dense(4)(z))  # noqa: E731
        x = residual(x)
        x = residual(x, 0.5)
        x = act(dense(3, "mid")(x))
        return act(x)


class Nowrap(nn.Module):
    features: int

    @nn.nowrap
    def _dense(self, scale=1):
        return nn.Dense(self.features * scale, kernel_init=nn.initializers.normal(0.1))

    @nn.nowrap
    def initial_state(self, batch):
        return jnp.zeros((batch, self.features))

    @nn.compact
    def __call__(self, x):
        state = self.initial_state(x.shape[0])
        return state + self._dense()(nn.relu(self._dense(scale=2)(x)))


class ConstantsAndProperties(nn.Module):
    """Class constants, static methods, class methods and properties."""

    base: int = 2
    EXPANSION: ClassVar[int] = 3
    names = ("a", "b")

    @property
    def inner(self) -> int:
        return self.base * self.EXPANSION

    @staticmethod
    def squash(x):
        return jnp.tanh(x)

    @classmethod
    def small(cls, **kwargs):
        return cls(base=1, **kwargs)

    @nn.compact
    def __call__(self, x):
        x = self.squash(nn.Dense(self.inner)(x))
        return {n: nn.Dense(self.EXPANSION, name=n)(x) for n in self.names}


class CompactElsewhere(nn.Module):
    """`__call__` is plain; the compact method has another name."""

    width: int

    def __call__(self, x, reverse: bool = False):
        y = self.forward(x)
        return -y if reverse else y

    @nn.compact
    def forward(self, x):
        h = nn.relu(nn.Dense(self.width)(x))
        return nn.Dense(x.shape[-1])(h)


class SeveralMethods(nn.Module):
    """Setup for several methods, one of which calls the others."""

    codes: int

    def setup(self):
        self.encoder = nn.Dense(self.codes)
        self.decoder = nn.Dense(6)
        self.bias = self.param("bias", nn.initializers.zeros, (self.codes,))

    def encode(self, x):
        return nn.relu(self.encoder(x) + self.bias)

    def decode(self, z):
        return self.decoder(z)

    def __call__(self, x):
        return self.decode(self.encode(x))

    def loss(self, x):
        return jnp.mean((self(x) - x) ** 2)


class UserOfMethods(nn.Module):
    """Calls the methods of a part, and reaches into it."""

    def setup(self):
        self.model = SeveralMethods(4)
        self.probe = nn.Dense(2)

    def __call__(self, x):
        z = self.model.encode(x)
        return self.probe(z), self.model.decode(z), self.model.encoder(x)


class NamedScopes(nn.Module):
    """Methods with a scope of their own."""

    @nn.compact_name_scope
    def encode(self, x):
        return nn.relu(nn.Dense(4)(x))

    @nn.compact_name_scope
    def decode(self, x):
        return nn.Dense(6)(x)

    @nn.compact
    def __call__(self, x):
        return self.decode(self.encode(x)) + nn.Dense(6)(x)


class TwoRounds(nn.Module):
    """A compact method called twice from a plain one is one set of weights."""

    @nn.compact
    def step(self, x):
        return nn.tanh(nn.Dense(x.shape[-1])(x))

    def __call__(self, x):
        return self.step(self.step(x))


class ScannedFunction(nn.Module):
    """jax.lax.scan over a function that uses bound layers."""

    steps: int

    def setup(self):
        self.update = nn.Dense(6)
        self.read = nn.Dense(2)

    def __call__(self, x):
        x = self.update(x)
        kernel = self.update.variables["params"]["kernel"]

        def step(carry, _):
            carry = jnp.tanh(carry @ kernel)
            return carry, carry.mean()

        x, means = jax.lax.scan(step, x, None, length=self.steps)
        return self.read(x), means


class Reshapes(nn.Module):
    """Widths that only the arithmetic of shapes tells."""

    groups: Sequence[int] = (2, 3)

    @nn.compact
    def __call__(self, x):
        b, d = x.shape
        x = nn.Dense(12)(x).reshape(b, *self.groups, -1)
        x = nn.Dense(4)(x)
        x = jnp.transpose(x, (0, 3, 1, 2))
        x = nn.Dense(5)(x)
        x = x.reshape(b, -1)
        a, c = jnp.split(x, [7], axis=-1)
        y = nn.Dense(d)(a) + nn.Dense(d)(c)
        z = jnp.stack([y, y * 2], axis=-1)
        z = nn.Dense(3)(z)
        z = jnp.swapaxes(z, 1, 2)[..., :4]
        w = jnp.einsum("bij,bkj->bik", z, z)
        return nn.Dense(2)(w), nn.Dense(1)(jnp.pad(z, ((0, 0), (0, 0), (0, 2))))


class Memory(nn.Module):
    """Two compact methods whose submodules have the same names: Linen has one of each."""

    width: int

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(self.width, name="proj")(x)
        return nn.Dense(3)(x)

    @nn.compact
    def read(self, x, state):
        x = nn.Dense(self.width, name="proj")(x)
        return state + nn.Dense(3)(x)


class MemoryUser(nn.Module):
    """Writes and reads."""

    memory: Memory

    @nn.compact
    def __call__(self, x):
        return self.memory.read(2 * x, self.memory(x))


class TwoWays(nn.Module):
    """The submodules of that name are not built alike."""

    def __call__(self, x):
        return self.encode(x) + self.decode(2 * x)

    @nn.compact
    def encode(self, x):
        return nn.Dense(3, name="proj")(x)

    @nn.compact
    def decode(self, x):
        return nn.Dense(3, use_bias=False, name="proj")(x)


X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)

EXAMPLES = [
    Example(Build("LocalFunctions", 5), X),
    Example(Build("Nowrap", 4), X),
    Example(Build("ConstantsAndProperties"), X),
    Example(Build("ConstantsAndProperties.small"), X),
    Example(Build("CompactElsewhere", 4), X, reverse=True),
    Example(Build("CompactElsewhere", 4), X, method="forward"),
    Example(Build("SeveralMethods", 4), X),
    Example(Build("SeveralMethods", 4), X, method="encode"),
    Example(Build("SeveralMethods", 4), X[:, :4], method="decode"),
    Example(Build("SeveralMethods", 4), X, method="loss"),
    Example(Build("UserOfMethods"), X),
    Example(Build("NamedScopes"), X),
    Example(Build("TwoRounds"), X),
    Example(Build("ScannedFunction", 3), X),
    Example(Build("Reshapes"), X),
    Example(Build("Memory", 4), X),
    Example(Build("Memory", 4), X, X[:, :3], method="read"),
    Example(Build("MemoryUser", Build("Memory", 4)), X),
    Example(Build("TwoWays"), X),
]
