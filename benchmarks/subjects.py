"""Who takes part in the dispatch benchmarks, and the models that they call with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from benchmarks.case import PEERS
from benchmarks.models import build, build_equinox


def peers(*needs: str) -> Iterator[tuple[str, Any]]:
    """Yield label and namespace of the NNX libraries that have all of the names `needs`.

    A row without a column says itself that the library does not have the transform (yet).
    """
    for label, api in PEERS:
        if all(hasattr(api, name) for name in needs):
            yield label, api


def variables_of(api: Any, model: Any) -> list[Any]:
    """Return the Variables of a model, each once; works outside and inside of a trace."""
    return [node for _, node in api.iter_graph(model) if isinstance(node, api.Variable)]


def own_arrays(count: int) -> list[jax.Array]:
    """Return float [2] arrays with a buffer each: one buffer cannot be donated twice."""
    return [jnp.zeros((2,)) + 0 for _ in range(count)]


def model_of(api: Any, size: int) -> Any:
    """Return a network of typed-nnx or flax in which each Variable has its own buffer."""
    model = build(api, size)
    for variable, array in zip(variables_of(api, model), own_arrays(size), strict=True):
        variable[...] = array
    return model


def equinox_model_of(size: int) -> Any:
    """Return the network of equinox in which each leaf has its own buffer."""
    return jax.tree.map(lambda leaf: leaf + 0 if eqx.is_array(leaf) else leaf, build_equinox(size))
