"""Files of safetensors: named arrays, exchanged with other programs."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Sharding

from typed_nnx._core.filters import Filter
from typed_nnx._core.jax_runtime import is_array_ref
from typed_nnx._core.paths import Path, dotted
from typed_nnx.errors import (
    CheckpointDamagedError,
    CheckpointError,
    CheckpointExistsError,
    CheckpointLeafError,
    CheckpointMismatchError,
    CheckpointNotFoundError,
)
from typed_nnx.training._checkpoint_files import Untyped, safetensors
from typed_nnx.training._checkpoint_reading import (
    Placement,
    described,
    key_dtype,
    keys_of,
    sharding_of,
)
from typed_nnx.training._checkpoint_records import (
    Leaf,
    Record,
    Value,
    cells_of,
    check_writable,
    fits,
    leaves_of,
    write,
)

NameOf: TypeAlias = Callable[[Path], str | None]
"""The name of the tensor at a path; None for a leaf that is not in the file."""

Tensor: TypeAlias = np.ndarray[Any, Any]
"""An array of any shape and dtype."""

KEYS = "typed_nnx.keys"
"""The entry of the header that says which tensors are data of PRNG keys, and of which kind."""

# What the format has; the names are those of numpy, with the names of the format where they are read.
DTYPES = {
    "bool": "BOOL", "int8": "I8", "int16": "I16", "int32": "I32", "int64": "I64", "uint8": "U8",
    "uint16": "U16", "uint32": "U32", "uint64": "U64", "float16": "F16", "float32": "F32",
    "float64": "F64", "bfloat16": "BF16", "complex64": "C64", "float8_e4m3fn": "F8_E4M3",
    "float8_e5m2": "F8_E5M2", "float8_e4m3fnuz": "F8_E4M3FNUZ", "float8_e5m2fnuz": "F8_E5M2FNUZ",
    "float8_e8m0fnu": "F8_E8M0",
}  # fmt: skip
_NAMES = {theirs: ours for ours, theirs in DTYPES.items()}


def save_safetensors(
    path: str | os.PathLike[str],
    node: object,
    *filters: Filter,
    name: NameOf = dotted,
    overwrite: bool = False,
) -> None:
    """Write the arrays of a model to a safetensors file.

    Typed PRNG keys are written as their data (``uint32 [..., words]``), and the header lists these
    tensors (``typed_nnx.keys``). The file is written completely or not at all.

    Args:
        path: The file.
        node: As for `save`.
        *filters: Which leaves to write; all without filters.
        name: The name of the tensor at a path; None leaves it out. By default the keys with dots
            in between: ``layers.0.kernel``.
        overwrite: Replace the file that is there.

    Raises:
        CheckpointExistsError: There is one, and `overwrite` is False.
        CheckpointLeafError: The format has no dtype for some leaves; all of them are listed.
        CheckpointError: The path is a folder, or two leaves have one name.
        MissingPackageError: safetensors is not installed.
    """
    function, shown = "save_safetensors", os.fspath(path)
    library = safetensors(function)
    leaves = _writable(function, leaves_of(cells_of(function, node, filters)))
    named = _named(leaves, name)
    _check_one_each(function, shown, named, "give each path a name of its own")
    if os.path.isdir(shown):
        raise CheckpointError(function, shown, "is a folder", "give the path of a file")
    if os.path.exists(shown) and not overwrite:
        fix = "save_safetensors(path, model, overwrite=True)"
        raise CheckpointExistsError(function, shown, fix=fix)
    single = {text: leaf for text, (leaf,) in named.items()}
    keys = {text: leaf.record.impl for text, leaf in single.items() if leaf.record.kind == "key"}
    metadata = {KEYS: json.dumps(keys)} if keys else None
    unfinished = f"{shown}.{os.getpid()}.unfinished"
    arrays = {text: _data(leaf) for text, leaf in single.items()}
    try:
        library.numpy.save_file(arrays, unfinished, metadata=metadata)
        os.replace(unfinished, shown)
    finally:
        if os.path.exists(unfinished):
            os.remove(unfinished)


def _writable(function: str, leaves: Sequence[Leaf]) -> Sequence[Leaf]:
    bad = [
        (leaf.path, f"{leaf.record}, for which the format has no dtype")
        for leaf in leaves
        if leaf.record.abstract or leaf.record.kind == "value"
        or (leaf.record.kind == "array" and leaf.record.dtype not in DTYPES)
    ]  # fmt: skip
    if bad:
        fix = "leave them out with a filter: save_safetensors(path, model, nnx.Param)"
        raise CheckpointLeafError(function, bad, fix)
    return leaves


def _named(leaves: Sequence[Leaf], name: NameOf) -> dict[str, list[Leaf]]:
    """Return the leaves of each tensor."""
    found: dict[str, list[Leaf]] = {}
    for leaf in leaves:
        text = name(leaf.path)
        if text is not None:
            found.setdefault(text, []).append(leaf)
    return found


def _check_one_each(
    function: str, path: str, named: Mapping[str, Sequence[Leaf]], fix: str
) -> None:
    for text, (leaf, *others) in named.items():
        if others:
            problem = f"would have two tensors {text!r}, of {leaf.path!r} and {others[0].path!r}"
            raise CheckpointError(function, path, problem, fix)


def _data(leaf: Leaf) -> Tensor:
    value = leaf.value[...] if is_array_ref(leaf.value) else leaf.value
    if leaf.record.kind == "key":
        value = jax.random.key_data(value)
    # The library writes the memory as it lies.
    return np.ascontiguousarray(value).reshape(np.shape(value))


def load_safetensors(
    path: str | os.PathLike[str],
    node: object,
    *filters: Filter,
    name: NameOf = dotted,
    transform: Callable[[Path, Tensor], Tensor] | None = None,
    sharding: Placement = None,
) -> None:
    """Put the arrays of a safetensors file into a model, in place.

    Either all values are restored or, if an error is raised, none. Typed PRNG keys are created from
    their data. Shapes and dtypes must be those of the model.

    Args:
        path: The file.
        node: As for `restore`.
        *filters: Which leaves to restore; all without filters, and then the file must have no
            others.
        name: The name of the tensor at a path; a leaf for which it is None stays as it is.
        transform: Makes of a path and the array in the file the array for the model, such as the
            transpose of a kernel. With it several leaves may have one name, and take a part each.
        sharding: As for `restore`.

    Raises:
        CheckpointNotFoundError: There is no file.
        CheckpointMismatchError: Tensors are missing, extra, or of another shape or dtype; all of them
            are listed.
        CheckpointDamagedError: The file is no safetensors file, or is truncated.
        CheckpointError: The path is a folder, two leaves have one name and there is no `transform`, or
            a sharding does not divide an array.
        MissingPackageError: safetensors is not installed.
    """
    function, shown = "load_safetensors", os.fspath(path)
    library = safetensors(function)
    cells = cells_of(function, node, filters)
    check_writable(cells)
    leaves = leaves_of(cells)
    named = _named(leaves, name)
    if transform is None:
        fix = "transform=lambda path, array: ... says which part of a tensor each of them takes"
        _check_one_each(function, shown, named, fix)
    if not os.path.exists(shown):
        raise CheckpointNotFoundError(function, shown)
    if os.path.isdir(shown):
        fix = "give the path of a .safetensors file; a folder is for nnx's `restore`"
        raise CheckpointError(function, shown, "is a folder", fix)
    try:
        tensors, keys = _read(library, shown, named)
    except (library.SafetensorError, OSError) as error:
        raise CheckpointDamagedError(function, shown, described(error)) from error
    extra = [] if filters else [text for text in tensors if text not in named]
    missing = [
        (leaf.path, f"{leaf.record} as {text!r}")
        for text, group in named.items() if text not in tensors for leaf in group
    ]  # fmt: skip
    entries = []
    for text, group in named.items():
        for leaf in group if text in tensors else ():
            array = tensors[text]
            if transform is not None and not isinstance(array, Record):
                array = np.asarray(transform(leaf.path, array))
            entries.append(Entry(leaf, text, array, keys.get(text)))
    wrong = [entry.difference for entry in entries if entry.difference is not None]
    if missing or extra or wrong:
        found = [((text,), str(_record(tensors[text]))) for text in extra]
        raise CheckpointMismatchError(function, shown, type(node).__name__, missing, found, wrong)
    values = {leaf.path: leaf.value for leaf in leaves}
    for leaf, _, array, kind in entries:
        where = sharding_of(function, shown, leaf, sharding)
        values[leaf.path] = _placed(leaf, array, kind, where)
    write(node, cells, values)


def _read(
    library: Untyped, path: str, named: Mapping[str, Sequence[Leaf]]
) -> tuple[dict[str, Tensor | Record], dict[str, str]]:
    """Return the arrays of a file that have a leaf, records of the others, and the kinds of keys."""
    found: dict[str, Tensor | Record] = {}
    with library.safe_open(path, framework="numpy") as file:
        keys = json.loads((file.metadata() or {}).get(KEYS, "{}"))
        for text in file.keys():  # noqa: SIM118  # it is no mapping
            part = file.get_slice(text)
            dtype, shape = _NAMES.get(part.get_dtype()), tuple(part.get_shape())
            record = Record("array", dtype or str(part.get_dtype()), shape)
            wanted = text in named and dtype is not None
            found[text] = _tensor(library, path, file, text, record) if wanted else record
    return found, keys


def _tensor(library: Untyped, path: str, file: Untyped, text: str, record: Record) -> Tensor:
    # The library gives numpy no arrays of eight bits: those are taken as bytes.
    if not record.dtype.startswith("float8"):
        tensor: Tensor = file.get_tensor(text)
        return tensor
    with open(path, "rb") as whole:
        parts = dict(library.deserialize(whole.read()))
    return np.frombuffer(parts[text]["data"], np.dtype(record.dtype)).reshape(record.shape)


class Entry(NamedTuple):
    """A leaf and what the file has for it.

    Attributes:
        leaf: The leaf.
        text: The name of the tensor.
        array: What is to go into the leaf; a Record where the dtype is unknown.
        kind: The implementation of typed keys, if the tensor is data of such.
    """

    leaf: Leaf
    text: str
    array: Tensor | Record
    kind: str | None

    @property
    def difference(self) -> tuple[Path, str, str] | None:
        """Path, what was expected and what was found, if that does not fit."""
        wanted, found = self.leaf.record, _record(self.array)
        if wanted.kind == "key" and self.kind is not None and key_dtype(self.kind) != wanted.dtype:
            return self.leaf.path, str(wanted), f"{self.kind} as {self.text!r}"
        if fits(wanted, found, foreign=True):
            return None
        return self.leaf.path, str(wanted), f"{self.kind or found} as {self.text!r}"


def _record(array: Tensor | Record) -> Record:
    if isinstance(array, Record):
        return array
    return Record("array", np.dtype(array.dtype).name, tuple(array.shape))


def _placed(leaf: Leaf, array: Value, impl: str | None, sharding: Sharding | None) -> Value:
    if leaf.record.kind != "key" and leaf.record.holder != "jax":
        return array
    is_key = leaf.record.kind == "key"
    made = keys_of(leaf, array, impl) if is_key else jnp.asarray(array)
    return made if sharding is None else jax.device_put(made, sharding)
