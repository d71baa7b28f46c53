"""What `fwd` of `custom_vjp` keeps for `bwd`: any tree, with Modules, as plain values."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from typed_nnx._core.references import is_array_ref
from typed_nnx._graph.graphdef import GraphDef
from typed_nnx._graph.rebuild import rebuild
from typed_nnx._graph.traversal import Traversal
from typed_nnx._transforms.gather import is_object, raw_values
from typed_nnx._transforms.signature import Static


class _Plan:
    """How residuals are put together again.

    Attributes:
        treedef: Their structure with an object as a leaf.
        leaves: For each leaf the structure of an object, a `Static` value, or None for an array.
    """

    __slots__ = ("leaves", "treedef")

    def __init__(self, treedef: Any, leaves: tuple[Any, ...]) -> None:
        self.treedef = treedef
        self.leaves = leaves

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Plan) and (
            (self.treedef, self.leaves) == (other.treedef, other.leaves)
        )

    def __hash__(self) -> int:
        return hash((self.treedef, len(self.leaves)))


def packed(residuals: Any) -> tuple[list[Any], Static]:
    """Return the values of residuals as jax takes them, and what is static about them."""
    leaves, treedef = jax.tree.flatten(residuals, is_leaf=is_object)
    index: dict[int, int] = {}
    count = 0
    values: list[Any] = []
    plan: list[Any] = []
    for leaf in leaves:
        if is_object(leaf):
            traversal: Traversal = Traversal(index, count).visit(leaf)
            count += len(traversal.items)
            plan.append(GraphDef(tuple(traversal.items), base=traversal.base))
            raw = raw_values(traversal)
            values.append([value[...] if is_array_ref(value) else value for value in raw])
        elif isinstance(leaf, _ARRAYS):
            plan.append(None)
            values.append(leaf)
        else:
            plan.append(Static(leaf))
            values.append(None)
    return values, Static(_Plan(treedef, tuple(plan)))


def unpacked(values: list[Any], static: Static) -> Any:
    """Undo `packed`, with new objects."""
    plan: _Plan = static.value
    made: dict[int, Any] = {}
    leaves = [_unpacked(entry, own, made) for entry, own in zip(plan.leaves, values, strict=True)]
    return plan.treedef.unflatten(leaves)


def _unpacked(entry: Any, own: Any, made: dict[int, Any]) -> Any:
    if isinstance(entry, GraphDef):
        return rebuild(entry, own, made)
    return entry.value if isinstance(entry, Static) else own


_ARRAYS = (jax.Array, np.ndarray, np.generic, bool, int, float, complex)
