"""What the source of a class says of its attributes, written down when mypy analyses the class.

Marks (``nnx.data(...)``, ``x: nnx.Static[int]``) are in the syntax only, and mypy forgets the syntax
of a module that it takes from its cache. So they are put into the metadata of the class, which mypy
keeps: a few texts and numbers for each attribute.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple, dataclass
from typing import Final

from mypy.nodes import (
    AssignmentStmt,
    BytesExpr,
    CallExpr,
    ClassDef,
    ComplexExpr,
    ConditionalExpr,
    Decorator,
    DelStmt,
    DictExpr,
    Expression,
    FloatExpr,
    FuncDef,
    IndexExpr,
    IntExpr,
    LambdaExpr,
    ListExpr,
    MemberExpr,
    MypyFile,
    NameExpr,
    OverloadedFuncDef,
    SetExpr,
    Statement,
    StrExpr,
    SymbolNode,
    TempNode,
    TupleExpr,
    TypeAlias,
    TypeInfo,
    UnaryExpr,
)
from mypy.plugin import ClassDefContext, SemanticAnalyzerPluginInterface
from mypy.types import Type, UnboundType

from typed_nnx_mypy.assignments import assigned_attributes, statements_of
from typed_nnx_mypy.names import runtime_of
from typed_nnx_mypy.syntax.children import descendants

_KEY: Final = "typed_nnx"
_FUNCTIONS: Final = ("data", "static")
_ANNOTATIONS: Final = {"Data": "data", "Static": "static"}
_OPENING: Final = ("sow", "perturb", "__setattr__", "__dict__")

UNSURE: Final = "unsure"
"""The mark of an attribute whose statements disagree, or whose annotation may hide one."""


@dataclass(frozen=True)
class Said:
    """What the body of one class says of one attribute.

    Attributes:
        line: The first line that says something.
        mark: "data", "static", `UNSURE` or nothing: what all statements say together.
        declared: What the body of the class says, before any assignment.
        is_always: Whether ``__init__`` itself assigns it, not a block in it.
        is_assigned: Whether a method assigns it.
        has_default: Whether the class body gives it a value.
        begins_static: Whether the first that ``__init__`` does with it, in any case, is to give it a
            value that is static by its form: None, a number, a text.
        is_deleted: Whether a method deletes it, after which it may become something else.
    """

    line: int
    mark: str = ""
    declared: str = ""
    is_always: bool = False
    is_assigned: bool = False
    has_default: bool = False
    begins_static: bool = False
    is_deleted: bool = False


@dataclass(frozen=True)
class ClassMarks:
    """What the body of one class says.

    Attributes:
        attributes: By name.
        is_pytree: Whether it does not say ``pytree=False``.
        is_open: Whether its methods make attributes by names that are not written.
    """

    attributes: dict[str, Said]
    is_pytree: bool = True
    is_open: bool = False


def marks_of(info: TypeInfo) -> ClassMarks | None:
    """Return what was written down of a class; None where it was not seen, as for a mixin."""
    data = info.metadata.get(_KEY)
    if data is None:
        return None
    attributes = {name: Said(*said) for name, said in data["attributes"].items()}
    return ClassMarks(attributes, data["is_pytree"], data["is_open"])


def is_checked(info: TypeInfo) -> bool:
    """Tell whether the runtimes check the attributes of a Pytree class: not of an Object.

    Of two classes of which one derives from the other, ``pytree=False`` counts for its own only.
    """
    if any(base.name == "Object" and runtime_of(base.fullname) for base in info.mro):
        return False
    found = marks_of(info)
    return found is None or found.is_pytree


def begins_static(info: TypeInfo, name: str) -> bool:
    """Tell whether ``__init__`` of a class gives an attribute a static value first; quickly."""
    data = info.metadata.get(_KEY)
    said = data["attributes"].get(name) if data is not None else None
    return said is not None and Said(*said).begins_static


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
    is_own = any(
        "__setattr__" in base.names and not runtime_of(base.fullname)
        for base in info.mro
        if base.fullname != "builtins.object"
    )
    return is_checked(info) and not is_own


def record_marks(context: ClassDefContext) -> None:
    """Write down what the body of a Pytree class says of its attributes."""
    definition = context.cls
    found = _Reading(definition, context.api).read()
    definition.info.metadata[_KEY] = {
        "attributes": {name: list(astuple(said)) for name, said in found.attributes.items()},
        "is_pytree": found.is_pytree,
        "is_open": found.is_open,
    }


class _Reading:
    """Reads the body of one class.

    Args:
        definition: The class.
        api: Finds what names stand for.
    """

    def __init__(self, definition: ClassDef, api: SemanticAnalyzerPluginInterface) -> None:
        self._definition = definition
        self._names = _Names(definition, api)
        self._found: dict[str, Said] = {}
        self._is_open = False

    def read(self) -> ClassMarks:
        """Return what the body says."""
        pytree = self._definition.keywords.get("pytree")
        for statement in self._definition.defs.body:
            if isinstance(statement, AssignmentStmt):
                self._take_field(statement)
        for method in methods_of(self._definition):
            self._take_method(method)
        is_pytree = pytree is None or (isinstance(pytree, NameExpr) and pytree.name == "True")
        return ClassMarks(self._found, is_pytree, self._is_open)

    def _take_field(self, statement: AssignmentStmt) -> None:
        target = statement.lvalues[0]
        if isinstance(target, NameExpr):
            has_default = not isinstance(statement.rvalue, TempNode)
            mark = self._mark(statement)
            self._say(target.name, Said(statement.line, mark, mark, has_default=has_default))

    def _take_method(self, method: FuncDef) -> None:
        self_name = self_name_of(method)
        if not self_name:
            return
        direct = set(method.body.body) if method.name == "__init__" else set[Statement]()
        seen: set[str] = set()
        for statement in statements_of(method.body):
            if isinstance(statement, AssignmentStmt):
                is_whole = not isinstance(statement.lvalues[0], TupleExpr | ListExpr)
                # An annotation in a method is not seen at run time.
                mark = self._names.mark_of(statement.rvalue) if is_whole else ""
                is_direct = statement in direct
                is_static = is_whole and is_direct and is_static_by_form(statement.rvalue)
                for name in assigned_attributes(statement, self_name):
                    begins = is_static and name not in seen
                    seen.add(name)
                    said = Said(statement.line, mark, "", is_direct, True, begins_static=begins)
                    self._say(name, said)
            elif isinstance(statement, DelStmt):
                for name in deleted_attributes(statement, self_name):
                    seen.add(name)
                    self._say(name, Said(statement.line, is_deleted=True))
        if not self._is_open:
            self._is_open = any(_opens(node, self_name) for node in descendants(method.body))

    def _mark(self, statement: AssignmentStmt) -> str:
        by_value = self._names.mark_of(statement.rvalue)
        if statement.unanalyzed_type is None:
            return by_value
        return self._names.mark_of_annotation(statement.unanalyzed_type) or by_value

    def _say(self, name: str, said: Said) -> None:
        before = self._found.get(name)
        if before is not None:
            marks = {before.mark, said.mark} - {""}
            mark = marks.pop() if len(marks) == 1 else (UNSURE if marks else "")
            said = Said(
                before.line,
                mark,
                before.declared or said.declared,
                before.is_always or said.is_always,
                before.is_assigned or said.is_assigned,
                before.has_default or said.has_default,
                before.begins_static or said.begins_static,
                before.is_deleted or said.is_deleted,
            )
        self._found[name] = said


class _Names:
    """Finds out what names in a class stand for, before mypy has bound those in methods.

    Args:
        definition: The class.
        api: mypy's semantic analyzer.
    """

    def __init__(self, definition: ClassDef, api: SemanticAnalyzerPluginInterface) -> None:
        self._definition = definition
        self._api = api

    def mark_of(self, value: Expression) -> str:
        """Return the mark that an assigned expression has."""
        if isinstance(value, ConditionalExpr):
            marks = {self.mark_of(value.if_expr), self.mark_of(value.else_expr)}
            return marks.pop() if len(marks) == 1 else UNSURE
        if not isinstance(value, CallExpr):
            return ""
        name = _written(value.callee)
        if not name:
            return ""
        last = name.rpartition(".")[2]
        found = self._find(name)
        if found is None:
            return last if last in _FUNCTIONS and "." in name else ""
        module, _, last = found.fullname.rpartition(".")
        return last if last in _FUNCTIONS and runtime_of(module) else ""

    def mark_of_annotation(self, annotation: Type) -> str:
        """Return the mark of an annotation as it is written; `UNSURE` where it may hide one."""
        if not isinstance(annotation, UnboundType):
            return ""
        name = annotation.name
        found = self._find(name)
        if found is None:
            return _ANNOTATIONS.get(name.rpartition(".")[2], "") if "." in name else ""
        module, _, last = found.fullname.rpartition(".")
        if runtime_of(module):
            return _ANNOTATIONS.get(last, "")
        is_hiding = isinstance(found, TypeAlias) or last == "Annotated"
        return UNSURE if is_hiding else ""

    def _find(self, name: str) -> SymbolNode | None:
        first, *rest = name.split(".")
        tree = self._api.modules.get(self._definition.info.module_name)
        symbol = tree.names.get(first) if tree is not None else None
        if symbol is None:
            symbol = self._api.lookup_qualified(first, self._definition, suppress_errors=True)
        node = symbol.node if symbol is not None else None
        for part in rest:
            if not isinstance(node, MypyFile | TypeInfo) or part not in node.names:
                return None
            node = node.names[part].node
        return node


def methods_of(definition: ClassDef) -> Iterator[FuncDef]:
    """Yield the methods of a class, decorated ones too."""
    for statement in definition.defs.body:
        match statement:
            case FuncDef():
                yield statement
            case Decorator():
                yield statement.func
            case OverloadedFuncDef():
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


def deleted_attributes(statement: DelStmt, self_name: str) -> list[str]:
    """Return the attributes of the object that a statement deletes."""
    target = statement.expr
    targets = target.items if isinstance(target, TupleExpr) else [target]
    return [
        each.name
        for each in targets
        if isinstance(each, MemberExpr)
        and isinstance(each.expr, NameExpr)
        and each.expr.name == self_name
    ]


def is_static_by_form(value: Expression) -> bool:
    """Tell whether an expression has a static value, whatever its names stand for."""
    match value:
        case IntExpr() | FloatExpr() | ComplexExpr() | StrExpr() | BytesExpr() | LambdaExpr():
            return True
        case NameExpr():
            return value.name in ("None", "True", "False")
        case UnaryExpr():
            return value.op == "not" or is_static_by_form(value.expr)
        case ListExpr() | TupleExpr() | SetExpr():
            return all(map(is_static_by_form, value.items))
        case DictExpr():
            return all(key is not None and is_static_by_form(each) for key, each in value.items)
        case _:
            return False


def _opens(node: object, self_name: str) -> bool:
    """Tell whether an expression makes attributes by a name that is not written."""
    match node:
        case CallExpr(
            callee=NameExpr(name="setattr" | "delattr" | "vars"), args=[NameExpr(name=first), *_]
        ):
            return first == self_name
        case CallExpr(callee=MemberExpr(name="__setattr__"), args=[NameExpr(name=first), *_]):
            return first == self_name
        case MemberExpr(expr=NameExpr(name=first), name=name):
            return first == self_name and name in _OPENING
        case _:
            return False


def _written(expression: Expression) -> str:
    """Return a dotted name as it is written; empty for any other expression."""
    match expression:
        case NameExpr():
            return expression.name
        case MemberExpr():
            before = _written(expression.expr)
            return f"{before}.{expression.name}" if before else ""
        case IndexExpr():
            return _written(expression.base)
        case _:
            return ""
