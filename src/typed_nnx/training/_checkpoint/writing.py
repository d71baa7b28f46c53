"""Leaves as orbax saves them: a tree of arrays, and the rest as metadata of the tree."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from typed_nnx._core.references import is_array_ref
from typed_nnx.errors import (
    CheckpointExistsError,
    CheckpointLeafError,
    CheckpointSaveError,
)
from typed_nnx.training._checkpoint.checksums import with_checksums
from typed_nnx.training._checkpoint.directories import OURS
from typed_nnx.training._checkpoint.leaves import Leaf, cells_of, leaves_of
from typed_nnx.training._checkpoint.names import NO_LEAVES, key_to_json
from typed_nnx.training._checkpoint.packages import orbax, quiet
from typed_nnx.training._checkpoint.records import as_dtype, stored_dtype
from typed_nnx.training._checkpoint.sources import described

FORMAT = 1


def payload_of(function: str, node: Any, metrics: Mapping[str, float] | None = None) -> Any:
    """Return the arguments with which orbax saves a node.

    Args:
        function: The function that was called.
        node: What to save.
        metrics: Figures to keep beside it.

    Raises:
        CheckpointLeafError: Some leaves cannot be in a checkpoint.
    """
    ocp = orbax(function)
    leaves = leaves_of(cells_of(function, node))
    if abstract := [(x.path, f"{x.record}, only a shape") for x in leaves if x.record.abstract]:
        raise CheckpointLeafError(function, abstract, "save a model whose arrays have values")
    metadata = {OURS: {"format": FORMAT, "leaves": [_entry(leaf) for leaf in leaves]}}
    items = {"default": ocp.args.PyTreeSave(_tree(leaves), custom_metadata=metadata)}
    if metrics is not None:
        items["metrics"] = ocp.args.JsonSave(dict(metrics))
    return ocp.args.Composite(**items)


def writer(function: str) -> Any:
    """Return what writes the arguments of `payload_of`, in the background if one does not wait."""
    ocp = orbax(function)
    # The names and files of the items are those of orbax's manager, which can read them then.
    items = ocp.CompositeCheckpointHandler(
        default=with_checksums(ocp.PyTreeCheckpointHandler()),
        metrics=with_checksums(ocp.JsonCheckpointHandler(filename="metrics")),
    )
    return ocp.AsyncCheckpointer(items)


def guarded(function: str, path: str, does: Callable[[], Any]) -> None:
    """Run a part of a save, quietly, with the errors of orbax as ours.

    Raises:
        CheckpointSaveError: It failed.
    """
    try:
        with quiet():
            does()
    except (CheckpointExistsError, CheckpointSaveError):
        raise
    except (ValueError, OSError, KeyError, TypeError, RuntimeError) as error:
        raise CheckpointSaveError(function, path, described(error)) from error


# The writers of managers that were not closed.
_open: list[Any] = []


def open_writer(function: str) -> Any:
    """Return a writer for which the program waits when it ends before `close_writer`."""
    # `atexit` is too late: Python ends the thread pools that orbax writes with before it, and then
    # orbax waits for ever. This is the hook by which they are ended; ours comes first.
    register = getattr(threading, "_register_atexit", None)
    if not _hooked and register is not None:
        _hooked.append(register)
        register(_wait_for_all)
    made = writer(function)
    _open.append(made)
    return made


def close_writer(made: Any) -> None:
    """Wait for a writer of `open_writer` and end its threads."""
    _open[:] = [other for other in _open if other is not made]
    made.close()


_hooked: list[Any] = []


def _wait_for_all() -> None:
    for made in list(_open):
        with quiet():
            close_writer(made)


def _entry(leaf: Leaf) -> dict[str, Any]:
    variable = {"variable": type(leaf.variable).__name__} if leaf.variable is not None else {}
    path = [key_to_json(key) for key in leaf.path]
    return {"names": list(leaf.names), "path": path, **variable, **leaf.record.to_json()}


def _tree(leaves: Sequence[Leaf]) -> dict[str, Any]:
    root: dict[str, Any] = {}
    for leaf in leaves:
        if leaf.record.has_data:
            level = root
            for name in leaf.names[:-1]:
                level = level.setdefault(name, {})
            level[leaf.names[-1]] = _array(leaf)
    # orbax refuses a tree without leaves.
    return root or {NO_LEAVES: np.zeros((), np.uint8)}


def _array(leaf: Leaf) -> Any:
    value = leaf.value[...] if is_array_ref(leaf.value) else leaf.value
    if leaf.record.kind == "array":
        value = as_dtype(value, stored_dtype(leaf.record.dtype))
    if isinstance(value, jax.Array):
        return _of_all_processes(value)
    return np.asarray(value)


def _of_all_processes(value: jax.Array) -> Any:
    # orbax takes an array that each process has for itself only as numpy: the first one writes it.
    if jax.process_count() == 1 or not value.is_fully_addressable:
        return value
    is_key = jnp.issubdtype(value.dtype, jax.dtypes.prng_key)
    return np.asarray(jax.random.key_data(value) if is_key else value)
