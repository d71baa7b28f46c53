"""Filters read from source: from the expression where it says more, else from its type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from mypy import nodes, types
from mypy.nodes import ARG_POS, CallExpr, Expression, RefExpr
from mypy.types import Instance, TupleType, Type, get_proper_type

from typed_nnx_codegen.facts.checker import Checker
from typed_nnx_codegen.facts.filters import (
    FILTER,
    Everything,
    Filter,
    Nothing,
    PathContains,
    PathIn,
    Unknown,
    WithTag,
    all_of,
    any_of,
    decode,
    entries_of,
    negation,
    of_class,
)
from typed_nnx_codegen.facts.kinds import literal, truth
from typed_nnx_codegen.facts.names import name_of
from typed_nnx_codegen.facts.targets import argument_of

CLASSES: Final = frozenset(
    ("All", "Any", "Not", "OfType", "PathContains", "PathIn", "WithTag", "Everything", "Nothing")
)
"""The public names of the classes of filters."""


def read_filter(expression: Expression, found: Type, checker: Checker) -> Filter:
    """Return the filter that an expression stands for.

    Args:
      expression: What is given as a filter.
      found: Its type.
      checker: The type checker of the file.
    """
    match expression:
        case nodes.EllipsisExpr():
            return Everything()
        case nodes.TupleExpr() | nodes.ListExpr():
            return any_of(_read(each, checker) for each in expression.items)
        case RefExpr(node=nodes.TypeInfo() as info):
            return of_class(info)
        case RefExpr(node=nodes.TypeAlias(target=target)):
            aliased = get_proper_type(target)
            return of_class(aliased.type) if isinstance(aliased, Instance) else Unknown()
        case CallExpr():
            return read_call(expression, found, checker)
        case _:
            return filter_of_type(found)


def _read(expression: Expression, checker: Checker) -> Filter:
    if isinstance(expression, nodes.StarExpr):
        return Unknown()
    return read_filter(expression, checker.type_of(expression), checker)


def read_call(call: CallExpr, found: Type, checker: Checker) -> Filter:
    """Return the filter that a call makes, such as ``Not(Param)``."""
    name = _class_name(get_proper_type(found))
    if not name:
        return filter_of_type(found)
    if any(kind is not ARG_POS for kind in call.arg_kinds) and name != "PathContains":
        return Unknown()
    return _READERS[name](call, checker)


def _class_name(found: types.ProperType) -> str:
    if not isinstance(found, Instance):
        return ""
    name = name_of(found.type.fullname)
    return name.public if name is not None and name.public in CLASSES else ""


def _first(call: CallExpr, checker: Checker) -> Filter:
    return _read(call.args[0], checker) if len(call.args) == 1 else Unknown()


def _path_contains(call: CallExpr, checker: Checker) -> Filter:
    key, exact = argument_of(call, "key", 0), argument_of(call, "exact", 1)
    found = literal(checker.type_of(key)) if key is not None else None
    is_exact = truth(checker.type_of(exact)) if exact is not None else True
    is_whole = sum(each is not None for each in (key, exact)) == len(call.args)
    if found is None or is_exact is None or not is_whole:
        return Unknown()
    return PathContains(found, is_exact)


def _path_in(call: CallExpr, checker: Checker) -> Filter:
    paths: list[tuple[str | int, ...]] = []
    for each in call.args:
        found = checker.type_of(each)
        items = found.items if isinstance(found, TupleType) else None
        keys = [literal(item) for item in items] if items is not None else [None]
        known = tuple(key for key in keys if key is not None)
        if len(known) != len(keys):
            return Unknown()
        paths.append(known)
    return PathIn(tuple(paths))


def _with_tag(call: CallExpr, checker: Checker) -> Filter:
    tag = literal(checker.type_of(call.args[0])) if len(call.args) == 1 else None
    return WithTag(tag) if isinstance(tag, str) else Unknown()


_READERS: Final[dict[str, Callable[[CallExpr, Checker], Filter]]] = {
    "All": lambda call, checker: all_of(_read(each, checker) for each in call.args),
    "Any": lambda call, checker: any_of(_read(each, checker) for each in call.args),
    "Not": lambda call, checker: negation(_first(call, checker)),
    "OfType": _first,
    "PathContains": _path_contains,
    "PathIn": _path_in,
    "WithTag": _with_tag,
    "Everything": lambda call, checker: Everything(),
    "Nothing": lambda call, checker: Nothing(),
}


# -- types ------------------------------------------------------------------------------------


def filter_of_type(found: Type) -> Filter:
    """Return the filter that a value of a type is, as far as the type says it."""
    match get_proper_type(found):
        case types.CallableType() as kind if kind.is_type_obj():
            # A variable may hold a subclass.
            return all_of((of_class(kind.type_object()), Unknown()))
        case types.TypeType(item=Instance() as item):
            return all_of((of_class(item.type), Unknown()))
        case types.NoneType():
            return Nothing()
        case TupleType() as row:
            return any_of(map(filter_of_type, row.items))
        case types.LiteralType(value=bool(is_everything)):
            return Everything() if is_everything else Nothing()
        case Instance() as instance:
            return _of_instance(instance)
        case proper:
            tag = literal(proper)
            return WithTag(tag) if isinstance(tag, str) else Unknown()


def _of_instance(instance: Instance) -> Filter:
    entries = entries_of(instance)
    if FILTER in entries:
        return decode(entries[FILTER])
    if instance.last_known_value is not None:
        return filter_of_type(instance.last_known_value)
    if instance.type.fullname in ("types.EllipsisType", "builtins.ellipsis"):
        return Everything()
    match _class_name(instance):
        case "Everything":
            return Everything()
        case "Nothing":
            return Nothing()
        case _:
            return Unknown()
