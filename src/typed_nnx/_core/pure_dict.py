"""States as plain nested dicts of arrays, the form that checkpoints of any kind understand."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from typed_nnx._core.nested import Nested, flat_items, mapped, nested_of
from typed_nnx._core.paths import Path
from typed_nnx._core.variable import Variable

_INTEGER = re.compile(r"-?[0-9]+")


def _value_of(leaf: Any) -> Any:
    return leaf.get_value() if isinstance(leaf, Variable) else leaf


def _replaced(leaf: Any, value: Any) -> Any:
    return leaf.replace(value) if isinstance(leaf, Variable) else value


def pure_dict_of(
    mapping: Mapping[Any, Any], extract_fn: Callable[[Any], Any] | None = None
) -> Nested:
    """Return a nested dict with ``extract_fn(leaf)`` (default: the value) for each leaf."""
    extract = _value_of if extract_fn is None else extract_fn
    return mapped(lambda _, leaf: extract(leaf), mapping)


def replaced_by_pure_dict(
    mapping: Mapping[Any, Any],
    pure_dict: Mapping[Any, Any],
    replace_fn: Callable[[Any, Any], Any] | None = None,
) -> Nested:
    """Return the nested dict of `mapping` with the values of a pure dict put in.

    Args:
        mapping: The nested leaves.
        pure_dict: Values at some or all of their paths.
        replace_fn: Makes the new leaf of the old leaf and the value.

    Raises:
        ValueError: The pure dict has a path that `mapping` has not.
    """
    replace = _replaced if replace_fn is None else replace_fn
    leaves: dict[Path, Any] = dict(flat_items(mapping))
    for path, value in _values(pure_dict, leaves, ()):
        leaves[path] = replace(leaves[path], value)
    return nested_of(leaves.items())


def _values(
    pure_dict: Mapping[Any, Any], leaves: Mapping[Path, Any], path: Path
) -> list[tuple[Path, Any]]:
    # A dict at the path of a leaf is the leaf's value, not another level.
    found: list[tuple[Path, Any]] = []
    for key, value in pure_dict.items():
        here = (*path, key)
        if here in leaves:
            found.append((here, value))
        elif isinstance(value, Mapping):
            found.extend(_values(value, leaves, here))
        else:
            raise ValueError(
                f"replace_by_pure_dict: key in pure_dict not available in state: {here!r}.\n"
                "  Fix: remove it from the pure dict; integer keys that became texts in a "
                "checkpoint come back with nnx.restore_int_paths(pure_dict)"
            )
    return found


def restore_int_paths(pure_dict: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return a pure dict in which keys that are digits became integers again."""
    return {
        int(key) if isinstance(key, str) and _INTEGER.fullmatch(key) else key: (
            restore_int_paths(value) if isinstance(value, Mapping) else value
        )
        for key, value in pure_dict.items()
    }
