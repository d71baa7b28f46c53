"""Hypernetworks, ensembles and other modules that apply modules."""

from typing import Sequence

import jax
import jax.numpy as jnp
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example


class ParamOfModule(nn.Module):
    """Keeps the parameters of a module as one parameter of its own."""

    width: int

    @nn.compact
    def __call__(self, x):
        inner = nn.Dense(self.width, parent=None)
        params = self.param("inner", lambda key: inner.init(key, x)["params"])
        return inner.apply({"params": params}, x)


class DiagonalStateSpace(nn.Module):
    """A linear recurrence by an associative scan."""

    state: int

    @nn.compact
    def __call__(self, u):
        d = u.shape[-1]
        log_a = self.param("log_a", lambda key: -jnp.linspace(0.1, 1.0, self.state))
        b = nn.Dense(self.state, use_bias=False, name="B")(u)
        a = jnp.broadcast_to(jnp.exp(log_a), b.shape)

        def combine(left, right):
            return left[0] * right[0], left[1] * right[0] + right[1]

        _, h = jax.lax.associative_scan(combine, (a, b), axis=1)
        skip = self.param("D", nn.initializers.ones, (d,))
        return nn.Dense(d, name="C")(h) + skip * u


class ConformerConv(nn.Module):
    """One-dimensional convolutions with masks of padding."""

    kernel_size: int = 3

    @nn.compact
    def __call__(self, x, pad_mask, train: bool = False):
        d = x.shape[-1]
        y = nn.glu(nn.Dense(2 * d)(nn.LayerNorm()(x)))
        y = y * pad_mask[..., None]
        y = nn.Conv(
            features=d,
            kernel_size=(self.kernel_size,),
            padding="SAME",
            feature_group_count=d,
            kernel_dilation=(2,),
            use_bias=False,
        )(y)
        y = nn.BatchNorm(use_running_average=not train, momentum=0.9)(y)
        return x + nn.Dense(d)(nn.silu(y))


class CausalWaveNet(nn.Module):
    """Dilations that grow, skips that add up."""

    channels: int
    dilations: Sequence[int] = (1, 2)

    @nn.compact
    def __call__(self, x):
        x = nn.Conv(self.channels, (1,))(x)
        skip = 0.0
        for dilation in self.dilations:
            y = nn.Conv(
                2 * self.channels, (2,), kernel_dilation=(dilation,), padding=[(dilation, 0)]
            )(x)
            a, b = jnp.split(y, 2, axis=-1)
            y = nn.tanh(a) * nn.sigmoid(b)
            skip = skip + nn.Conv(self.channels, kernel_size=1)(y)
            x = x + nn.Conv(self.channels, 1, padding="CAUSAL")(y)
        return nn.Conv(3, (1,))(nn.relu(skip))


class SpectralConv(nn.Module):
    """Complex weights in Fourier space."""

    modes: int

    @nn.compact
    def __call__(self, x):
        b, n, d = x.shape
        shape = (self.modes, d, d)
        real = self.param("real", nn.initializers.normal(0.1), shape)
        imag = self.param("imag", nn.initializers.normal(0.1), shape)
        spectrum = jnp.fft.rfft(x, axis=1)[:, : self.modes]
        mixed = jnp.einsum("bmd,mde->bme", spectrum, real + 1j * imag)
        y = jnp.fft.irfft(mixed, n=n, axis=1)
        return nn.gelu(y + nn.Conv(d, (1,))(x))


X = jnp.sin(jnp.arange(24.0)).reshape(4, 6)
SEQ = jnp.sin(jnp.arange(2 * 5 * 6.0)).reshape(2, 5, 6)

EXAMPLES = [
    Example(Build("ParamOfModule", 4), X),
    Example(Build("DiagonalStateSpace", 4), SEQ),
    Example(Build("ConformerConv"), SEQ, jnp.ones((2, 5))),
    Example(Build("ConformerConv", 5), SEQ, jnp.ones((2, 5)), train=True, mutable=("batch_stats",)),
    Example(Build("CausalWaveNet", 4), SEQ),
    Example(Build("SpectralConv", 2), SEQ),
]
