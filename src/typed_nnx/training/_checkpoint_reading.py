"""Reading a checkpoint: compared leaf by leaf with a model before anything is read or changed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AbstractMesh, NamedSharding, Sharding

from typed_nnx._core.filters import Filter
from typed_nnx._core.nested import nested_of
from typed_nnx._core.paths import Key, Path, key_of_entry
from typed_nnx._core.sharding import sharding_of as declared_sharding
from typed_nnx._core.variable import Variable
from typed_nnx._graph.graphdef import GraphDef
from typed_nnx._graph.split import merge, split
from typed_nnx._transforms.eval_shape import shapes_of
from typed_nnx.errors import (
    CheckpointDamagedError,
    CheckpointError,
    CheckpointMismatchError,
    CheckpointNotFoundError,
)
from typed_nnx.training._checkpoint_files import (
    OURS,
    TREE_FILE,
    Untyped,
    folder_of,
    orbax,
    quiet,
    steps,
    trees_in,
    verify,
    versions,
)
from typed_nnx.training._checkpoint_records import (
    NO_LEAVES,
    Leaf,
    Names,
    Record,
    Value,
    as_dtype,
    cells_of,
    check_writable,
    fits,
    leaves_of,
    stored_dtype,
    value_from,
    write,
)

if TYPE_CHECKING:
    from typed_nnx.training._checkpoint_files import Folder

Placement: TypeAlias = (
    Sharding | Mapping[Key, object] | Callable[[Path, jax.ShapeDtypeStruct], Sharding | None] | None
)
"""One sharding for all arrays, a State of shardings, or a function of path and shape; None: as now."""


def sharding_of(function: str, path: str, leaf: Leaf, given: Placement) -> Sharding | None:
    """Return the sharding that a leaf gets, or None for an array that is free to move."""
    if leaf.record.kind == "value" or leaf.record.holder != "jax":
        return None
    found = _asked(leaf, given)
    if found is None:
        return _present(leaf)
    try:
        if isinstance(found, NamedSharding) and len(found.spec) > len(leaf.record.shape):
            raise ValueError("its partition has more axes than the array")  # caught below
        found.shard_shape(leaf.record.shape)
    except ValueError as error:
        problem = (
            f"cannot be restored with {found} at {leaf.path!r}, which is {leaf.record}: {error}"
        )
        fix = "give each array a sharding that divides it: sharding=lambda path, array: ..."
        raise CheckpointError(function, path, problem, fix) from error
    return found


def _asked(leaf: Leaf, given: Placement) -> Sharding | None:
    if isinstance(given, Mapping):
        level: Value = given
        for key in leaf.path:
            if isinstance(level, Variable):  # the sharding of all that is in the Variable
                break
            if not isinstance(level, Mapping) or key not in level:
                return None
            level = level[key]
        found = level.get_raw_value() if isinstance(level, Variable) else level
        return found if isinstance(found, Sharding) else getattr(found, "sharding", None)
    if given is None or isinstance(given, Sharding):
        return given
    dtype = leaf.value.dtype if leaf.record.kind == "key" else np.dtype(leaf.record.dtype)
    struct: Value = jax.ShapeDtypeStruct  # jax has no types for it
    return given(leaf.path, struct(leaf.record.shape, dtype))


def _present(leaf: Leaf) -> Sharding | None:
    """Return the sharding that a leaf has, or that the metadata of its Variable says."""
    value, variable = leaf.value, leaf.variable
    if isinstance(value, jax.Array):
        return value.sharding if value.committed else None
    if not isinstance(value, jax.ShapeDtypeStruct):
        return getattr(value, "sharding", None)  # a reference to an array
    known, in_force = value.sharding, jax.sharding.get_mesh()
    if isinstance(known, NamedSharding) and isinstance(known.mesh, AbstractMesh):
        return None if in_force.empty else NamedSharding(in_force, known.spec)
    if isinstance(known, NamedSharding):
        return known
    meta = None if variable is None else variable._meta
    names = None if meta is None else meta.get("out_sharding")
    if meta is None or names is None:
        return None
    if meta.get("mesh") is None and in_force.empty and not isinstance(names, NamedSharding):
        return None
    return declared_sharding("load", meta, abstract=False)


@dataclass(frozen=True)
class Stored:
    """A leaf in a checkpoint."""

    folder: Folder  # of the tree that it is in
    keys: Names  # in that tree
    path: Path  # as errors show it
    record: Record
    variable: str | None = None  # the name of the type of its Variable, if that was written
    tree: Untyped = None  # with what orbax knows of its leaves; None for one of ours, all dicts


@dataclass(frozen=True)
class Source:
    """A checkpoint that can be read."""

    path: str  # as the user gave it
    leaves: Sequence[Mapping[Names, Stored]]  # by name, once for each way to name them
    foreign: bool  # another program wrote it

    def naming_for(self, wanted: Sequence[Leaf]) -> Mapping[Names, Stored]:
        """Return the leaves under the names that have most in common with what is wanted."""
        return max(
            self.leaves, key=lambda named: sum(self.find(x, named) is not None for x in wanted)
        )

    def find(self, leaf: Leaf, named: Mapping[Names, Stored]) -> Stored | None:
        """Return what is stored for a leaf of a model."""
        if not self.foreign:
            return named.get(leaf.names)
        plain, in_variable = leaf.foreign_names
        return named.get(plain) or named.get(in_variable)


def folders_at(function: str, path: str, folder: Folder) -> tuple[Folder, ...]:
    """Return the folders of the trees of the newest complete checkpoint at a path."""
    if not folder.exists():
        raise CheckpointNotFoundError(function, path)
    if not folder.is_dir():
        fix = "give the folder of a checkpoint; a .safetensors file is for load_safetensors"
        raise CheckpointError(function, path, "is a file, not a checkpoint", fix)
    found = trees_in(folder)
    for numbered in (versions(folder), steps(folder)):
        numbers = numbered.complete()
        if not found and numbers:
            found = trees_in(numbered.name(numbers[-1]))
    if found:
        return found
    if not {*versions(folder).strangers()} & {*steps(folder).strangers()}:
        raise CheckpointNotFoundError(function, path, "has no complete checkpoint in it")
    fix = "give the folder that `save`, a manager or orbax wrote to"
    raise CheckpointError(function, path, "is not a checkpoint", fix)


def source_of(function: str, path: str, folders: tuple[Folder, ...]) -> Source:
    """Return the leaves of a checkpoint, without their bytes."""
    try:
        ours = json.loads((folders[0] / TREE_FILE).read_text())["custom_metadata"]
        if len(folders) == 1 and ours and OURS in ours:
            return Source(path, [_own_leaves(folders[0], ours[OURS])], False)
        trees = {folder.name: _foreign_leaves(function, folder) for folder in folders}
    except (ValueError, OSError, KeyError, TypeError, AttributeError, RuntimeError) as error:
        raise CheckpointDamagedError(function, path, described(error)) from error
    alone = {name: leaf for tree in trees.values() for name, leaf in tree.items()}
    below = {(item, *name): leaf for item, tree in trees.items() for name, leaf in tree.items()}
    if sum(map(len, trees.values())) > len(alone):  # two items have a leaf of the same name
        return Source(path, [below], True)
    return Source(path, [alone, below], True)


def described(error: Exception) -> str:
    text = str(error).partition("\n")[0].partition(" [tensorstore_spec")[0]
    return f"{type(error).__name__}: {text[:300]}"


def _own_leaves(folder: Folder, metadata: Untyped) -> dict[Names, Stored]:
    found = {}
    for entry in metadata["leaves"]:
        keys = tuple(entry["names"])
        path = tuple([k["repr"] if isinstance(k, dict) else k for k in entry["path"]])
        found[keys] = Stored(folder, keys, path, Record.from_json(entry), entry.get("variable"))
    return found


def _foreign_leaves(function: str, folder: Folder) -> dict[Names, Stored]:
    ocp = orbax(function)
    with quiet():
        tree = ocp.PyTreeCheckpointHandler().metadata(folder).tree
    leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
    found = {}
    for entries, leaf in leaves:
        path = tuple([key_of_entry(entry) for entry in entries])
        if path == (NO_LEAVES,):
            continue
        dtype = getattr(leaf, "dtype", None)
        shape = tuple(getattr(leaf, "shape", None) or ())
        kind = "value" if dtype is None else np.dtype(dtype).name
        record = Record("value" if dtype is None else "array", kind, shape)
        keys = keys_of_entries(entries)
        found[keys] = Stored(folder, keys, path, record, tree=tree)
    return found


def keys_of_entries(entries: Sequence[object]) -> Names:
    """Return the keys of a leaf in a tree of orbax."""
    return tuple([str(key_of_entry(entry)) for entry in entries])


@dataclass(frozen=True)
class Wanted:
    """A leaf of a model, what is stored for it and where it goes."""

    leaf: Leaf
    stored: Stored
    sharding: Sharding | None


def read(function: str, path: str, target: str, wanted: Sequence[Wanted]) -> dict[Path, Value]:
    """Return the stored value for each leaf, by its path."""
    try:
        arrays = _read_arrays(function, [w for w in wanted if w.stored.record.has_data])
        found = {w.leaf.path: _as_record(w, arrays.get(w.leaf.path)) for w in wanted}
    except (ValueError, OSError, KeyError, TypeError, RuntimeError) as error:
        raise CheckpointDamagedError(function, path, described(error)) from error
    keys = [(w.leaf, found[w.leaf.path].dtype) for w in wanted if w.leaf.record.kind == "key"]
    wrong = [
        (x.path, str(x.value.dtype), str(dtype)) for x, dtype in keys if dtype != x.value.dtype
    ]
    if wrong:
        raise CheckpointMismatchError(function, path, target, [], [], wrong)
    return found


def _read_arrays(function: str, wanted: Sequence[Wanted]) -> dict[Path, Value]:
    ocp = orbax(function)
    found: dict[Path, Value] = {}
    for folder in dict.fromkeys(w.stored.folder for w in wanted):
        here = {w.stored.keys: w for w in wanted if w.stored.folder == folder}
        how = {keys: _how(ocp, w) for keys, w in here.items()}
        tree = next(iter(here.values())).stored.tree
        # orbax wants the lists and dicts of the tree as they were; ours are all dicts.
        options: Untyped = nested_of(how.items())
        if tree is not None:
            leaves, structure = jax.tree_util.tree_flatten_with_path(tree)
            chosen = [how.get(keys_of_entries(entries), ocp.PLACEHOLDER) for entries, _ in leaves]
            options = jax.tree.unflatten(structure, chosen)
        item = jax.tree.map(lambda arg: arg if arg is ocp.PLACEHOLDER else 0, options)
        args = ocp.args.PyTreeRestore(item=item, restore_args=options, partial_restore=tree is None)
        with quiet(), ocp.Checkpointer(ocp.PyTreeCheckpointHandler()) as reader:
            restored = reader.restore(folder, args=args)
        for entries, value in jax.tree_util.tree_leaves_with_path(restored):
            keys = keys_of_entries(entries)
            if keys in here:
                found[here[keys].leaf.path] = value
    return found


def _how(ocp: Untyped, wanted: Wanted) -> Untyped:
    # An array without a device of its own is read by the host: orbax would bind it to devices.
    if wanted.sharding is None:
        return ocp.RestoreArgs(restore_type=np.ndarray)
    return ocp.ArrayRestoreArgs(restore_type=jax.Array, sharding=wanted.sharding)


def _as_record(wanted: Wanted, raw: Value) -> Value:
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
        message = f"{wanted.stored.path!r} should be {record}, is {raw.dtype}{raw.shape}"
        raise ValueError(message)  # `read` makes a CheckpointDamagedError of it
    if record.holder != "jax":
        return raw if record.holder == "numpy" else raw[()]
    if wanted.leaf.record.holder == "numpy":
        return raw
    array = jnp.asarray(raw) if sharding is None else raw
    return _weak(array, sharding) if record.weak else array


def _empty(wanted: Wanted) -> Value:
    record = wanted.stored.record
    if record.kind == "key":
        data = jax.random.key_data(jax.random.key(0, impl=record.impl))
        return np.zeros((*record.shape, *data.shape), np.uint32)
    empty = np.zeros(record.shape, record.dtype)
    return empty if wanted.sharding is None else jax.device_put(empty, wanted.sharding)


def _keys(wanted: Wanted, raw: Value) -> Value:
    if jnp.issubdtype(raw.dtype, jax.dtypes.prng_key):
        return raw
    keys = keys_of(wanted.leaf, raw, wanted.stored.record.impl)
    return keys if wanted.sharding is None else jax.device_put(keys, wanted.sharding)


def keys_of(leaf: Leaf, data: Value, impl: str | None) -> Value:
    """Return the typed keys of data.

    The data is ``uint32 [..., words]``; `impl` is the saved name of their implementation, if there is one.
    """
    impl = impl or leaf.record.impl
    if impl is None:  # a shape: its dtype is such as ``key<fry>``
        names = ("threefry2x32", "rbg", "unsafe_rbg")
        dtype = str(leaf.value.dtype)
        impl = next((name for name in names if key_dtype(name) == dtype), names[0])
    return jax.random.wrap_key_data(jnp.asarray(data), impl=impl)


def key_dtype(impl: str) -> str:
    return str(jax.eval_shape(lambda: jax.random.key(0, impl=impl)).dtype)


# The Python scalars whose arrays have a weak type.
_WEAK_ZEROS = {"i": 0, "f": 0.0, "c": 0j}


def _weak(raw: Value, sharding: Sharding | None) -> Value:
    """Return an array as one of a weak type: it was made of a Python scalar, as by `jnp.full`."""
    blank = jnp.full(raw.shape, _WEAK_ZEROS[np.dtype(raw.dtype).kind])
    if blank.dtype != raw.dtype:  # saved under another setting of x64
        return raw
    weak = blank.at[...].set(raw)
    return weak if sharding is None else jax.device_put(weak, sharding)


A = TypeVar("A")
PathLike = str | os.PathLike[str]


def restore_into(
    function: str,
    path: PathLike,
    node: object,
    filters: Sequence[Filter] = (),
    sharding: Placement = None,
    *,
    verified: bool = True,
) -> None:
    """Put the leaves of a checkpoint into a node, all of them or, if an error is raised, none.

    Without filters the checkpoint must have no other leaves.
    """
    orbax(function)
    cells = cells_of(function, node, filters)
    check_writable(cells)
    kind = type(node).__name__
    values = _values(
        function, path, kind, leaves_of(cells), bool(filters), sharding, verified=verified
    )
    write(node, cells, values)


def load_from(
    function: str,
    path: PathLike,
    constructor: Callable[[], A],
    sharding: Placement = None,
    *,
    verified: bool = True,
) -> A:
    """Build a model from a checkpoint; its constructor runs for the shapes only."""
    orbax(function)
    names: list[str] = []

    def parts() -> tuple[GraphDef[A], Value]:
        made = constructor()
        names.append(type(made).__name__)
        return split(made)

    # The State is taken inside: outside, a shape in a plain container is no leaf of a model.
    graphdef, state = shapes_of(parts)
    cells = cells_of(function, state)
    values = _values(function, path, names[0], leaves_of(cells), False, sharding, verified=verified)
    write(state, cells, values)
    made: A = merge(graphdef, state)
    return made


def _values(
    function: str,
    path: PathLike,
    target: str,
    leaves: Sequence[Leaf],
    partial: bool,
    sharding: Placement,
    *,
    verified: bool,
) -> dict[Path, Value]:
    shown = os.fspath(path)
    while True:
        folders = folders_at(function, shown, folder_of(path))
        try:
            # What the leaves are first: that they do not fit is said at once.
            verify(function, shown, folders, {TREE_FILE})
            source = source_of(function, shown, folders)
            pairs = matched(function, target, source, leaves, partial)
            placed = [
                Wanted(leaf, stored, sharding_of(function, shown, leaf, sharding))
                for leaf, stored in pairs
            ]
            several = jax.process_count() > 1
            if verified and several:  # they exchange what they found, each in the same order
                verify(function, shown, folders)
            if not verified or several:
                return read(function, shown, target, placed)
            with ThreadPoolExecutor(1) as pool:
                checked = pool.submit(verify, function, shown, folders)
                try:
                    return read(function, shown, target, placed)
                finally:
                    checked.result()
        except CheckpointDamagedError:
            if folders[0].exists():
                raise
            # It was replaced by a newer one while it was read: that one is read.


def matched(
    function: str, target: str, source: Source, leaves: Sequence[Leaf], partial: bool
) -> list[tuple[Leaf, Stored]]:
    """Return each leaf with what is stored for it.

    Raises:
        CheckpointMismatchError: Leaves are missing, extra or of another shape, dtype or Variable.
    """
    named = source.naming_for(leaves)
    found = [(leaf, source.find(leaf, named)) for leaf in leaves]
    missing = [(leaf.path, str(leaf.record)) for leaf, stored in found if stored is None]
    wrong = [
        (leaf.path, str(leaf.record), str(stored.record))
        for leaf, stored in found
        if stored is not None and not fits(leaf.record, stored.record, foreign=source.foreign)
    ]
    wrong += [
        (leaf.path, f"a {type(leaf.variable).__name__}", f"a {stored.variable}")
        for leaf, stored in found
        if stored is not None and not _fits_variable(leaf.variable, stored.variable)
    ]
    used = {id(stored) for _, stored in found}
    rest = [] if partial else [stored for stored in named.values() if id(stored) not in used]
    extra = [(stored.path, str(stored.record)) for stored in rest]
    if missing or extra or wrong:
        raise CheckpointMismatchError(function, source.path, target, missing, extra, wrong)
    return [(leaf, stored) for leaf, stored in found if stored is not None]


def _fits_variable(variable: Variable[Value] | None, stored: str | None) -> bool:
    """Whether a value of a Variable of the type `stored` may go into a Variable.

    It may where one type derives from the other, where one side is no Variable, and where no type has
    the stored name any more: it was renamed. A checkpoint has only names.
    """
    if variable is None or stored in (None, type(variable).__name__):
        return True
    mine = {cls.__name__ for cls in type(variable).__mro__}
    known = [cls for cls in _and_below(Variable) if cls.__name__ == stored]
    theirs = {above.__name__ for cls in known for above in cls.__mro__}
    return stored in mine or not known or type(variable).__name__ in theirs


def _and_below(cls: type) -> Iterator[type]:
    yield cls
    below: type
    for below in cls.__subclasses__():
        yield from _and_below(below)
