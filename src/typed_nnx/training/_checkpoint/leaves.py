"""The leaves of a model for a checkpoint: found with their names, written back in place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax

from typed_nnx._core.filters import Filter
from typed_nnx._core.nested import flat_items, grouped
from typed_nnx._core.nodes import CONTAINER, OBJECT, kind_of
from typed_nnx._core.paths import Path, key_of_entry
from typed_nnx._core.references import is_array_ref
from typed_nnx._core.state import State
from typed_nnx._core.trace import context
from typed_nnx._core.variable import Variable
from typed_nnx._graph.graph_state import GraphState
from typed_nnx._graph.split_merge import state as state_of
from typed_nnx._graph.update import update
from typed_nnx.errors import CheckpointLeafError
from typed_nnx.training._checkpoint.names import Names, names_of, plain_names_of
from typed_nnx.training._checkpoint.records import Record, record_of

# Models, States and their values are of any type: Any.


@dataclass(frozen=True)
class Leaf:
    """An array or a value of Python that a checkpoint holds on its own.

    Attributes:
        path: The path of the Variable or array, then the path inside its value.
        depth: The length of the path of the Variable or array.
        variable: The Variable, if it is in one.
        value: The array or value.
        record: What it is.
    """

    path: Path
    depth: int
    variable: Variable[Any] | None
    value: Any
    record: Record

    @property
    def names(self) -> Names:
        """The names of the path in a checkpoint of ours."""
        return names_of(self.path)

    @property
    def foreign_names(self) -> tuple[Names, Names]:
        """The names of the path as flax writes them: of pure values, and of Variables."""
        plain = plain_names_of(self.path)
        return plain, (*plain[: self.depth], "value", *plain[self.depth :])


@dataclass(frozen=True)
class Cell:
    """A leaf of a State: a Variable or an array, whose value may be a tree of leaves."""

    path: Path
    holder: Any
    structure: Any
    leaves: Sequence[Leaf]


def cells_of(function: str, node: Any, filters: Sequence[Filter] = ()) -> list[Cell]:
    """Return the leaves of the State of a node, those that match a filter if any is given.

    Raises:
        CheckpointLeafError: Some of them cannot be in a checkpoint.
    """
    items = _items(function, node)
    if filters:
        items = [item for group in grouped(items, filters)[0] for item in group]
    bad: list[tuple[Path, str]] = []
    cells = [_cell(path, holder, bad) for path, holder in items]
    if bad:
        fix = "turn them into arrays, or leave them out: save(path, nnx.state(model, nnx.Param))"
        raise CheckpointLeafError(function, bad, fix)
    return cells


def leaves_of(cells: Sequence[Cell]) -> list[Leaf]:
    """Return the leaves in all cells."""
    return [leaf for cell in cells for leaf in cell.leaves]


def _items(function: str, node: Any) -> list[tuple[Path, Any]]:
    if isinstance(node, GraphState):
        node = node.state
    if isinstance(node, State):
        return list(flat_items(node))
    if isinstance(node, Variable):
        return [((), node)]
    if kind_of(node) not in (OBJECT, CONTAINER):
        kind = f"{type(node).__name__}, given as the whole"
        raise CheckpointLeafError(function, [((), kind)], "put it into a dict or an nnx.Variable")
    return list(flat_items(state_of(node)))


def _cell(path: Path, holder: Any, bad: list[tuple[Path, str]]) -> Cell:
    variable = holder if isinstance(holder, Variable) else None
    value = holder if variable is None else variable.get_raw_value()
    found, structure = jax.tree_util.tree_flatten_with_path(value)
    leaves = []
    for entries, part in found:
        here = (*path, *[key_of_entry(entry) for entry in entries])
        record = record_of(part)
        if isinstance(record, str):
            bad.append((here, record))
        else:
            leaves.append(Leaf(here, len(path), variable, part, record))
    return Cell(path, holder, structure, leaves)


def check_writable(cells: Sequence[Cell]) -> None:
    """Raise if a value cannot be written where it belongs.

    Raises:
        TraceLevelError: A Variable belongs to another jax trace.
    """
    for cell in cells:
        if isinstance(cell.holder, Variable) and cell.holder._nnx_trace != context.trace:
            cell.holder._refuse()


def write(node: Any, cells: Sequence[Cell], values: Mapping[Path, Any]) -> None:
    """Put values into the Variables and arrays of a node, in place.

    Args:
        node: What the cells were found in.
        cells: Its cells; checked by `check_writable`.
        values: The new value of each leaf by its path.
    """
    made = [(cell, _made(cell, values)) for cell in cells]
    # Bare arrays first: this may be refused (an immutable tuple), and then nothing was changed.
    _write_arrays(node, [(c.path, new) for c, new in made if not isinstance(c.holder, Variable)])
    for cell, new in made:
        if isinstance(cell.holder, Variable):
            _write_raw(cell.holder, new)


def _made(cell: Cell, values: Mapping[Path, Any]) -> Any:
    return jax.tree.unflatten(cell.structure, [values[leaf.path] for leaf in cell.leaves])


def _write_raw(variable: Variable[Any], new: Any) -> None:
    raw: Any = variable.get_raw_value()
    if is_array_ref(raw):
        raw[...] = new
    else:
        variable.set_raw_value(new)


def _write_arrays(node: Any, items: Sequence[tuple[Path, Any]]) -> None:
    if isinstance(node, GraphState):
        node = node.state
    if not isinstance(node, State):
        if items:
            update(node, State.from_flat_path(items))
        return
    for path, value in items:
        level: Any = node.raw_mapping
        for key in path[:-1]:
            level = level[key]
        level[path[-1]] = value
