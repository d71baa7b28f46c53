"""The statements of a class that say something about attributes of its objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from mypy.nodes import (
    AssignmentStmt,
    CallExpr,
    ClassDef,
    Decorator,
    Expression,
    ExpressionStmt,
    ForStmt,
    FuncDef,
    IndexExpr,
    ListExpr,
    MemberExpr,
    MypyFile,
    NameExpr,
    OverloadedFuncDef,
    ReturnStmt,
    Statement,
    TupleExpr,
    TypeInfo,
    Var,
    WithStmt,
)
from mypy.types import Type as MypyType

from typed_nnx_codegen.model_stubs.reading.marks import Marks
from typed_nnx_codegen.model_stubs.reading.walking import walk, walk_blocks

_OPENING = frozenset({"sow", "perturb"})
_ADDING = {"append": 0, "insert": 1}


@dataclass(frozen=True)
class Said:
    """One statement about one attribute.

    Attributes:
        name: The attribute.
        line: The line of the statement.
        value: What is assigned, if it can be seen.
        annotation: The type that the statement declares.
        mark: ``data``, ``static`` or nothing.
        direct: Whether it is a statement of ``__init__`` itself, not of a block in it.
        element: Whether the value is put into the attribute, a container.
        default: Whether it gives the class a value that no object need have.
    """

    name: str
    line: int
    value: Expression | None = None
    annotation: MypyType | None = None
    mark: str = ""
    direct: bool = False
    element: bool = False
    default: bool = False


@dataclass
class ClassStatements:
    """A class and what its statements say."""

    info: TypeInfo
    line: int
    plain: bool
    is_open: bool = False
    said: list[Said] = field(default_factory=list)


def class_statements(tree: MypyFile, runtime: str) -> list[ClassStatements]:
    """Return what the classes of a module say, those at its top level and in other classes.

    Args:
        tree: The module, after mypy has checked it.
        runtime: The package that the models are made with.
    """
    marks = Marks(tree, runtime)
    return [each for found in _classes(tree.defs) for each in _with_inner(found, marks)]


def _classes(statements: Iterable[Statement]) -> Iterator[ClassDef]:
    return (each for each in walk_blocks(statements) if isinstance(each, ClassDef))


def _with_inner(definition: ClassDef, marks: Marks) -> Iterator[ClassStatements]:
    plain = definition.keywords.get("pytree")
    is_plain = isinstance(plain, NameExpr) and plain.name == "False"
    found = ClassStatements(definition.info, definition.line, is_plain)
    _ClassBody(found, marks).take(definition.defs.body)
    yield found
    for inner in _classes(definition.defs.body):
        yield from _with_inner(inner, marks)


class _ClassBody:
    """Collects what the body of one class says."""

    def __init__(self, found: ClassStatements, marks: Marks) -> None:
        self._found = found
        self._said = found.said
        self._info = found.info
        self._marks = marks
        metadata = found.info.metadata
        self._is_dataclass = "dataclass" in metadata or "dataclass_tag" in metadata

    def take(self, body: Iterable[Statement]) -> None:
        """Take in the statements of the class body."""
        for statement in walk_blocks(body):
            if isinstance(statement, AssignmentStmt):
                self._take_field(statement)
            elif isinstance(statement, FuncDef | Decorator | OverloadedFuncDef):
                self._take_method(statement)

    def _take_field(self, statement: AssignmentStmt) -> None:
        target = statement.lvalues[0]
        if not isinstance(target, NameExpr) or statement.unanalyzed_type is None:
            return
        node = self._info.names[target.name].node if target.name in self._info.names else None
        if not isinstance(node, Var) or node.is_classvar:
            return
        has_value = not _is_missing(statement)
        mark = self._marks.of_annotation(statement.unanalyzed_type)
        self._said.append(
            Said(
                target.name,
                statement.line,
                annotation=statement.type or node.type,
                mark=mark or self._marks.of_value(statement.rvalue),
                default=has_value and not self._is_dataclass,
            )
        )

    # -- methods ------------------------------------------------------------------------------

    def _take_method(self, method: FuncDef | Decorator | OverloadedFuncDef) -> None:
        """Go through a method and the functions in it, which may see its ``self``."""
        direct: frozenset[Statement] = frozenset()
        if isinstance(method, FuncDef) and method.name == "__init__":
            direct = frozenset(method.body.body)
        for statement in walk([method]):
            match statement:
                case AssignmentStmt():
                    self._open(statement.rvalue)
                    for target in statement.lvalues:
                        self._assign(target, statement.rvalue, statement, statement in direct)
                case ForStmt():
                    self._assign(statement.index, None, statement)
                case WithStmt():
                    for each in statement.target:
                        if each is not None:
                            self._assign(each, None, statement)
                case ExpressionStmt():
                    self._open(statement.expr)
                    self._add(statement.expr)
                case ReturnStmt() if statement.expr is not None:
                    self._open(statement.expr)

    def _open(self, value: Expression) -> None:
        """Take in ``self.sow(...)``, ``self.perturb(...)`` and ``setattr(self, ...)``."""
        if not isinstance(value, CallExpr):
            return
        callee, first = value.callee, value.args[0] if value.args else None
        if isinstance(callee, MemberExpr):
            opens = callee.name in _OPENING and _is_self(callee.expr)
        else:
            opens = isinstance(callee, NameExpr) and callee.name == "setattr" and _is_self(first)
        self._found.is_open |= opens

    def _add(self, value: Expression) -> None:
        """Take in ``self.x.append(...)``."""
        callee = value.callee if isinstance(value, CallExpr) else None
        if isinstance(value, CallExpr) and isinstance(callee, MemberExpr):
            place = _ADDING.get(callee.name)
            name = _attribute(callee.expr)
            if place is not None and name is not None and len(value.args) > place:
                self._said.append(Said(name, value.line, value.args[place], element=True))

    def _assign(
        self,
        target: Expression,
        value: Expression | None,
        statement: Statement,
        is_direct: bool = False,
    ) -> None:
        if isinstance(target, TupleExpr | ListExpr):
            values: list[Expression | None] = [None] * len(target.items)
            if isinstance(value, TupleExpr | ListExpr) and len(value.items) == len(values):
                values = list(value.items)
            for each, part in zip(target.items, values, strict=True):
                self._assign(each, part, statement, is_direct)
            return
        if isinstance(target, IndexExpr):
            name = _attribute(target.base)
            if name is not None:
                self._said.append(Said(name, statement.line, value, element=True))
            return
        name = _attribute(target)
        if name is None or not self._is_plain_attribute(name):
            return
        annotation, mark = None, "" if value is None else self._marks.of_value(value)
        if isinstance(statement, AssignmentStmt) and statement.unanalyzed_type is not None:
            annotation = statement.type
            mark = self._marks.of_annotation(statement.unanalyzed_type) or mark
        self._said.append(Said(name, statement.line, value, annotation, mark, is_direct))

    def _is_plain_attribute(self, name: str) -> bool:
        """Tell whether assigning to the name stores an attribute, which a property need not."""
        symbol = self._info.get(name)
        return symbol is None or not isinstance(symbol.node, Decorator | OverloadedFuncDef)


def _attribute(target: Expression) -> str | None:
    return target.name if isinstance(target, MemberExpr) and _is_self(target.expr) else None


def _is_self(value: Expression | None) -> bool:
    node = value.node if isinstance(value, NameExpr) else None
    return isinstance(node, Var) and node.is_self


def _is_missing(statement: AssignmentStmt) -> bool:
    """Tell whether an annotation stands alone; mypy then gives it a value without a type."""
    return bool(getattr(statement.rvalue, "no_rhs", False))
