"""Descriptions of values: arrays by dtype and shape, in nested dicts and lists, and their text."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeAlias

import jax
import numpy as np

from typed_nnx._core.nodes import GraphNode
from typed_nnx._core.paths import sorted_keys
from typed_nnx._core.variable import Variable
from typed_nnx._graph.split_merge import state


@dataclasses.dataclass(frozen=True)
class ArrayRepr:
    """The dtype and shape of an array; its text is ``float32[2,3]``."""

    shape: tuple[int, ...]
    dtype: Any

    @classmethod
    def of(cls, array: Any) -> ArrayRepr:
        """Describe an array, a tracer or a shape."""
        return cls(tuple(array.shape), array.dtype)

    def __str__(self) -> str:
        return f"{self.dtype}[{','.join(map(str, self.shape))}]"


Description: TypeAlias = "ArrayRepr | str | dict[str, Description] | list[Description]"


def describe_input(value: Any) -> Description:
    """Describe an argument: static values by their text, Modules by their type."""
    return _describe(value, is_input=True)


def describe_output(value: Any) -> Description:
    """Describe a result: numbers as the arrays that they become, Modules by their State."""
    return _describe(value, is_input=False)


def describe_variable(variable: Variable[Any]) -> Description:
    """Describe a Variable: its value, and its metadata if it has any."""
    value = describe_output(variable.get_raw_value())
    metadata = variable.get_metadata(exclude_required=True)
    named = {name: describe_input(item) for name, item in metadata.items() if item is not None}
    if not named:
        return value
    parts: dict[str, Description] = {**named, "value": value}
    return {name: parts[name] for name in sorted(parts)}


def _describe(value: Any, is_input: bool) -> Description:
    if value is None or isinstance(value, str):
        return str(value)
    if _is_array(value):
        return ArrayRepr.of(value)
    if isinstance(value, bool | int | float | complex):
        return str(value) if is_input else ArrayRepr.of(jax.eval_shape(lambda: value))
    if isinstance(value, type):
        return f"type[{value.__name__}]"
    if isinstance(value, Variable):
        found = describe_variable(value)
        return found if isinstance(found, dict) or is_input else {"value": found}
    if isinstance(value, GraphNode):
        return type(value).__name__ if is_input else _describe(state(value), is_input)
    return _describe_container(value, is_input)


def _describe_container(value: Any, is_input: bool) -> Description:
    if isinstance(value, Mapping):
        return {str(key): _describe(value[key], is_input) for key in sorted_keys(value)}
    fields: tuple[str, ...] | None = getattr(value, "_fields", None)
    if isinstance(value, tuple) and fields is not None:
        return {name: _describe(getattr(value, name), is_input) for name in fields}
    if isinstance(value, list | tuple):
        return [_describe(item, is_input) for item in value]
    entries = jax.tree_util.tree_leaves_with_path(value, is_leaf=lambda found: found is not value)
    if len(entries) == 1 and entries[0][1] is value:
        return _name(value)
    children = [(_key_text(path[0]), _describe(child, is_input)) for path, child in entries]
    return dict(children)


def _is_array(value: Any) -> bool:
    return isinstance(value, (jax.Array | np.ndarray | np.generic | jax.ShapeDtypeStruct, jax.Ref))


def _name(value: Any) -> str:
    """Return the text of a static value: the name of a function, the text of a number."""
    name = getattr(value, "__name__", None)
    if isinstance(name, str):
        return name
    text = repr(value)
    # An address says nothing.
    return type(value).__name__ if " at 0x" in text else text


def _key_text(entry: Any) -> str:
    for attribute in ("name", "key", "idx"):
        if hasattr(entry, attribute):
            return str(getattr(entry, attribute))
    return str(entry)


def text_of(description: Description) -> str:
    """Return a description as text, nested parts on lines of their own as YAML writes them.

    >>> print(text_of({"y": ArrayRepr((1, 2), "float32"), "z": [ArrayRepr((), "int32"), "None"]}))
    y: float32[1,2]
    z:
    - int32[]
    - None
    """
    return "\n".join(_lines(description))


def _lines(description: Description) -> list[str]:
    if isinstance(description, dict):
        lines = [line for key, item in description.items() for line in _entry(key, item)]
        return lines or ["{}"]
    if isinstance(description, list):
        items = [_lines(item) for item in description]
        return [
            f"{'  ' if number else '- '}{line}"
            for item in items
            for number, line in enumerate(item)
        ] or ["[]"]
    return str(description).split("\n")


def _entry(key: str, item: Description) -> list[str]:
    lines = _lines(item)
    if isinstance(item, dict | list) and item:
        indent = "  " if isinstance(item, dict) else ""
        return [f"{key}:", *[indent + line for line in lines]]
    return [f"{key}: {lines[0]}", *lines[1:]]
