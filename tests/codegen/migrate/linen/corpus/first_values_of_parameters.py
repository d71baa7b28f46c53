"""Parameters whose first value is computed from that of another one."""

import jax
import jax.numpy as jnp
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example


class LinearRecurrence(nn.Module):
    """The initializers are functions of `setup`; one reads parameters."""

    dim: int
    r_min: float = 0.1

    def setup(self):
        r_min = self.r_min

        def nu_init(key, shape):
            return jnp.log(jax.random.uniform(key, shape) + r_min)

        self.nu = self.param("nu", nu_init, (self.dim,))
        self.theta = self.param("theta", nn.initializers.uniform(), (self.dim,))

        def gamma_init(*_):
            return jnp.log(1 + jnp.exp(self.nu) * self.theta)

        self.gamma = self.param("gamma", gamma_init)

    def __call__(self, x):
        return x * jnp.exp(self.gamma) + self.theta


def spectrum(size):
    """Return a vector, and a matrix."""
    return jnp.arange(size) + 1.0, jnp.eye(size) * 2.0


class OfLocals(nn.Module):
    """Arrays that `setup` binds in branches."""

    dim: int
    half: bool = True

    def setup(self):
        count = self.dim // 2 if self.half else self.dim
        if self.dim > 2:
            values, basis = spectrum(self.dim)
            values = values[:count]
        else:
            values, basis = spectrum(self.dim)
            values = jnp.concatenate([values] * 2)

        def basis_init(key, shape):
            return basis @ nn.initializers.normal()(key, shape)

        self.values = self.param("values", lambda *_: values.real)
        self.basis = self.param("basis", basis_init, (self.dim, 3))

    def __call__(self, x):
        return x @ self.basis + self.values.sum()


X = jnp.linspace(-1.0, 1.0, 12).reshape(3, 4)

EXAMPLES = [
    Example(Build("LinearRecurrence", 4), X),
    Example(Build("LinearRecurrence", 4, r_min=0.5), X),
    Example(Build("OfLocals", 4), X),
    Example(Build("OfLocals", 4, half=False), X),
    Example(Build("OfLocals", 2), X[:, :2]),
]
