"""Constants that come out of a trace of jax as something else than arrays."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp


def as_arrays(tree: Any) -> Any:
    """Return a tree with arrays in the place of Python's and numpy's numbers.

    Run outside jit, some transforms of jax return the constants of the traced function as they are
    written down, which are no `jax.Array`.
    """
    return jax.tree.map(_as_array, tree)


def _as_array(value: Any) -> Any:
    return value if isinstance(value, jax.Array) else jnp.asarray(value)
