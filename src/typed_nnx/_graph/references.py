"""Arrays to array references and back, bare or inside Variables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import jax

from typed_nnx._core.filters import Filter, Predicate, to_predicate
from typed_nnx._core.nodes import LEAF, kind_of
from typed_nnx._core.paths import Path, key_of_entry
from typed_nnx._core.references import is_array_ref, new_array_ref
from typed_nnx._core.var_defaults import warn_of_hijax
from typed_nnx._core.variable import Variable
from typed_nnx.errors import DuplicatePathsError

A = TypeVar("A")


def _is_array(_: Path, value: Any) -> bool:
    return kind_of(value.get_raw_value() if isinstance(value, Variable) else value) == LEAF


def _is_reference(_: Path, value: Any) -> bool:
    return is_array_ref(value.get_raw_value() if isinstance(value, Variable) else value)


def _is_leaf(value: Any) -> bool:
    return isinstance(value, Variable) or is_array_ref(value)


def _converted(
    node: Any, only: Predicate, convert: Callable[[Any], Any], duplicates: bool, fix: str
) -> Any:
    entries, treedef = jax.tree_util.tree_flatten_with_path(node, is_leaf=_is_leaf)
    paths = [tuple([key_of_entry(entry) for entry in path]) for path, _ in entries]
    chosen = [only(path, leaf) for path, (_, leaf) in zip(paths, entries, strict=True)]
    if not duplicates:
        _check_once([(p, e[1]) for p, e, c in zip(paths, entries, chosen, strict=True) if c], fix)
    leaves = [
        convert(leaf) if take else leaf for (_, leaf), take in zip(entries, chosen, strict=True)
    ]
    return jax.tree_util.tree_unflatten(treedef, leaves)


def _check_once(entries: list[tuple[Path, Any]], fix: str) -> None:
    found: dict[int, list[Path]] = {}
    for path, leaf in entries:
        found.setdefault(id(leaf), []).append(path)
    for (_, leaf), paths in zip(entries, [found[id(leaf)] for _, leaf in entries], strict=True):
        if len(paths) > 1:
            raise DuplicatePathsError(type(leaf).__name__, list(paths), fix)


def _to_reference(leaf: Any) -> Any:
    if not isinstance(leaf, Variable):
        return leaf if is_array_ref(leaf) else new_array_ref(leaf)
    raw = leaf.get_raw_value()
    return (
        leaf if is_array_ref(raw) else leaf.replace(new_array_ref(raw), _copy_ref=False, ref=True)
    )


def _to_array(leaf: Any) -> Any:
    if not isinstance(leaf, Variable):
        return leaf[...] if is_array_ref(leaf) else leaf
    raw = leaf.get_raw_value()
    return leaf.replace(raw[...], ref=False) if is_array_ref(raw) else leaf


def to_refs(node: A, /, only: Filter = _is_array) -> A:
    """Return the structure with array references for its arrays.

    Args:
        node: Any pytree; Variables become Variables that hold references.
        only: Which arrays.

    Raises:
        DuplicatePathsError: An array is there twice; which copy a write should reach is unclear.
    """
    fix = "copy the array for one of the paths, or share a Variable"
    return _converted(node, to_predicate(only), _to_reference, False, fix)  # type: ignore[no-any-return]  # the same structure


def to_arrays(node: A, /, *, only: Filter = _is_reference, allow_duplicates: bool = False) -> A:
    """Return the structure with arrays for its array references.

    Args:
        node: Any pytree; Variables that hold references become Variables that hold arrays.
        only: Which references.
        allow_duplicates: Accept a reference that is there twice; it becomes two arrays.

    Raises:
        DuplicatePathsError: A reference is there twice.
    """
    fix = "pass allow_duplicates=True, or keep the references"
    return _converted(node, to_predicate(only), _to_array, allow_duplicates, fix)  # type: ignore[no-any-return]  # the same structure


def with_vars(
    node: A,
    /,
    *,
    hijax: bool | None = None,
    ref: bool | None = None,
    mutable: bool | None = None,
    only: Filter = ...,
    allow_duplicates: bool = False,
) -> A:
    """Return the structure with its Variables turned into or from Variables with references.

    Args:
        node: Any pytree.
        hijax: Sets the metadata item of this name.
        ref: True for references, False for arrays, None to leave them.
        mutable: Sets the metadata item of this name.
        only: Which Variables.
        allow_duplicates: Accept a Variable that is there twice; it becomes two.

    Raises:
        DuplicatePathsError: A Variable is there twice.
    """
    if hijax:
        warn_of_hijax()
    predicate = to_predicate(only)
    flags = {"hijax": hijax, "mutable": mutable}
    wanted = {name: value for name, value in flags.items() if value is not None}

    def convert(leaf: Any) -> Any:
        if not isinstance(leaf, Variable):
            return leaf
        made = leaf if ref is None else (_to_reference(leaf) if ref else _to_array(leaf))
        if all(made.get_metadata(name, None) is value for name, value in wanted.items()):
            return made
        return made.replace(_copy_ref=False, **wanted)

    fix = "pass allow_duplicates=True, or give each path a Variable of its own"
    return _converted(  # type: ignore[no-any-return]  # the same structure
        node,
        lambda path, leaf: isinstance(leaf, Variable) and predicate(path, leaf),
        convert,
        allow_duplicates,
        fix,
    )


vars_as = with_vars
