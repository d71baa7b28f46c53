"""States and Variables as arguments of programs that `jax.export` writes to files.

A program names the classes of its arguments and keeps what is static of each: the keys of a State, the
metadata of a Variable. Both are written as JSON, with tuples told from lists.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from typing import Any

from jax.export import register_pytree_node_serialization
from jax.sharding import PartitionSpec

from typed_nnx.errors import ExportError


def register_serialization(
    cls: type[Any], static: Callable[[Any], object], unpacked: Callable[[Any], Any]
) -> None:
    """Let `Exported.serialize` write nodes of a class that is registered with jax as a pytree.

    A class with the module and name of an earlier one, as in a notebook, is not registered: a file could
    not say which of them it means.

    Args:
        cls: The class.
        static: Gives what to write for the auxiliary data of a node: made of dicts with names for keys,
            tuples, lists, strings, numbers and None.
        unpacked: Gives the auxiliary data for it.
    """

    def write(auxiliary: Any) -> bytes:
        return json.dumps(_packed(static(auxiliary), cls.__name__)).encode()

    def read(text: bytes | bytearray) -> Any:
        return unpacked(_unpacked(json.loads(text)))

    with contextlib.suppress(ValueError):
        register_pytree_node_serialization(
            cls,
            serialized_name=f"{cls.__module__}.{cls.__qualname__}",
            serialize_auxdata=write,
            deserialize_auxdata=read,
        )


def _packed(value: object, place: str) -> Any:
    match value:
        case None | bool() | int() | float() | str():
            return value
        case tuple() if type(value) is tuple:
            return {"tuple": [_packed(each, place) for each in value]}
        case PartitionSpec():
            return {"spec": [_packed(each, place) for each in value]}
        case list():
            return [_packed(each, place) for each in value]
        case dict():
            return {"dict": [[k, _packed(each, f"{place}.{k}")] for k, each in value.items()]}
    raise ExportError(
        "Exported.serialize",
        f"{place} is {value!r} ({type(value).__name__}); expected names, numbers, and tuples, lists "
        "and dicts of them.",
        "leave it out of the arguments: nnx.export(f, model) writes a program that takes arrays by name",
    )


def _unpacked(value: Any) -> Any:
    if isinstance(value, list):
        return [_unpacked(each) for each in value]
    if not isinstance(value, dict):
        return value
    if "tuple" in value:
        return tuple(_unpacked(each) for each in value["tuple"])
    if "spec" in value:
        spec: Callable[..., PartitionSpec] = PartitionSpec
        return spec(*map(_unpacked, value["spec"]))
    return {key: _unpacked(each) for key, each in value["dict"]}
