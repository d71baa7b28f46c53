"""Nested Variables written into the objects that a path leads through."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

import jax

from typed_nnx._core.fields import data
from typed_nnx._core.nodes import CONTAINER, LEAF, OBJECT, all_entries, kind_of
from typed_nnx._core.paths import Key, Path
from typed_nnx._core.pytree import Pytree
from typed_nnx._core.variable import Variable

_MISSING: Any = object()


def fill(node: Any, attrs: Mapping[Key, Any], path: Path = ()) -> list[Path]:
    """Write Variables into an object, in place; what is not there yet becomes an attribute.

    A Variable that is there stays the same object, so that whoever holds it sees the new value.

    Args:
        node: An object or a container.
        attrs: Nested mappings with Variables as leaves.
        path: The path of `node`.

    Returns:
        The paths of the Variables that were not there.
    """
    unknown: list[Path] = []
    known = dict(all_entries(node))
    wrap = getattr(type(node), "_nnx_waiting", dict)  # a `bridge.Module` has not made it yet
    for key, value in attrs.items():
        here = (*path, key)
        there = known.get(key, _MISSING)
        if isinstance(there, Variable):
            _write(node, key, there, value)
        elif isinstance(value, Mapping) and kind_of(there) in (OBJECT, CONTAINER):
            unknown += fill(there, value, here)
        elif there is not _MISSING and kind_of(there) == LEAF and isinstance(value, Variable):
            _set(node, key, value.get_value())
        else:
            unknown += [(*here, *rest) for rest in _paths(value)]
            _set(node, key, wrap(value) if isinstance(value, Mapping) else value)
    return unknown


def _write(node: Any, key: Key, there: Variable[Any], value: Any) -> None:
    if isinstance(value, Mapping):  # the value of the Variable is a dict itself
        there.set_raw_value(_plain(value))
    elif isinstance(there.get_raw_value(), jax.Ref):
        there.get_raw_value()[...] = value.get_value()
    elif _says_nothing_new(value, there):
        there.set_raw_value(value.get_raw_value())
    elif type(value) is type(there):
        there.update_from_state(value)
    else:
        _set(node, key, value)


def _says_nothing_new(value: Variable[Any], there: Variable[Any]) -> bool:
    known = there.get_metadata()
    return all(
        name in ("hijax", "ref", "eager_sharding") or (name in known and known[name] == given)
        for name, given in value.get_metadata().items()
    )


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    return value.get_value()


def _paths(value: Any) -> Iterator[Path]:
    if not isinstance(value, Mapping):
        yield ()
        return
    for key, inner in value.items():
        for rest in _paths(inner):
            yield (key, *rest)


def _set(node: Any, key: Key, value: Any) -> None:
    if isinstance(node, Pytree) and isinstance(key, str):
        setattr(node, key, data(value))
    elif isinstance(node, MutableMapping):
        node[key] = value
    else:
        raise TypeError(
            f"{type(node).__name__}: cannot take a new entry {key!r} from Linen variables.\n"
            "  Fix: pass variables of the same structure as those that init returned"
        )
