"""How many keys a call asks of Rngs: for each stream, for some, or unsure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import number_of
from typed_nnx_codegen.migrate.analysis.values import Collection, Constant, Plain, Value, options_of
from typed_nnx_codegen.migrate.file import File


@dataclass(frozen=True)
class KeyCounts:
    """What an argument says of the number of keys.

    Attributes:
        kind: ``all`` if it splits each stream, ``some`` if it splits some streams only, ``one``
            for a mapping of one stream, ``none`` for None, ``unsure``.
        given: The number of keys; the mapping where it differs by stream.
        only: The filter of a mapping of one stream.
    """

    kind: Literal["all", "some", "one", "none", "unsure"]
    given: cst.BaseExpression
    only: cst.BaseExpression | None = None


def key_counts(file: File, original: cst.BaseExpression, updated: cst.BaseExpression) -> KeyCounts:
    """Return what an argument says of the number of keys.

    Args:
        file: The file.
        original: The argument before.
        updated: The argument after what rules did to it.
    """
    if isinstance(original, cst.Name) and original.value == "None":
        return KeyCounts("none", updated)
    if isinstance(original, cst.Dict) and isinstance(updated, cst.Dict):
        return _of_mapping(file, original, updated)
    if _is_number(file, original):
        return KeyCounts("all", updated)
    return KeyCounts("unsure", updated)


def _of_mapping(file: File, original: cst.Dict, updated: cst.Dict) -> KeyCounts:
    elements = [element for element in original.elements if isinstance(element, cst.DictElement)]
    if not elements or len(elements) != len(original.elements):
        return KeyCounts("unsure", updated)
    numbers = all(_is_number(file, element.value) for element in elements)
    has_rest = any(isinstance(element.key, cst.Ellipsis) for element in elements)
    only = updated.elements[0]
    if len(elements) > 1 or not numbers or not isinstance(only, cst.DictElement):
        return KeyCounts("all" if numbers and has_rest else "some", updated)
    if has_rest:
        return KeyCounts("all", only.value)
    return KeyCounts("one", only.value, only.key)


def _is_number(file: File, node: cst.BaseExpression) -> bool:
    """Whether an expression is surely an int or a tuple of ints."""
    if isinstance(node, cst.Tuple):
        return all(_is_number(file, element.value) for element in node.elements)
    if isinstance(node, cst.BinaryOperation):
        # Mappings have `|` only.
        return not isinstance(node.operator, cst.BitOr)
    if isinstance(node, cst.Subscript) and isinstance(node.value, cst.Attribute):
        return node.value.attr.value == "shape"
    if isinstance(node, cst.Call) and file.name(node.func).startswith("jax."):
        return file.name(node.func).endswith("device_count")
    if isinstance(number_of(node), int):
        return True
    return all(_is_int(option) for option in options_of(file.value(node)))


def _is_int(value: Value) -> bool:
    if isinstance(value, Collection) and value.kind == "tuple" and value.items:
        return all(_is_int(item) for item in value.items)
    return isinstance(value, (Constant, Plain)) and value.type_name == "int"
