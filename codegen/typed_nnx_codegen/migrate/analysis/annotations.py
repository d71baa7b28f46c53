"""Reads annotations: what a name that is annotated stands for."""

from __future__ import annotations

from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import text_of
from typed_nnx_codegen.migrate.analysis.values import (
    ARRAY,
    NONE,
    UNKNOWN,
    Collection,
    Evaluate,
    External,
    Instance,
    OneOf,
    Plain,
    ProjectClass,
    Scope,
    Value,
    join,
)

_ARRAYS: Final = frozenset(
    {"jax.Array", "jax.numpy.ndarray", "numpy.ndarray", "jax.typing.ArrayLike"}
)
_PLAIN: Final = frozenset({"bool", "bytes", "complex", "float", "int", "object", "str"})
_CALLABLES: Final = frozenset({"typing.Callable", "collections.abc.Callable"})
_UNIONS: Final = frozenset({"typing.Optional", "typing.Union"})
_WRAPPERS: Final = frozenset(
    {
        "typing.Annotated",
        "typing.ClassVar",
        "typing.Final",
        "dataclasses.InitVar",
        "nnx.Data",
        "nnx.Static",
    }
)
_LISTS: Final = frozenset(
    {
        "builtins.list",
        "collections.abc.Iterable",
        "collections.abc.Sequence",
        "typing.Iterable",
        "typing.List",
        "typing.Sequence",
    }
)
_TUPLES: Final = frozenset({"builtins.tuple", "typing.Tuple"})
_DICTS: Final = frozenset(
    {"builtins.dict", "collections.abc.Mapping", "typing.Dict", "typing.Mapping"}
)


class Annotations:
    """Reads annotations of one module.

    Args:
        evaluate: Evaluates the names in them.
    """

    def __init__(self, evaluate: Evaluate) -> None:
        self._evaluate = evaluate

    def read(self, node: cst.BaseExpression, scope: Scope) -> Value:
        """Return what a name with an annotation stands for; `UNKNOWN` where that is not sure."""
        text = text_of(node)
        if text is not None:
            return self._quoted(text, scope)
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.BitOr):
            return join(self.read(node.left, scope), self.read(node.right, scope))
        if isinstance(node, cst.Subscript):
            return self._subscript(node, scope)
        return _object_of(self._evaluate(node, scope))

    def _quoted(self, text: str, scope: Scope) -> Value:
        try:
            node = cst.parse_expression(text)
        except (cst.ParserSyntaxError, RecursionError):
            return UNKNOWN
        return self.read(node, scope)

    def _subscript(self, node: cst.Subscript, scope: Scope) -> Value:
        origin = self._evaluate(node.value, scope)
        name = origin.public if isinstance(origin, External) else ""
        items = [
            element.slice.value for element in node.slice if isinstance(element.slice, cst.Index)
        ]
        if name == "typing.Literal" or not items:
            return UNKNOWN
        values = [self.read(item, scope) for item in items]
        if name == "typing.Optional":
            return join(values[0], NONE)
        if name in _UNIONS:
            return join(*values)
        if name in _WRAPPERS:
            return values[0]
        if name in _CALLABLES:
            return Plain("callable")
        if name in {"builtins.type", "typing.Type"}:
            return self._evaluate(items[0], scope)
        return self._container(name, values, origin)

    @staticmethod
    def _container(name: str, values: list[Value], origin: Value) -> Value:
        if name in _LISTS:
            return Collection("list", None, values[0])
        if name in _TUPLES:
            if len(values) == 2 and values[1] == Plain("ellipsis"):
                return Collection("tuple", None, values[0])
            return Collection("tuple", tuple(values), join(*values))
        if name in _DICTS:
            return Collection("dict", None, values[-1])
        found = _object_of(origin)
        if isinstance(found, Instance):
            return Instance(found.cls, values[-1])
        return found


def _object_of(value: Value) -> Value:
    """Return an object of the class that an annotation names."""
    match value:
        case ProjectClass():
            return Instance(value)
        case OneOf():
            return join(*(_object_of(option) for option in value.options))
        case External(name=name):
            return _external_object(name, value.public)
        case _ if value == NONE:
            return NONE
        case _:
            return UNKNOWN


def _external_object(name: str, public: str) -> Value:
    if public.startswith("nnx."):
        return Instance(public)
    if name in _ARRAYS:
        return ARRAY
    if name in _CALLABLES:
        return Plain("callable")
    module, _, last = name.rpartition(".")
    if module == "builtins":
        if last in _PLAIN:
            return UNKNOWN if last == "object" else Plain(last)
        if last in {"list", "tuple", "set", "dict"}:
            return Collection(last, None, UNKNOWN)
    if module == "typing" or last[:1].islower():
        return UNKNOWN
    return Instance(name)
