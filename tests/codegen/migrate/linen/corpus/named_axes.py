"""Layers whose parameters name their axes with `nn.partitioning`, as programs on T5X have them."""

import functools
import operator
from collections.abc import Iterable, Sequence
from typing import Any, Callable, Optional, Union

import jax.numpy as jnp
import numpy as np
from flax import linen as nn
from flax.linen import partitioning
from jax import lax

from typed_nnx_codegen.verify.examples import Build, Example

param_with_axes = partitioning.param_with_axes
with_sharding_constraint = partitioning.with_sharding_constraint


def as_tuple(x: Union[Iterable[int], int]) -> tuple[int, ...]:
    if isinstance(x, Iterable):
        return tuple(x)
    else:
        return (x,)


def positive(axes: Iterable[int], rank: int) -> tuple[int, ...]:
    return tuple([axis if axis >= 0 else rank + axis for axis in axes])


class Projection(nn.Module):
    """Contracts some axes, with a kernel that is kept as a matrix."""

    features: Union[Iterable[int], int]
    axis: Union[Iterable[int], int] = -1
    kernel_axes: tuple[str, ...] = ()
    dtype: Any = jnp.float32

    @nn.compact
    def __call__(self, inputs):
        features = as_tuple(self.features)
        axis = as_tuple(self.axis)
        inputs = jnp.asarray(inputs, self.dtype)
        axis = positive(axis, inputs.ndim)
        shape = tuple([inputs.shape[a] for a in axis]) + features
        matrix = (np.prod([inputs.shape[a] for a in axis]), np.prod(features))
        init = nn.initializers.normal(0.3)
        kernel = param_with_axes("kernel", init, matrix, jnp.float32, axes=self.kernel_axes)
        kernel = jnp.reshape(jnp.asarray(kernel, self.dtype), shape)
        contracted = tuple(range(len(axis)))
        return lax.dot_general(inputs, kernel, ((axis, contracted), ((), ())))


def attend(query, key, value, bias: Optional[Any] = None):
    weights = jnp.einsum("bqhd,bkhd->bhqk", query, key)
    if bias is not None:
        weights = weights + bias
    return jnp.einsum("bhqk,bkhd->bqhd", nn.softmax(weights), value)


class NamedAttention(nn.Module):
    heads: int
    head_dim: int

    @nn.compact
    def __call__(self, x, y, bias=None):
        project = functools.partial(
            Projection,
            features=(self.heads, self.head_dim),
            kernel_axes=("embed", "joined"),
        )
        query = project(name="query")(x)
        key = project(name="key")(y)
        value = project(name="value")(y)
        query = with_sharding_constraint(query, ("batch", "length", "heads", "kv"))
        found = attend(query, key, value, bias)
        out = Projection(x.shape[-1], axis=(-2, -1), kernel_axes=("joined", "embed"), name="out")
        return out(found)


class GatedMlp(nn.Module):
    """One projection for each activation, named by how many there are."""

    width: int = 8
    activations: Sequence[Union[str, Callable]] = ("relu",)

    @nn.compact
    def __call__(self, inputs):
        parts = []
        for number, activation in enumerate(self.activations):
            name = "wi" if len(self.activations) == 1 else f"wi_{number}"
            x = Projection(self.width, kernel_axes=("embed", "mlp"), name=name)(inputs)
            parts.append(getattr(nn, activation)(x))
        x = functools.reduce(operator.mul, parts)
        return Projection(inputs.shape[-1], kernel_axes=("mlp", "embed"), name="wo")(x)


class NamedNorm(nn.Module):
    @nn.compact
    def __call__(self, x):
        width = x.shape[-1]
        scale = param_with_axes("scale", nn.initializers.ones, (width,), axes=("embed",))
        count = partitioning.variable_with_axes(
            "stats", "count", jnp.zeros, (width,), jnp.float32, axes=("embed",), module=self
        )
        count.value = count.value + 1
        return x * scale * lax.rsqrt(jnp.mean(lax.square(x), -1, keepdims=True) + 1e-6)


class NamedEmbed(nn.Module):
    entries: int
    width: int

    def setup(self):
        self.table = param_with_axes(
            "table",
            nn.initializers.normal(1.0),
            (self.entries, self.width),
            axes=("vocab", "embed"),
        )

    def __call__(self, tokens):
        return self.table[tokens]


class NamedEncoder(nn.Module):
    """Token embeddings through blocks of attention and a gated MLP."""

    entries: int
    depth: int
    activations: Sequence[Union[str, Callable]] = ("gelu", "relu")

    @nn.compact
    def __call__(self, tokens):
        batch, length = tokens.shape
        x = NamedEmbed(self.entries, 6)(tokens) + jnp.zeros((batch, length, 6))
        for number in range(self.depth):
            y = NamedNorm(name=f"norm_{number}")(x)
            x = x + NamedAttention(2, 4, name=f"attention_{number}")(y, y)
            x = x + GatedMlp(8, self.activations, name=f"mlp_{number}")(x)
        return NamedNorm(name="norm")(x)


class Summed(nn.Module):
    """Layers whose results are added up."""

    widths: Sequence[int]

    @nn.compact
    def __call__(self, x):
        parts = [x]
        for width in self.widths:
            parts.append(nn.Dense(x.shape[-1])(nn.Dense(width)(x)))
        x = functools.reduce(lambda a, b: a + b, parts)
        return nn.DenseGeneral(3, axis=(-2, -1))(x)


X = jnp.sin(jnp.arange(36.0)).reshape(2, 3, 6)
Y = jnp.cos(jnp.arange(40.0)).reshape(2, 4, 5)

EXAMPLES = [
    Example(Build("Projection", 4, kernel_axes=("embed", "mlp")), X),
    Example(Build("Projection", (2, 3), axis=(-2, -1), kernel_axes=("a", "b")), X),
    Example(Build("NamedAttention", 2, 4), X, Y),
    Example(Build("NamedAttention", 2, 4), X, Y, 0.5),
    Example(Build("GatedMlp"), X),
    Example(Build("GatedMlp", 8, ("gelu", "tanh")), X),
    Example(Build("NamedNorm"), X, mutable=["stats"]),
    Example(Build("NamedEmbed", 9, 4), jnp.arange(6).reshape(2, 3)),
    Example(Build("NamedEncoder", 9, 2), jnp.arange(6).reshape(2, 3), mutable=["stats"]),
    Example(Build("Summed", (4, 5)), X),
]
