"""What the source of a class says of its attributes, as it was written down in the class.

Marks (``nnx.data(...)``, ``x: nnx.Static[int]``) are in the syntax only, and mypy forgets the syntax
of a module that it takes from its cache. So `recording` puts them into the metadata of the class,
which mypy keeps: a few texts and numbers for each attribute.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from mypy import nodes
from mypy.nodes import Decorator, FuncDef, TypeInfo, Var
from mypy.types import Type

from typed_nnx_codegen.facts.kinds import is_of_runtime
from typed_nnx_codegen.facts.names import runtime_of

KEY: Final = "typed_nnx"
"""The key of the metadata."""

SOWN: Final = "__nnx_sown_"
"""How the names begin of symbols for what methods sow; private, as mypy compares others with a base's."""

UNSURE: Final = "unsure"
"""The mark of an attribute whose statements disagree, or whose annotation may hide one."""


@dataclass(frozen=True)
class Said:
    """What the body of one class says of one attribute.

    Attributes:
        order: How many attributes the class speaks of before. No line: other files would be
            checked anew whenever one is added above.
        mark: "data", "static", `UNSURE` or nothing: what all statements say together.
        declared: What the body of the class says, before any assignment.
        is_always: Whether ``__init__`` itself assigns it, not a block in it, and before any return.
        is_assigned: Whether a method assigns it.
        has_default: Whether the class body gives it a value.
        begins_static: Whether the first that ``__init__`` does with it, in any case, is to give it a
            value that is static by its form: None, a number, a text.
        is_deleted: Whether a method deletes it, after which it may become something else.
        made: The full name of the class by whose call all its values are made, None left out; `UNSURE`
            where one is not made so, nothing where there is none.
    """

    order: int
    mark: str = ""
    declared: str = ""
    is_always: bool = False
    is_assigned: bool = False
    has_default: bool = False
    begins_static: bool = False
    is_deleted: bool = False
    made: str = ""


@dataclass(frozen=True)
class ClassMarks:
    """What the body of one class says.

    Attributes:
        attributes: By name.
        is_pytree: Whether it does not say ``pytree=False``.
        opened_by: What in its methods makes attributes by names that are not written; empty for
            nothing.
        calls_super: Whether its ``__init__`` surely calls ``super().__init__``.
        recorded: What its methods give by name to ``sow`` and ``perturb``.
    """

    attributes: dict[str, Said]
    is_pytree: bool = True
    opened_by: str = ""
    calls_super: bool = False
    recorded: tuple[str, ...] = ()


QUIET: Final = "nnx-state-key, nnx-state-missing, nnx-state-mismatch and nnx-filter-coverage"
"""The checks that need to know all attributes of a class."""

# What opens a class when it defines them.
_HOOKS: Final = ("__getattr__", "__setattr__", "__getattribute__")

# What was read from the metadata of a class, with the metadata that it was read from.
_read: Final[dict[str, tuple[object, ClassMarks]]] = {}


def marks_of(info: TypeInfo) -> ClassMarks | None:
    """Return what was written down of a class; None where it was not seen, as for a mixin."""
    data = info.metadata.get(KEY)
    if data is None:
        return None
    known = _read.get(info.fullname)
    if known is None or known[0] is not data:
        attributes = {name: Said(*said) for name, said in data["attributes"].items()}
        marks = ClassMarks(
            attributes,
            data["is_pytree"],
            data["opened_by"],
            data["calls_super"],
            tuple(data["recorded"]),
        )
        known = _read[info.fullname] = (data, marks)
    return known[1]


def sown_type(info: TypeInfo, name: str) -> Type | None:
    """Return the type of the Variable that the methods of a class sow; None where it is not known."""
    symbol = info.names.get(f"{SOWN}{name}")
    return symbol.node.type if symbol is not None and isinstance(symbol.node, Var) else None


def opening_of(info: TypeInfo) -> str:
    """Return what in a class makes attributes that no source names; empty for nothing."""
    if info.fallback_to_any:
        return "a base class that mypy does not know"
    found = marks_of(info)
    if found is not None and found.opened_by:
        return f"`{found.opened_by}`"
    return next((f"its own `{name}`" for name in _HOOKS if name in info.names), "")


def is_checked(info: TypeInfo) -> bool:
    """Tell whether the runtimes check the attributes of a Pytree class: not of an Object.

    Of two classes of which one derives from the other, ``pytree=False`` counts for its own only.
    """
    if any(base.name == "Object" and runtime_of(base.fullname) for base in info.mro):
        return False
    found = marks_of(info)
    return found is None or found.is_pytree


def begins_static(info: TypeInfo, name: str) -> bool:
    """Tell whether ``__init__`` of a class gives an attribute a static value first."""
    marks = marks_of(info)
    return marks is not None and name in marks.attributes and marks.attributes[name].begins_static


def all_said(info: TypeInfo, name: str) -> list[tuple[TypeInfo, Said]]:
    """Return what a class and its bases say of an attribute, the class itself first."""
    found: list[tuple[TypeInfo, Said]] = []
    for base in info.mro:
        marks = marks_of(base)
        if marks is not None and name in marks.attributes:
            found.append((base, marks.attributes[name]))
    return found


def marks_on(info: TypeInfo, name: str) -> set[str]:
    """Return the marks that a class and its bases put on an attribute."""
    return {said.mark for _, said in all_said(info, name)} - {""}


def is_stored_as_given(info: TypeInfo) -> bool:
    """Tell whether the runtimes check what is assigned to attributes, and no ``__setattr__`` does."""
    return is_checked(info) and is_of_runtime(info, "__setattr__")


def methods_of(definition: nodes.ClassDef) -> Iterator[FuncDef]:
    """Yield the methods of a class, decorated ones too."""
    for statement in definition.defs.body:
        match statement:
            case FuncDef():
                yield statement
            case Decorator():
                yield statement.func
            case nodes.OverloadedFuncDef():
                for item in (*statement.items, statement.impl):
                    if isinstance(item, Decorator | FuncDef):
                        yield item.func if isinstance(item, Decorator) else item
            case _:
                pass


def self_name_of(method: FuncDef) -> str:
    """Return what a method calls its object; empty where it has none."""
    if method.is_static or method.is_class or not method.arguments:
        return ""
    return method.arguments[0].variable.name


def calls_super(statement: nodes.Statement) -> bool:
    """Tell whether a statement is ``super().__init__(...)``."""
    match statement:
        case nodes.ExpressionStmt(expr=nodes.CallExpr(callee=nodes.SuperExpr(name="__init__"))):
            return True
        case _:
            return False


def is_static_by_form(value: nodes.Expression) -> bool:
    """Tell whether an expression has a static value, whatever its names stand for."""
    match value:
        case (
            nodes.IntExpr()
            | nodes.FloatExpr()
            | nodes.ComplexExpr()
            | nodes.StrExpr()
            | nodes.BytesExpr()
            | nodes.LambdaExpr()
        ):
            return True
        case nodes.NameExpr():
            return value.name in ("None", "True", "False")
        case nodes.UnaryExpr():
            return value.op == "not" or is_static_by_form(value.expr)
        case nodes.ListExpr() | nodes.TupleExpr() | nodes.SetExpr():
            return all(map(is_static_by_form, value.items))
        case nodes.DictExpr():
            return all(key is not None and is_static_by_form(each) for key, each in value.items)
        case _:
            return False
