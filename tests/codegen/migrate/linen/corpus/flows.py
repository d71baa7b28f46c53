"""Invertible layers: two directions in one module."""

from typing import Callable, Sequence

import jax.numpy as jnp
import numpy as np
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example


class CouplingNet(nn.Module):
    hidden: int
    out: int

    @nn.compact
    def __call__(self, x):
        h = nn.tanh(nn.Dense(self.hidden)(x))
        h = nn.tanh(nn.Dense(self.hidden)(h))
        return nn.Dense(self.out, kernel_init=nn.initializers.normal(0.01))(h)


class AffineCoupling(nn.Module):
    hidden: int
    flip: bool = False

    @nn.compact
    def __call__(self, x, reverse: bool = False):
        half = x.shape[-1] // 2
        a, b = x[..., :half], x[..., half:]
        if self.flip:
            a, b = b, a
        shift, log_scale = jnp.split(CouplingNet(self.hidden, 2 * b.shape[-1])(a), 2, axis=-1)
        log_scale = nn.tanh(log_scale)
        b = (b - shift) * jnp.exp(-log_scale) if reverse else b * jnp.exp(log_scale) + shift
        if self.flip:
            a, b = b, a
        return jnp.concatenate([a, b], -1), log_scale.sum(-1)


class ActNorm(nn.Module):
    """Takes its first values from the first batch."""

    @nn.compact
    def __call__(self, x, reverse: bool = False):
        axes = tuple(range(x.ndim - 1))

        def loc_init(key, shape):
            return -x.mean(axes).reshape(shape)

        def scale_init(key, shape):
            return 1.0 / (x.std(axes) + 1e-6).reshape(shape)

        loc = self.param("loc", loc_init, x.shape[-1:])
        scale = self.param("scale", scale_init, x.shape[-1:])
        if reverse:
            return x / scale - loc, -jnp.log(jnp.abs(scale)).sum()
        return (x + loc) * scale, jnp.log(jnp.abs(scale)).sum()


class RealNVP(nn.Module):
    num_layers: int
    hidden: int

    def setup(self):
        self.norms = [ActNorm() for _ in range(self.num_layers)]
        self.couplings = [
            AffineCoupling(self.hidden, flip=bool(i % 2)) for i in range(self.num_layers)
        ]

    def __call__(self, x):
        log_det = jnp.zeros(x.shape[0])
        for norm, coupling in zip(self.norms, self.couplings):
            x, ld = norm(x)
            log_det += ld
            x, ld = coupling(x)
            log_det = log_det + ld
        return x, log_det

    def inverse(self, z):
        for norm, coupling in reversed(list(zip(self.norms, self.couplings))):
            z, _ = coupling(z, reverse=True)
            z, _ = norm(z, reverse=True)
        return z

    def log_prob(self, x):
        z, log_det = self(x)
        return -0.5 * (z**2 + jnp.log(2 * jnp.pi)).sum(-1) + log_det


class MaskedDense(nn.Dense):
    """A layer of the library with a mask over its kernel."""

    mask: tuple = ()

    @nn.compact
    def __call__(self, inputs):
        kernel = self.param(
            "kernel", self.kernel_init, (inputs.shape[-1], self.features), self.param_dtype
        )
        bias = self.param("bias", self.bias_init, (self.features,), self.param_dtype)
        return inputs @ (kernel * jnp.asarray(self.mask)) + bias


class MADE(nn.Module):
    hidden: Sequence[int]
    activation: Callable = nn.relu

    @nn.compact
    def __call__(self, x):
        n = x.shape[-1]
        degrees = [np.arange(1, n + 1)]
        for h in self.hidden:
            degrees.append(np.arange(h) % max(1, n - 1) + 1)
        for i in range(len(self.hidden)):
            mask = (degrees[i][:, None] <= degrees[i + 1][None, :]).astype(np.float32)
            x = MaskedDense(self.hidden[i], mask=tuple(map(tuple, mask)))(x)
            x = self.activation(x)
        mask = (degrees[-1][:, None] < degrees[0][None, :]).astype(np.float32)
        mu = MaskedDense(n, mask=tuple(map(tuple, mask)), name="mu")(x)
        alpha = MaskedDense(n, mask=tuple(map(tuple, mask)), name="alpha")(x)
        return mu, alpha


class PlanarFlow(nn.Module):
    """Plain parameters with shapes from the input."""

    @nn.compact
    def __call__(self, z):
        d = z.shape[-1]
        u = self.param("u", nn.initializers.normal(0.1), (d,))
        w = self.param("w", nn.initializers.normal(0.1), (d,))
        b = self.param("b", nn.initializers.zeros, ())
        activation = jnp.tanh(z @ w + b)
        psi = (1 - activation**2)[..., None] * w
        return z + u * activation[..., None], jnp.log(jnp.abs(1 + psi @ u))


class HalvesInTurn(nn.Module):
    hidden: int
    flips: bool

    @nn.compact
    def __call__(self, x, logdet, reverse=False):
        a, b = jnp.split(x, 2, axis=-1)
        if self.flips:
            a, b = b, a
        h = nn.tanh(nn.Dense(self.hidden)(a))
        scale, shift = jnp.split(nn.Dense(2 * b.shape[-1])(h), 2, axis=-1)
        if reverse:
            b, logdet = (b - shift) * jnp.exp(-scale), logdet - scale.sum(-1)
        else:
            b, logdet = b * jnp.exp(scale) + shift, logdet + scale.sum(-1)
        if self.flips:
            a, b = b, a
        return jnp.concatenate([a, b], -1), logdet


class FlowOfHalves(nn.Module):
    steps: int

    def setup(self):
        self.flows = [HalvesInTurn(6, i % 2 == 1) for i in range(self.steps)]

    def __call__(self, x, reverse=False):
        logdet = jnp.zeros(x.shape[0])
        for flow in self.flows if not reverse else reversed(self.flows):
            x, logdet = flow(x, logdet, reverse)
        return x, logdet


X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)
ODD = jnp.sin(jnp.arange(15.0)).reshape(3, 5)
MASK = ((1.0, 0.0), (0.0, 1.0), (1.0, 1.0), (0.0, 0.0), (1.0, 0.0))

EXAMPLES = [
    Example(Build("CouplingNet", 4, 3), X),
    Example(Build("AffineCoupling", 4), X),
    Example(Build("AffineCoupling", 4), ODD, reverse=True),
    Example(Build("AffineCoupling", 4, flip=True), ODD),
    Example(Build("ActNorm"), X),
    Example(Build("ActNorm"), X, reverse=True),
    Example(Build("RealNVP", 2, 4), X),
    Example(Build("RealNVP", 3, hidden=4), X, method="inverse"),
    Example(Build("RealNVP", 2, 4), X, method="log_prob"),
    Example(Build("MaskedDense", 2, mask=MASK), ODD),
    Example(Build("MADE", (7, 8)), X),
    Example(Build("PlanarFlow"), X),
    Example(Build("HalvesInTurn", 6, True), X, X[:, 0]),
    Example(Build("FlowOfHalves", 3), X),
    Example(Build("FlowOfHalves", 3), X, reverse=True),
]
