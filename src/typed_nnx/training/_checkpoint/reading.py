"""The bytes of stored leaves, read as the arrays that a model wants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Sharding

from typed_nnx._core.paths import Path
from typed_nnx.errors import CheckpointDamagedError, CheckpointMismatchError
from typed_nnx.training._checkpoint.leaves import Leaf
from typed_nnx.training._checkpoint.names import Names
from typed_nnx.training._checkpoint.packages import orbax, quiet
from typed_nnx.training._checkpoint.records import as_dtype, stored_dtype, value_from
from typed_nnx.training._checkpoint.sources import Stored, described, keys_of_entries


@dataclass(frozen=True)
class Wanted:
    """A leaf of a model, what is stored for it and where it goes."""

    leaf: Leaf
    stored: Stored
    sharding: Sharding | None


def read(function: str, path: str, target: str, wanted: Sequence[Wanted]) -> dict[Path, Any]:
    """Return the stored value for each leaf, by its path.

    Args:
        function: The function that was called.
        path: The path of the checkpoint, for errors.
        target: The name of what is restored, for errors.
        wanted: What to read.

    Raises:
        CheckpointDamagedError: It cannot be read.
        CheckpointMismatchError: Typed keys are of another implementation than their data.
    """
    try:
        arrays = _read_arrays(function, [w for w in wanted if w.stored.record.has_data])
        found = {w.leaf.path: _as_record(w, arrays.get(w.leaf.path)) for w in wanted}
    except (ValueError, OSError, KeyError, TypeError, RuntimeError) as error:
        raise CheckpointDamagedError(function, path, described(error)) from error
    wrong = [(w.leaf.path, str(w.leaf.value.dtype), str(found[w.leaf.path].dtype))
             for w in wanted if _is_other_key(w.leaf, found[w.leaf.path])]  # fmt: skip
    if wrong:
        raise CheckpointMismatchError(function, path, target, [], [], wrong)
    return found


def _is_other_key(leaf: Leaf, found: Any) -> bool:
    return leaf.record.kind == "key" and found.dtype != leaf.value.dtype


def _read_arrays(function: str, wanted: Sequence[Wanted]) -> dict[Path, Any]:
    ocp = orbax(function)
    found: dict[Path, Any] = {}
    for folder in dict.fromkeys(w.stored.folder for w in wanted):
        here = {w.stored.keys: w for w in wanted if w.stored.folder == folder}
        how = {keys: _how(ocp, w) for keys, w in here.items()}
        tree = next(iter(here.values())).stored.tree
        # orbax wants the lists and dicts of the tree as they were; ours are all dicts.
        options = _nested(how) if tree is None else _like(tree, how, ocp.PLACEHOLDER)
        item = jax.tree.map(lambda arg: arg if arg is ocp.PLACEHOLDER else 0, options)
        args = ocp.args.PyTreeRestore(item=item, restore_args=options, partial_restore=tree is None)
        with quiet(), ocp.Checkpointer(ocp.PyTreeCheckpointHandler()) as reader:
            restored = reader.restore(folder, args=args)
        for entries, value in jax.tree_util.tree_leaves_with_path(restored):
            keys = keys_of_entries(entries)
            if keys in here:
                found[here[keys].leaf.path] = value
    return found


def _nested(values: Mapping[Names, Any]) -> dict[str, Any]:
    root: dict[str, Any] = {}
    for keys, value in values.items():
        level = root
        for key in keys[:-1]:
            level = level.setdefault(key, {})
        level[keys[-1]] = value
    return root


def _like(tree: Any, values: Mapping[Names, Any], placeholder: Any) -> Any:
    leaves, structure = jax.tree_util.tree_flatten_with_path(tree)
    chosen = [values.get(keys_of_entries(entries), placeholder) for entries, _ in leaves]
    return jax.tree.unflatten(structure, chosen)


def _how(ocp: Any, wanted: Wanted) -> Any:
    # An array without a device of its own is read by the host: orbax would bind it to devices.
    if wanted.sharding is None:
        return ocp.RestoreArgs(restore_type=np.ndarray)
    return ocp.ArrayRestoreArgs(restore_type=jax.Array, sharding=wanted.sharding)


def _as_record(wanted: Wanted, raw: Any) -> Any:
    """Return what was read as what was saved."""
    record, sharding = wanted.stored.record, wanted.sharding
    if record.kind == "value":
        return value_from(record)
    if raw is None:  # an array of size zero: nothing was written
        raw = _empty(wanted)
    if wanted.leaf.record.kind == "key":
        return _keys(wanted, raw)
    if np.dtype(raw.dtype).name == stored_dtype(record.dtype):
        raw = as_dtype(raw, record.dtype)
    if tuple(raw.shape) != record.shape or np.dtype(raw.dtype).name != record.dtype:
        raise ValueError(f"{wanted.stored.path!r} should be {record}, is {raw.dtype}{raw.shape}")
    if record.holder != "jax":
        return raw if record.holder == "numpy" else raw[()]
    if wanted.leaf.record.holder == "numpy":
        return raw
    array = jnp.asarray(raw) if sharding is None else raw
    return _weak(array, sharding) if record.weak else array


def _empty(wanted: Wanted) -> Any:
    record = wanted.stored.record
    if record.kind == "key":
        data = jax.random.key_data(jax.random.key(0, impl=record.impl))
        return np.zeros((*record.shape, *data.shape), np.uint32)
    empty = np.zeros(record.shape, record.dtype)
    return empty if wanted.sharding is None else jax.device_put(empty, wanted.sharding)


def _keys(wanted: Wanted, raw: Any) -> Any:
    if jnp.issubdtype(raw.dtype, jax.dtypes.prng_key):
        return raw
    keys = keys_of(wanted.leaf, raw, wanted.stored.record.impl)
    return keys if wanted.sharding is None else jax.device_put(keys, wanted.sharding)


def keys_of(leaf: Leaf, data: Any, impl: str | None) -> Any:
    """Return the typed keys of data.

    Args:
        leaf: The leaf that they are for.
        data: ``uint32 [..., words]``.
        impl: What was saved as their implementation; None for that of the leaf.
    """
    impl = impl or leaf.record.impl or impl_of(str(leaf.value.dtype))
    return jax.random.wrap_key_data(jnp.asarray(data), impl=impl)


def impl_of(dtype: str) -> str:
    """Return the name of the implementation of keys with a dtype, such as ``key<fry>``."""
    names = ("threefry2x32", "rbg", "unsafe_rbg")
    return next((name for name in names if key_dtype(name) == dtype), names[0])


def key_dtype(impl: str) -> str:
    """Return the name of the dtype of keys of an implementation."""
    return str(jax.eval_shape(lambda: jax.random.key(0, impl=impl)).dtype)


# The Python scalars whose arrays have a weak type.
_WEAK_ZEROS = {"i": 0, "f": 0.0, "c": 0j}


def _weak(raw: Any, sharding: Sharding | None) -> Any:
    """Return an array as one of a weak type: it was made of a Python scalar, as by `jnp.full`."""
    blank = jnp.full(raw.shape, _WEAK_ZEROS[np.dtype(raw.dtype).kind])
    if blank.dtype != raw.dtype:  # saved under another setting of x64
        return raw
    weak = blank.at[...].set(raw)
    return weak if sharding is None else jax.device_put(weak, sharding)
