"""A checkpoint and a model, compared leaf by leaf before anything is read or changed."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import jax

from typed_nnx._core.filters import Filter
from typed_nnx._core.paths import Path
from typed_nnx._core.variable import Variable
from typed_nnx._graph.graphdef import GraphDef
from typed_nnx._graph.split_merge import merge, split
from typed_nnx._transforms.eval_shape import shapes_of
from typed_nnx.errors import CheckpointDamagedError, CheckpointMismatchError
from typed_nnx.training._checkpoint.checksums import verify
from typed_nnx.training._checkpoint.directories import TREE_FILE
from typed_nnx.training._checkpoint.leaves import (
    Leaf,
    cells_of,
    check_writable,
    leaves_of,
    write,
)
from typed_nnx.training._checkpoint.packages import folder_of, orbax
from typed_nnx.training._checkpoint.placement import Placement, sharding_of
from typed_nnx.training._checkpoint.reading import Wanted, read
from typed_nnx.training._checkpoint.records import fits
from typed_nnx.training._checkpoint.sources import Source, folders_at, source_of

A = TypeVar("A")
PathLike = str | os.PathLike[str]


def restore_into(
    function: str,
    path: PathLike,
    node: Any,
    filters: Sequence[Filter] = (),
    sharding: Placement = None,
    *,
    verified: bool = True,
) -> None:
    """Put the leaves of a checkpoint into a node, all of them or, if an error is raised, none.

    Args:
        function: The function that was called.
        path: The path of the checkpoint.
        node: What to restore.
        filters: Which leaves; all without filters, and then the checkpoint must have no others.
        sharding: Where the arrays go.
        verified: Compare all files with their checksums.
    """
    orbax(function)
    cells = cells_of(function, node, filters)
    check_writable(cells)
    asked = _Asked(function, path, type(node).__name__, bool(filters), sharding, verified)
    write(node, cells, _values(asked, leaves_of(cells)))


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

    def parts() -> tuple[GraphDef[A], Any]:
        made = constructor()
        names.append(type(made).__name__)
        return split(made)

    # The State is taken inside: outside, a shape in a plain container is no leaf of a model.
    graphdef, state = shapes_of(parts)
    cells = cells_of(function, state)
    asked = _Asked(function, path, names[0], False, sharding, verified)
    write(state, cells, _values(asked, leaves_of(cells)))
    made: A = merge(graphdef, state)
    return made


@dataclass(frozen=True)
class _Asked:
    """What the user asked for.

    Attributes:
        function: The function that was called.
        path: The path of the checkpoint.
        target: The name of the type of what is restored.
        partial: The checkpoint may have more leaves than are asked for.
        sharding: Where the arrays go.
        verified: Compare all files with their checksums.
    """

    function: str
    path: PathLike
    target: str
    partial: bool
    sharding: Placement
    verified: bool


def _values(asked: _Asked, leaves: Sequence[Leaf]) -> dict[Path, Any]:
    function, shown = asked.function, os.fspath(asked.path)
    while True:
        folders = folders_at(function, shown, folder_of(asked.path))
        try:
            # What the leaves are first: that they do not fit is said at once.
            verify(function, shown, folders, {TREE_FILE})
            source = source_of(function, shown, folders)
            pairs = matched(function, asked.target, source, leaves, asked.partial)
            placed = [
                Wanted(leaf, stored, sharding_of(function, shown, leaf, asked.sharding))
                for leaf, stored in pairs
            ]
            return _verified_values(asked, folders, placed)
        except CheckpointDamagedError:
            if folders[0].exists():
                raise
            # It was replaced by a newer one while it was read: that one is read.


def _verified_values(
    asked: _Asked, folders: tuple[Any, ...], placed: Sequence[Wanted]
) -> dict[Path, Any]:
    function, shown = asked.function, os.fspath(asked.path)
    if not asked.verified:
        return read(function, shown, asked.target, placed)
    if jax.process_count() > 1:  # the processes exchange what they found, each in the same order
        verify(function, shown, folders)
        return read(function, shown, asked.target, placed)
    with ThreadPoolExecutor(1) as pool:
        checked = pool.submit(verify, function, shown, folders)
        try:
            return read(function, shown, asked.target, placed)
        finally:
            checked.result()


def matched(
    function: str, target: str, source: Source, leaves: Sequence[Leaf], partial: bool
) -> list[tuple[Leaf, Any]]:
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
    kinds = _Kinds()
    wrong += [
        (leaf.path, f"a {type(leaf.variable).__name__}", f"a {stored.variable}")
        for leaf, stored in found
        if stored is not None and not kinds.fit(leaf.variable, stored.variable)
    ]
    used = {id(stored) for _, stored in found}
    rest = [] if partial else [stored for stored in named.values() if id(stored) not in used]
    extra = [(stored.path, str(stored.record)) for stored in rest]
    if missing or extra or wrong:
        raise CheckpointMismatchError(function, source.path, target, missing, extra, wrong)
    return [(leaf, stored) for leaf, stored in found if stored is not None]


class _Kinds:
    """Which types of Variables may take the place of which, by name: a checkpoint has only names."""

    def __init__(self) -> None:
        self._above: dict[str, set[str]] | None = None

    def fit(self, variable: Variable[Any] | None, stored: str | None) -> bool:
        """Whether a value of a Variable of the type `stored` may go into a Variable.

        It may where one type derives from the other, where one side is no Variable, and where no
        type has the stored name any more: it was renamed.
        """
        if variable is None or stored in (None, type(variable).__name__):
            return True
        mine = {cls.__name__ for cls in type(variable).__mro__}
        if self._above is None:
            self._above = _names_above(Variable, {})
        theirs = self._above.get(str(stored))
        return stored in mine or theirs is None or type(variable).__name__ in theirs


def _names_above(cls: type, found: dict[str, set[str]]) -> dict[str, set[str]]:
    """Map the name of each type below `cls` to the names of the types that it derives from."""
    found.setdefault(cls.__name__, set()).update(above.__name__ for above in cls.__mro__)
    below: type
    for below in cls.__subclasses__():
        _names_above(below, found)
    return found
