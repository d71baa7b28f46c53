"""Calls of a layer outside jit: what it costs beside the arithmetic."""

from __future__ import annotations

import functools
from collections.abc import Callable
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from benchmarks.calls import Planned, waiting
from benchmarks.case import PEERS, Case, of_flat
from benchmarks.subjects import peers

BATCH, WIDTH = 8, 16


def eager_cases() -> list[Planned]:
    """Return the cases; their floor is the bare expression on arrays."""
    return [
        Planned("eager Linear: x @ kernel + bias", _own),
        Planned("eager Linear of the library", _libraries),
    ]


@functools.cache
def _linear_class(nnx: Any) -> Any:
    class Linear(nnx.Module):
        def __init__(self, kernel: jax.Array, bias: jax.Array) -> None:
            self.kernel = nnx.Param(kernel)
            self.bias = nnx.Param(bias)
            self.in_features, self.out_features = kernel.shape

        def __call__(self, x: jax.Array) -> jax.Array:
            return x @ self.kernel[...] + self.bias[...]

    return Linear


class _EquinoxLinear(eqx.Module):
    kernel: jax.Array
    bias: jax.Array

    def __call__(self, x: jax.Array) -> jax.Array:
        return x @ self.kernel + self.bias


def _own() -> Case:
    """Call one layer, defined with the Modules and Params of each library."""
    kernel, bias, x = jnp.ones((WIDTH, WIDTH)), jnp.ones((WIDTH,)), jnp.ones((BATCH, WIDTH))
    acts: dict[str, Callable[[], Any]] = {
        label: partial(_linear_class(api)(kernel, bias), x) for label, api in PEERS
    }
    acts["equinox"] = partial(_EquinoxLinear(kernel, bias), x)
    acts["flat"] = lambda: x @ kernel + bias
    return Case("eager Linear: x @ kernel + bias", waiting(acts), of_flat(1.1))


def _libraries() -> Case:
    """Call the layer that comes with each library."""
    kernel, bias, x = jnp.ones((WIDTH, WIDTH)), jnp.ones((WIDTH,)), jnp.ones((BATCH, WIDTH))
    acts: dict[str, Callable[[], Any]] = {
        label: partial(api.Linear(WIDTH, WIDTH, rngs=api.Rngs(0)), x)
        for label, api in peers("Linear")
    }
    acts["flat"] = lambda: x @ kernel + bias
    return Case("eager Linear of the library", waiting(acts), of_flat(1.1))
