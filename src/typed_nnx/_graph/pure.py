"""Trees without Variables, and trees without arrays."""

from __future__ import annotations

from typing import Any, TypeVar

import jax

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
