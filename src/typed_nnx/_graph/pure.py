"""Trees without Variables, and trees without arrays."""

from __future__ import annotations

from typing import Any, TypeVar

import jax

from typed_nnx._core.nodes import LEAF, kind_of
from typed_nnx._core.variable import Variable

A = TypeVar("A")


def _is_variable(value: Any) -> bool:
    return isinstance(value, Variable)


def pure(tree: A) -> A:
    """Return the tree with the value of each Variable in the place of the Variable.

    Args:
        tree: Any pytree, such as a State or a Module.
    """
    made: A = jax.tree.map(
        lambda leaf: leaf.get_raw_value() if isinstance(leaf, Variable) else leaf,
        tree,
        is_leaf=_is_variable,
    )
    return made


as_pure = pure


def as_abstract(tree: A, graph: bool | None = None) -> A:
    """Return the tree with shapes, dtypes and shardings (`jax.ShapeDtypeStruct`) for its arrays.

    Args:
        tree: Any pytree, such as a State or a Module.
        graph: Accepted for compatibility.
    """
    del graph
    made: A = jax.tree.map(_abstract, tree)
    return made


def _abstract(leaf: Any) -> Any:
    if kind_of(leaf) != LEAF:
        return leaf
    sharding = getattr(leaf, "sharding", None)
    return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=sharding)  # type: ignore[no-untyped-call]  # jax has no types for it
