"""Parameters whose first value is computed from that of another one."""

import jax
import jax.numpy as jnp
from flax import linen as nn


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


class StateSpace(nn.Module):
    """Locals that are computed from parameters, and from nothing else."""

    dim: int

    @nn.compact
    def __call__(self, x):
        nu = self.param("nu", nn.initializers.uniform(), (self.dim,))
        theta = self.param("theta", nn.initializers.normal(), (self.dim,))
        lam = jnp.exp(-jnp.exp(nu) + theta)
        norm = jnp.sqrt(1 + jnp.abs(lam) ** 2)

        def gamma_init(key, more):
            return jnp.log(norm) + more

        gamma = self.param("gamma", gamma_init, 0.5)
        return nn.Dense(self.dim)(x) * lam * gamma


class WeightNorm(nn.Module):
    """The scale begins with the norm of the directions."""

    features: int

    @nn.compact
    def __call__(self, x):
        v = self.param("v", nn.initializers.normal(), (x.shape[-1], self.features))
        g = self.param("g", lambda _: jnp.linalg.norm(v, axis=0))
        y = x @ (v / jnp.linalg.norm(v, axis=0) * g)
        return y + nn.Dense(self.features)(y)


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
