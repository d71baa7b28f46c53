"""Calls whose result has the keys of a State that they are given."""

from __future__ import annotations

from typing import Final

from mypy.nodes import CallExpr, Expression, MemberExpr, NameExpr, RefExpr

from typed_nnx_mypy.names import name_of

# Functions of a tree, by the name and the position of the tree.
_MAPPINGS: Final = {
    "jax.tree.map": ("tree", 1),
    "jax.tree.map_with_path": ("tree", 1),
    "map_state": ("state", 1),
}


def mapped_tree(value: Expression | None) -> Expression | None:
    """Return the tree of which a call returns another one with the same keys.

    ``jax.tree.map(f, params)`` has those of ``params``, whatever ``f`` is. optax has no types for
    mypy, so its function is known by how it is written.
    """
    if not isinstance(value, CallExpr) or any(kind.is_star() for kind in value.arg_kinds):
        return None
    match value.callee:
        case MemberExpr(name="apply_updates", expr=NameExpr(name="optax")):
            return _argument(value, "params", 0)
        case RefExpr(fullname=fullname) if fullname:
            name = name_of(fullname)
            known = _MAPPINGS.get(name.public) if name is not None else None
            if known is None or "is_leaf" in value.arg_names:
                return None  # with is_leaf, a whole State may be a leaf
            return _argument(value, *known)
        case MemberExpr(name="map", expr=tree):
            return tree
        case _:
            return None


def _argument(call: CallExpr, name: str, position: int) -> Expression | None:
    if name in call.arg_names:
        return call.args[call.arg_names.index(name)]
    is_given = position < len(call.args) and call.arg_names[position] is None
    return call.args[position] if is_given else None
