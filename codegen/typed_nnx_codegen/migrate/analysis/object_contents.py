"""What objects of NNX are made of, and what methods of plain values give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from typed_nnx_codegen.migrate.analysis import nnx_classes
from typed_nnx_codegen.migrate.analysis.members import element_of
from typed_nnx_codegen.migrate.analysis.values import (
    ARRAY,
    NOTHING,
    UNKNOWN,
    Array,
    Collection,
    Constant,
    OneOf,
    Plain,
    Value,
    join,
)


@dataclass(frozen=True)
class Argument:
    """An argument of a call.

    Attributes:
        value: What it stands for.
        keyword: Its keyword; empty for one by position.
        star: ``*`` or ``**`` where it is unpacked.
        node: Its code; None for arguments that the analysis adds.
    """

    value: Value
    keyword: str = ""
    star: str = ""
    node: cst.BaseExpression | None = None


def made_of(cls: str, arguments: Sequence[Argument]) -> Value:
    """Return what an object of an NNX class holds, as far as its arguments tell."""
    values = [argument.value for argument in arguments if not argument.keyword]
    if cls in {"Optimizer", "ModelAndOptimizer"}:
        model = next((a.value for a in arguments if a.keyword == "model"), UNKNOWN)
        return values[0] if values else model
    if cls == "Sequential":
        return join(*(element_of(a.value) if a.star else a.value for a in arguments))
    if cls in {"List", "ModuleList", "Sequence"}:
        return element_of(values[0]) if values else NOTHING
    if cls == "Dict":
        named = [argument.value for argument in arguments if argument.keyword]
        return values[0].element if values and isinstance(values[0], Collection) else join(*named)
    if cls in {"State", "GraphDef"}:
        return UNKNOWN
    if nnx_classes.is_subclass(cls, "Variable"):
        by_keyword = next((a.value for a in arguments if a.keyword == "value"), UNKNOWN)
        held = values[0] if values else by_keyword
        kinds = (Array, Plain, Constant, Collection, OneOf)
        return held if isinstance(held, kinds) else UNKNOWN
    return UNKNOWN


def method_of_plain(receiver: Value, name: str, values: list[Value]) -> Value:
    """Return what a method of an array, a collection or a plain value gives."""
    if isinstance(receiver, Array):
        return ARRAY
    if isinstance(receiver, Collection):
        if name in {"values", "copy"}:
            kind = receiver.kind if name == "copy" else "list"
            return Collection(kind, None, receiver.element)
        if name == "items":
            pair = Collection("tuple", (UNKNOWN, receiver.element), UNKNOWN)
            return Collection("list", None, pair)
        if name in {"pop", "get", "setdefault"}:
            return join(receiver.element, *values[1:])
        return UNKNOWN
    return Plain("str") if isinstance(receiver, Plain) and receiver.type_name == "str" else UNKNOWN
