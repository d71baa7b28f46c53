"""Anything that a model returns as leaves by path, alike for both sides."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterator, Mapping
from typing import Any

import jax
import numpy as np

from typed_nnx_codegen.migrate.weights.models import is_variable, value_of

_DEEPEST = 24


@dataclasses.dataclass(frozen=True)
class Opaque:
    """Something that is compared by its type alone.

    Attributes:
        kind: The name of its type.
    """

    kind: str


def leaves_by_path(value: Any) -> dict[str, Any]:
    """Return the leaves of any value by their paths: arrays, numbers, text, or `Opaque`.

    Dataclasses, also those that are no pytrees, are taken by field; so are other objects, as a
    distribution is. The names of types do not count: each side has its own.
    """
    return dict(_leaves(value, "", 0))


def is_array(value: Any) -> bool:
    """Whether a leaf is an array or a tracer of one."""
    return hasattr(value, "shape") and hasattr(value, "dtype")


def is_float(value: Any) -> bool:
    """Whether a leaf is an array of floats."""
    return is_array(value) and jax.numpy.issubdtype(value.dtype, jax.numpy.floating)


def _leaves(value: Any, path: str, depth: int) -> Iterator[tuple[str, Any]]:
    if is_variable(value):
        value = value_of(value)
    if is_array(value) or isinstance(value, bool | int | float | complex | str | bytes | None):
        yield path, value
    elif isinstance(value, enum.Enum):
        yield path, value.name
    elif depth > _DEEPEST or (callable(value) and not dataclasses.is_dataclass(value)):
        yield path, Opaque("callable" if callable(value) else type(value).__name__)
    else:
        inside = list(_children(value))
        if not inside:
            yield path, Opaque("nothing" if _is_container(value) else type(value).__name__)
        for name, child in inside:
            yield from _leaves(child, f"{path}{name}", depth + 1)


def _children(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        yield from ((f"[{key!r}]", value[key]) for key in sorted(value, key=str))
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        names: tuple[str, ...] = getattr(value, "_fields")  # noqa: B009 - no tuple is known to have it
        yield from ((f".{name}", getattr(value, name)) for name in names)
    elif isinstance(value, list | tuple):
        yield from ((f"[{index}]", each) for index, each in enumerate(value))
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield from ((f".{each.name}", getattr(value, each.name)) for each in _fields(value))
    else:
        yield from _of_object(value)


def _fields(value: Any) -> tuple[Any, ...]:
    return tuple(each for each in dataclasses.fields(value) if hasattr(value, each.name))


def _of_object(value: Any) -> Iterator[tuple[str, Any]]:
    with_paths = jax.tree_util.tree_flatten_with_path(value, is_leaf=lambda x: x is not value)[0]
    if with_paths and with_paths[0][1] is not value:
        yield from ((jax.tree_util.keystr(path), each) for path, each in with_paths)
    else:
        yield from ((f".{name}", each) for name, each in sorted(vars_of(value).items()))


def vars_of(value: Any) -> dict[str, Any]:
    """Return the attributes of an object that has a `__dict__`; those of its own use left out."""
    attributes = getattr(value, "__dict__", {})
    return {name: each for name, each in attributes.items() if not name.startswith("__")}


def _is_container(value: Any) -> bool:
    return isinstance(value, Mapping | list | tuple)


def as_numpy(value: Any) -> np.ndarray[Any, Any]:
    """Return an array or number as a numpy array; a key as its numbers, bfloat16 as float32."""
    if is_array(value) and jax.numpy.issubdtype(value.dtype, jax.dtypes.prng_key):
        value = jax.random.key_data(value)
    array = np.asarray(value)
    return array.astype(np.float32) if array.dtype.kind == "V" else array
