"""The types whose values are data by default, and the tags of class annotations."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, TypeVar, get_args, get_origin

import jax
import jax.core
import numpy as np

from typed_nnx._core.nodes import GraphNode
from typed_nnx._core.variable import Variable

T = TypeVar("T", bound=type)

DATA_TAG = "__data__"
STATIC_TAG = "__static__"

_data_types: list[type] = [Variable, GraphNode, np.ndarray]


def register_data_type(type_: T, /) -> T:
    """Make values of a type (and its subclasses) data wherever they are assigned.

    Works as a class decorator.
    """
    if type_ not in _data_types:
        _data_types.append(type_)
        _decided.cache_clear()
    return type_


def _decide(cls: type) -> bool | None:
    """Whether values of a type are data by default; None for tracers, which say it one by one."""
    if issubclass(cls, tuple(_data_types)):
        return True
    if issubclass(cls, jax.core.Tracer):
        return None
    return issubclass(cls, jax.Array | jax.Ref)


_decided = functools.lru_cache(maxsize=4096)(_decide)

# With this type mypy does not ask whether the *instances* of the class have a hash.
is_data_type: Callable[[type], bool | None] = _decided


# With `from __future__ import annotations` an annotation is a text: `nnx.Data[list]`.
_TEXT = re.compile(r"^\s*(?:[\w]+\.)*(Data|Static)\s*\[")


def _tag_of(annotation: Any) -> bool | None:
    if isinstance(annotation, str):
        found = _TEXT.match(annotation)
        return None if found is None else found.group(1) == "Data"
    if get_origin(annotation) is Annotated:
        tags = get_args(annotation)[1:]
        if DATA_TAG in tags:
            return True
        if STATIC_TAG in tags:
            return False
    return None


def _annotated_in(cls: type) -> Iterator[tuple[str, bool]]:
    annotations: Mapping[str, Any] = vars(cls).get("__annotations__", {})
    for name, annotation in annotations.items():
        tag = _tag_of(annotation)
        if tag is not None:
            yield name, tag
    for name, value in list(
        vars(cls).items()
    ):  # `x: int = nnx.data()` without a dataclass decorator
        if isinstance(value, dataclasses.Field) and "static" in value.metadata:
            yield name, not value.metadata["static"]
    fields: Mapping[str, Any] = vars(cls).get("__dataclass_fields__", {})
    for name, field in fields.items():
        if "static" in field.metadata:
            yield name, not field.metadata["static"]


def declared_statuses(cls: type) -> dict[str, bool]:
    """Return the attributes that a class declares as data (True) or static (False)."""
    found: dict[str, bool] = {}
    for base in reversed(cls.__mro__):
        found.update(_annotated_in(base))
    return found
