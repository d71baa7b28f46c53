"""What there is at a path: checkpoints of ours, of orbax and of flax, and the leaves in them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from typed_nnx._core.paths import Path, key_of_entry
from typed_nnx.errors import (
    CheckpointDamagedError,
    CheckpointError,
    CheckpointNotFoundError,
)
from typed_nnx.training._checkpoint.directories import (
    OURS,
    TREE_FILE,
    steps,
    trees_in,
    versions,
)
from typed_nnx.training._checkpoint.leaves import Leaf
from typed_nnx.training._checkpoint.names import NO_LEAVES, Names
from typed_nnx.training._checkpoint.packages import orbax, quiet
from typed_nnx.training._checkpoint.records import Record

# Paths are `etils.epath.Path`; metadata of orbax has no types either: Any.


@dataclass(frozen=True)
class Stored:
    """A leaf in a checkpoint.

    Attributes:
        folder: The folder of the tree that it is in.
        keys: Its keys in that tree.
        path: Its path, as errors show it.
        record: What it is.
        variable: The name of the type of its Variable, if it was in one and that was written.
        tree: The tree with what orbax knows of its leaves; None for one of ours, all dicts.
    """

    folder: Any
    keys: Names
    path: Path
    record: Record
    variable: str | None = None
    tree: Any = None


@dataclass(frozen=True)
class Source:
    """A checkpoint that can be read.

    Attributes:
        path: The path, as the user gave it.
        folders: The folders of its trees.
        leaves: The leaves by name; several trees have several ways to name them.
        foreign: Another program wrote it.
    """

    path: str
    folders: tuple[Any, ...]
    leaves: Sequence[Mapping[Names, Stored]]
    foreign: bool

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


def folders_at(function: str, path: str, folder: Any) -> tuple[Any, ...]:
    """Return the folders of the trees of the newest complete checkpoint at a path.

    Raises:
        CheckpointNotFoundError: There is none.
        CheckpointError: There is something else.
    """
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


def source_of(function: str, path: str, folders: tuple[Any, ...]) -> Source:
    """Return the leaves of a checkpoint, without their bytes.

    Raises:
        CheckpointDamagedError: They cannot be read.
    """
    try:
        ours = json.loads((folders[0] / TREE_FILE).read_text())["custom_metadata"]
        if len(folders) == 1 and ours and OURS in ours:
            return Source(path, folders, [_own_leaves(folders[0], ours[OURS])], False)
        trees = {folder.name: _foreign_leaves(function, folder) for folder in folders}
    except (ValueError, OSError, KeyError, TypeError, AttributeError, RuntimeError) as error:
        raise CheckpointDamagedError(function, path, described(error)) from error
    alone = {name: leaf for tree in trees.values() for name, leaf in tree.items()}
    below = {(item, *name): leaf for item, tree in trees.items() for name, leaf in tree.items()}
    if sum(map(len, trees.values())) > len(alone):  # two items have a leaf of the same name
        return Source(path, folders, [below], True)
    return Source(path, folders, [alone, below], True)


def described(error: Exception) -> str:
    """Return the first line of an error."""
    text = str(error).partition("\n")[0].partition(" [tensorstore_spec")[0]
    return f"{type(error).__name__}: {text[:300]}"


def _own_leaves(folder: Any, metadata: Any) -> dict[Names, Stored]:
    found = {}
    for entry in metadata["leaves"]:
        keys = tuple(entry["names"])
        path = tuple([k["repr"] if isinstance(k, dict) else k for k in entry["path"]])
        found[keys] = Stored(folder, keys, path, Record.from_json(entry), entry.get("variable"))
    return found


def _foreign_leaves(function: str, folder: Any) -> dict[Names, Stored]:
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


def keys_of_entries(entries: Sequence[Any]) -> Names:
    """Return the keys of a leaf in a tree of orbax."""
    return tuple([str(key_of_entry(entry)) for entry in entries])
