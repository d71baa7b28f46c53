"""The structure of values and of what functions return: what jax compares.

A structure says what is certain: `Unsure` where a type or an expression does not tell. Arrays and
numbers are all one, since jax may turn one into the other. Most functions that are given to a
transform are lambdas or have no annotations: what they are written to return says more than the type.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Final, Literal, TypeAlias

from mypy import nodes, types
from mypy.nodes import Block, Expression, FuncDef, LambdaExpr, Statement
from mypy.types import Instance, TupleType, UninhabitedType, get_proper_type

from typed_nnx_codegen.facts.checker import Checker
from typed_nnx_codegen.facts.kinds import Kind, kind_of, short_name
from typed_nnx_codegen.facts.parameters import Function
from typed_nnx_codegen.facts.states import is_state
from typed_nnx_codegen.facts.targets import own_nodes

_NUMBERS: Final = ("builtins.bool", "builtins.int", "builtins.float", "builtins.complex")
_TEXTS: Final = ("builtins.str", "builtins.bytes")
_DEEPEST: Final = 6


@dataclass(frozen=True)
class Unsure:
    """A value of which nothing is certain."""


@dataclass(frozen=True)
class Nothing:
    """None."""


@dataclass(frozen=True)
class Text:
    """A str or bytes, which jax does not take."""


@dataclass(frozen=True)
class Leaf:
    """An array or a number.

    Attributes:
        name: What it is, for messages.
        literal: "int", "float" or "bool" where it is written as a literal; empty otherwise.
    """

    name: str
    literal: str = ""


@dataclass(frozen=True)
class Row:
    """A tuple or list.

    Attributes:
        kind: Which of them.
        items: What is in it; None where the length is not known.
        name: The class of a NamedTuple; empty otherwise.
    """

    kind: Literal["tuple", "list"]
    items: tuple[Structure, ...] | None
    name: str = ""


@dataclass(frozen=True)
class Table:
    """A dict.

    Attributes:
        keys: Its keys; None where they are not known.
    """

    keys: frozenset[str] | None


@dataclass(frozen=True)
class Node:
    """A Module or another Pytree, a Variable or a State.

    Attributes:
        type: Its type.
    """

    type: Instance


Structure: TypeAlias = Unsure | Nothing | Text | Leaf | Row | Table | Node


@dataclass(frozen=True)
class Difference:
    """What surely differs between two structures.

    Attributes:
        path: Where, as ``[1][0]``; empty for the whole.
        first, second: What there is.
    """

    path: str
    first: str
    second: str


# -- types ------------------------------------------------------------------------------------


def structure_of(found: types.Type) -> Structure:
    """Return the structure that all values of a type have."""
    return _structure(get_proper_type(found), 0)


def _structure(found: types.ProperType, depth: int) -> Structure:
    if depth > _DEEPEST:
        return Unsure()
    match found:
        case types.NoneType():
            return Nothing()
        case types.LiteralType():
            return _structure(found.fallback, depth)
        case TupleType():
            return _of_tuple(found, depth)
        case types.TypedDictType():
            is_open = found.required_keys != set(found.items)
            return Table(None if is_open else frozenset(found.items))
        case Instance():
            return _of_instance(found)
        case _:
            return Unsure()


def _of_tuple(found: TupleType, depth: int) -> Structure:
    fallback = found.partial_fallback.type
    if kind_of(found.partial_fallback) is not None:
        return Unsure()
    name = "" if fallback.fullname == "builtins.tuple" else fallback.name
    items = [get_proper_type(each) for each in found.items]
    if any(isinstance(each, types.UnpackType) for each in items):
        return Row("tuple", None, name)
    return Row("tuple", tuple(_structure(each, depth + 1) for each in items), name)


def _of_instance(found: Instance) -> Structure:
    info = found.type
    if info.fallback_to_any or info.is_protocol:
        return Unsure()
    match info.fullname:
        case "builtins.tuple":
            return Row("tuple", None)
        case "builtins.list":
            return Row("list", None)
        case "builtins.dict":
            return Table(None)
        case name:
            if name in _NUMBERS:
                return Leaf(info.name)
            if name in _TEXTS:
                return Text()
    kind = kind_of(found)
    if kind is Kind.ARRAY or any(base.fullname == "numpy.generic" for base in info.mro):
        return Leaf(short_name(found))
    is_plain = not any(base.fullname in _CONTAINERS for base in info.mro)
    return Node(found) if is_plain and (kind is not None or is_state(info)) else Unsure()


_CONTAINERS: Final = ("builtins.tuple", "builtins.list", "builtins.dict")


# -- together ---------------------------------------------------------------------------------


def either(first: Structure, second: Structure) -> Structure:
    """Return what is certain of a value that has one of two structures."""
    if first == second:
        return first
    match first, second:
        case Leaf(), Leaf():
            return Leaf(first.name if first.name == second.name else "an array or a number")
        case Row(), Row() if (first.kind, first.name) == (second.kind, second.name):
            ones, others = first.items or (), second.items or ()
            items = tuple(map(either, ones, others)) if ones and len(ones) == len(others) else None
            return Row(first.kind, items, first.name)
        case Table(), Table():
            return Table(None)
        case _:
            return Unsure()


def both(declared: Structure, written: Structure) -> Structure:
    """Return what is certain of a value of which two things are said.

    Where they contradict each other, one of them is wrong: nothing is certain.
    """
    match declared, written:
        case Unsure(), _:
            return written
        case _, Unsure():
            return declared
        case Leaf(), Leaf():
            return written if written.literal else declared
        case Row(), Row() if declared.kind == written.kind:
            name = declared.name or written.name
            if declared.items is None or written.items is None:
                return Row(declared.kind, declared.items or written.items, name)
            if len(declared.items) != len(written.items):
                return Unsure()
            return Row(declared.kind, tuple(map(both, declared.items, written.items)), name)
        case Table(), Table():
            return declared if written.keys is None else written
        case _:
            return declared if type(declared) is type(written) else Unsure()


# -- differences ------------------------------------------------------------------------------


def difference(
    first: Structure, second: Structure, path: str = "", *, of_numbers: bool = False
) -> Difference | None:
    """Return where two structures surely differ; None where they may be the same.

    Args:
        first: A structure.
        second: Another one.
        path: Where they stand.
        of_numbers: Whether numbers of different types, both written as literals, differ.
    """
    match first, second:
        case (Unsure(), _) | (_, Unsure()):
            return None
        case Leaf(), Leaf():
            literals = {first.literal, second.literal}
            if not of_numbers or "" in literals or len(literals) == 1:
                return None
            numbers = [f"a number ({each.literal})" for each in (first, second)]
            return Difference(path, *numbers)
        case Row(), Row() if first.kind == second.kind:
            if first.items is None or second.items is None:
                return None
            if len(first.items) == len(second.items):
                pairs = enumerate(zip(first.items, second.items, strict=True))
                found = (
                    difference(one, other, f"{path}[{number}]", of_numbers=of_numbers)
                    for number, (one, other) in pairs
                )
                return next((each for each in found if each is not None), None)
        case Table(), Table():
            if first.keys is None or second.keys is None or first.keys == second.keys:
                return None
        case Node(), Node():
            if not _are_unrelated(first.type, second.type):
                return None
        case _:
            if type(first) is type(second) and not isinstance(first, Row):
                return None
    return Difference(path, text_of(first), text_of(second))


def _are_unrelated(first: Instance, second: Instance) -> bool:
    """Tell whether no object is of both classes."""
    one, other = first.type, second.type
    is_open = one.is_abstract or other.is_abstract
    return not (is_open or one in other.mro or other in one.mro)


def text_of(of: Structure) -> str:
    """Return a structure as people say it."""
    match of:
        case Unsure():
            return "a value"
        case Nothing():
            return "None"
        case Text():
            return "a str"
        case Leaf():
            return of.name
        case Row():
            if of.name:
                return of.name
            return f"a {of.kind}" + (f" of {len(of.items)}" if of.items is not None else "")
        case Table():
            keys = ", ".join(map(repr, sorted(of.keys))) if of.keys is not None else ""
            return "a dict" + (f" with the keys {keys}" if keys else "")
        case Node():
            return short_name(of.type)


def item_of(row: Structure, number: int, count: int) -> Structure:
    """Return an item of a tuple of `count`; where it is no such tuple nothing is certain."""
    if not isinstance(row, Row) or row.kind != "tuple" or row.items is None:
        return Unsure()
    return row.items[number] if len(row.items) == count else Unsure()


# -- results of functions ------------------------------------------------------------------------


def result_of(function: Function, checker: Checker) -> Structure:
    """Return the structure of what a function returns."""
    if isinstance(function.result, UninhabitedType):
        return Unsure()  # it never returns
    declared = structure_of(function.result)
    match function.definition:
        case LambdaExpr() as definition:
            return both(declared, written(definition.expr(), checker))
        case FuncDef() as definition:
            return both(declared, _returned(definition, checker))
        case None:
            return declared


def written(expression: Expression, checker: Checker) -> Structure:
    """Return the structure of an expression, by its form and by the type that mypy found."""
    match expression:
        case nodes.TupleExpr():
            return Row("tuple", _items(expression.items, checker))
        case nodes.ListExpr():
            return Row("list", _items(expression.items, checker))
        case nodes.DictExpr():
            keys = [key.value for key, _ in expression.items if isinstance(key, nodes.StrExpr)]
            return Table(frozenset(keys) if len(keys) == len(expression.items) else None)
        case nodes.IntExpr():
            return Leaf("int", "int")
        case nodes.FloatExpr():
            return Leaf("float", "float")
        case nodes.UnaryExpr(op="-" | "+"):
            return written(expression.expr, checker)
        case nodes.NameExpr(fullname="builtins.None"):
            return Nothing()
        case nodes.NameExpr(fullname="builtins.True" | "builtins.False"):
            return Leaf("bool", "bool")
        case _:
            # Only what is known already: it may stand in another function than the check.
            found = checker.known_type(expression)
            return structure_of(found) if found is not None else Unsure()


def _items(items: list[Expression], checker: Checker) -> tuple[Structure, ...] | None:
    if any(isinstance(each, nodes.StarExpr) for each in items):
        return None
    return tuple(written(each, checker) for each in items)


# -- functions --------------------------------------------------------------------------------


def _returned(function: FuncDef, checker: Checker) -> Structure:
    if function.is_generator or function.is_coroutine or function.is_async_generator:
        return Unsure()
    if function.info and all(map(_is_nothing, function.body.body)):
        return Unsure()  # a subclass says what it does
    inside = own_nodes(function)
    values = [each.expr for each in inside if isinstance(each, nodes.ReturnStmt)]
    if _may_end(function.body):
        if any(isinstance(each, nodes.RaiseStmt | nodes.WhileStmt) for each in inside):
            return Unsure()  # it may never come to its end
        values.append(None)
    found = [written(each, checker) if each is not None else Nothing() for each in values]
    return reduce(either, found) if found else Unsure()


def _is_nothing(statement: Statement) -> bool:
    match statement:
        case nodes.PassStmt():
            return True
        case nodes.ExpressionStmt(expr=nodes.StrExpr() | nodes.EllipsisExpr()):
            return True
        case _:
            return False


def _may_end(block: Block) -> bool:
    """Tell whether a block may come to its end, so that what follows it is run."""
    return not block.body or _may_continue(block.body[-1])


def _may_continue(statement: Statement) -> bool:
    match statement:
        case nodes.ReturnStmt() | nodes.RaiseStmt():
            return False
        case nodes.IfStmt(else_body=Block() as other):
            return any(map(_may_end, statement.body)) or _may_end(other)
        case nodes.WithStmt():
            return _may_end(statement.body)
        case nodes.TryStmt(finally_body=None, else_body=None):
            return _may_end(statement.body) or any(map(_may_end, statement.handlers))
        case _:
            return True
