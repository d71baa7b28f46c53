"""One scenario, run with flax.nnx and with typed_nnx around the same Linen modules."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import flax.core.meta
import flax.nnx
import flax.nnx.bridge
import jax
import jax.numpy as jnp
import numpy as np

import typed_nnx
import typed_nnx.bridge
from typed_nnx import BatchNorm
from typed_nnx.nn.linear import Linear
from typed_nnx.nn.stochastic import Dropout


@dataclasses.dataclass(frozen=True)
class Side:
    """A library, its bridge and its layers."""

    nnx: Any
    bridge: Any
    Linear: Any
    Dropout: Any
    BatchNorm: Any


OURS = Side(typed_nnx, typed_nnx.bridge, Linear, Dropout, BatchNorm)
FLAX = Side(flax.nnx, flax.nnx.bridge, flax.nnx.Linear, flax.nnx.Dropout, flax.nnx.BatchNorm)

Scenario = Callable[[Side], Any]


def assert_as_in_flax(scenario: Scenario) -> Any:
    """Assert that a scenario gives the same in both libraries, bit for bit, and return it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # flax announces its own changes
        expected = plain(scenario(FLAX))
    found = plain(scenario(OURS))
    assert found == expected
    return found


def plain(value: Any) -> Any:
    """Return a value in a form that ``==`` compares and that no longer says which library it is."""
    if isinstance(value, jax.Array) and jnp.issubdtype(value.dtype, jax.dtypes.prng_key):
        return ("key", jax.random.key_data(value).tolist())
    if isinstance(value, jax.Array | np.ndarray):
        return (str(value.dtype), np.asarray(value).tolist())
    if isinstance(value, typed_nnx.Variable | flax.nnx.Variable):
        metadata = {name: plain(given) for name, given in value.get_metadata().items()}
        return (type(value).__name__, plain(value.get_value()), metadata)
    if isinstance(value, flax.core.meta.AxisMetadata):
        box: Any = value  # a dataclass
        fields = {f.name: plain(getattr(box, f.name)) for f in dataclasses.fields(box)}
        return (type(value).__name__, fields)
    if isinstance(value, Mapping):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return tuple(map(plain, value))
    if isinstance(value, type):
        return value.__name__
    return value


def state_of(side: Side, node: Any) -> dict[Any, Any]:
    """Return the leaves of a node by path."""
    return dict(side.nnx.to_flat_state(side.nnx.state(node)))


def values_of(side: Side, node: Any) -> dict[Any, Any]:
    """Return the values of the leaves of a node by path, without their metadata."""
    return {path: leaf.get_value() for path, leaf in state_of(side, node).items()}
