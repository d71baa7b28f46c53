"""Laws that hold in NNX and here: a test takes `lib` and runs with flax, the oracle, and with us."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest
from flax import nnx as flax_nnx

import typed_nnx as nnx

both = pytest.mark.parametrize("lib", [nnx, flax_nnx], ids=["ours", "flax"])


def seen(compute: Any) -> Any:
    """Return what a computation gives in comparable form, or the kind of error that it raises."""
    try:
        result = compute()
    except (TypeError, ValueError, IndexError, KeyError, AttributeError) as error:
        kinds = (TypeError, ValueError, IndexError, KeyError, AttributeError)
        return next(kind.__name__ for kind in kinds if isinstance(error, kind))
    return plain(result)


def plain(value: Any) -> Any:
    """Return a value in a form that ``==`` compares: type, dtype and elements of arrays."""
    if isinstance(value, jax.Array | np.ndarray):
        return (type(value).__name__, str(value.dtype), np.asarray(value).tolist())
    if isinstance(value, list | tuple):
        return type(value)(map(plain, value))
    return value


def leaves(node: Any) -> dict[str, str]:
    """Map the key path of each leaf to its text."""
    found = jax.tree_util.tree_leaves_with_path(node)
    return {jax.tree_util.keystr(path): str(value) for path, value in found}


def structure(node: Any) -> Any:
    """Return the structure that jax sees; untyped, since its ``==`` has no type."""
    return jax.tree.structure(node)


def said(lib: Any, pattern: str) -> str | None:
    """Return what an error must say: ours what it always says, flax's what its jax likes to say."""
    return pattern if lib is nnx else None
