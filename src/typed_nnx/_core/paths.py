"""Paths through a model: their keys, their order and their text; what trees and nodes are typed as."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import jax

Key: TypeAlias = Any
"""One step of a path: an attribute name, an index or a key of a mapping (hashable)."""

Path: TypeAlias = tuple[Any, ...]
"""The steps from a root object to something in it."""

PathParts: TypeAlias = Path  # its name in flax

Tree: TypeAlias = Any
"""A pytree; what is in it is not known to checkers."""

Value: TypeAlias = Any
"""What jax takes as a leaf, or the value of a Variable: an array, a tracer, a shape, a pytree."""

Node: TypeAlias = Any
"""A Module, another object of a graph, or a Variable."""


def key_order(key: Key) -> tuple[int, Any]:
    """Return what keys are sorted by: numbers first, then texts, then the rest by type and repr."""
    if isinstance(key, int):
        return (0, key)
    if isinstance(key, str):
        return (1, key)
    return (2, (type(key).__name__, repr(key)))


def sorted_keys(keys: Iterable[Key]) -> list[Key]:
    """Return keys in the one order that traversals use."""
    found = list(keys)
    try:
        found.sort()
    except TypeError:
        found.sort(key=key_order)
    return found


def path_order(path: Path) -> tuple[tuple[int, Any], ...]:
    return tuple([key_order(key) for key in path])


def key_of_entry(entry: object) -> Key:
    """Return the key that an entry of a jax key path stands for."""
    match entry:
        case jax.tree_util.DictKey(key=key) | jax.tree_util.FlattenedIndexKey(key=key):
            return key
        case jax.tree_util.SequenceKey(idx=index):
            return index
        case jax.tree_util.GetAttrKey(name=name):
            return name
        case _:
            return str(entry)


def jax_to_nnx_path(jax_path: Iterable[Any], /) -> Path:
    """Return the path that a key path of jax stands for."""
    return tuple([key_of_entry(entry) for entry in jax_path])


def attribute_path(path: Path) -> str:
    """Return a path as one writes it in Python: ``.layers[0].kernel``."""
    parts = [
        f".{key}" if isinstance(key, str) and key.isidentifier() else f"[{key!r}]" for key in path
    ]
    return "".join(parts)


def dotted(path: Path) -> str:
    """Return the usual name of an array at a path in files: its keys with dots in between."""
    return ".".join(map(str, path))
