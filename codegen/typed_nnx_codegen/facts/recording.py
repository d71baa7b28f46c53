"""Writes down what the source of a class says of its attributes, when mypy analyses the class."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from operator import attrgetter
from typing import Final

from mypy import nodes
from mypy.nodes import AssignmentStmt, CallExpr, ClassDef, MemberExpr, NameExpr, Statement, TypeInfo
from mypy.plugin import ClassDefContext, SemanticAnalyzerPluginInterface
from mypy.types import AnyType, Instance, LiteralType, Type, TypeOfAny, UnboundType

from typed_nnx_codegen.facts.children import descendants
from typed_nnx_codegen.facts.internals import set_fullname
from typed_nnx_codegen.facts.kinds import runtime_of_class
from typed_nnx_codegen.facts.marks import (
    KEY,
    SOWN,
    UNSURE,
    ClassMarks,
    Said,
    calls_super,
    is_static_by_form,
    methods_of,
    self_name_of,
)
from typed_nnx_codegen.facts.names import runtime_of
from typed_nnx_codegen.facts.targets import blocks_of, own_attributes, statements_of

_VALUES: Final = attrgetter(*(each.name for each in fields(Said)))
_FUNCTIONS: Final = ("data", "static")
_ANNOTATIONS: Final = {"Data": "data", "Static": "static"}
_MAY_OPEN: Final = frozenset({CallExpr, MemberExpr})
_OPENING: Final = ("sow", "perturb", "__setattr__", "__dict__")
# Private, so that mypy does not compare it with the one of a base.
_SHOWN: Final = "__nnx_marks"
_OPTIONS_OF_SOW: Final = 3
"""How many arguments `sow` has before those that say how it collects values."""


def record_marks(context: ClassDefContext) -> nodes.Node | None:
    """Write down what the body of a Pytree class says of its attributes.

    Returns:
        What in its methods makes attributes by names that are not written; None for nothing.
    """
    definition = context.cls
    reading = _Reading(definition, context.api)
    found = reading.read()
    info = definition.info
    info.metadata[KEY] = {
        "attributes": {name: [*_VALUES(said)] for name, said in found.attributes.items()},
        "is_pytree": found.is_pytree,
        "opened_by": found.opened_by,
        "calls_super": found.calls_super,
        "recorded": [*found.recorded],
    }
    _show(info, context.api)
    for name, sown in reading.recorded.items():
        if sown is not None:
            _add(info, f"{SOWN}{name}", sown)
    return reading.opening


def _show(info: TypeInfo, api: SemanticAnalyzerPluginInterface) -> None:
    """Make what was written down part of the symbols of a class.

    mypy's daemon compares symbols to find out what has to be checked again, and not metadata.
    """
    text = api.named_type_or_none("builtins.str")
    if text is not None:
        _add(info, _SHOWN, LiteralType(json.dumps(info.metadata[KEY], sort_keys=True), text))


def _add(info: TypeInfo, name: str, found: Type) -> None:
    shown = nodes.Var(name, found)
    shown.info = info
    set_fullname(shown, f"{info.fullname}.{name}")
    shown.is_classvar = True
    info.names[name] = nodes.SymbolTableNode(nodes.MDEF, shown, plugin_generated=True)


class _Reading:
    """Reads the body of one class."""

    def __init__(self, definition: ClassDef, api: SemanticAnalyzerPluginInterface) -> None:
        self._definition = definition
        self._names = _Names(definition, api)
        self._found: dict[str, Said] = {}
        self._opened_by = ""
        self.opening: nodes.Node | None = None
        self._calls_super = False
        self.recorded: dict[str, Instance | None] = {}

    def read(self) -> ClassMarks:
        """Return what the body says."""
        pytree = self._definition.keywords.get("pytree")
        for statement in self._definition.defs.body:
            if isinstance(statement, AssignmentStmt):
                self._take_field(statement)
        for method in methods_of(self._definition):
            self._take_method(method)
        is_pytree = pytree is None or (isinstance(pytree, NameExpr) and pytree.name == "True")
        recorded = tuple(self.recorded)
        return ClassMarks(self._found, is_pytree, self._opened_by, self._calls_super, recorded)

    def _take_field(self, statement: AssignmentStmt) -> None:
        target = statement.lvalues[0]
        if isinstance(target, NameExpr):
            has_default = not isinstance(statement.rvalue, nodes.TempNode)
            mark = self._mark(statement)
            said = Said(0, mark, mark, has_default=has_default, made=UNSURE)
            self._say(target.name, said)

    def _take_method(self, method: nodes.FuncDef) -> None:
        self_name = self_name_of(method)
        if not self_name:
            return
        direct = set(_in_any_case(method.body)) if method.name == "__init__" else set[Statement]()
        self._calls_super |= any(map(calls_super, direct))
        seen: set[str] = set()
        for statement in statements_of(method.body):
            if isinstance(statement, AssignmentStmt):
                is_whole = not isinstance(statement.lvalues[0], nodes.TupleExpr | nodes.ListExpr)
                # An annotation in a method is not seen at run time.
                mark = self._names.mark_of(statement.rvalue) if is_whole else ""
                is_direct = statement in direct
                is_static = is_whole and is_direct and is_static_by_form(statement.rvalue)
                made = self._names.made_by(statement.rvalue) if is_whole else UNSURE
                for name in own_attributes(statement, self_name):
                    begins = is_static and name not in seen
                    seen.add(name)
                    said = Said(0, mark, "", is_direct, True, begins_static=begins, made=made)
                    self._say(name, said)
            elif isinstance(statement, nodes.DelStmt):
                for name in own_attributes(statement, self_name):
                    seen.add(name)
                    self._say(name, Said(0, is_deleted=True))
        known: set[nodes.Node] = set()
        for node in descendants(method.body):
            if type(node) not in _MAY_OPEN or node in known:
                continue
            recorded = _recorded(node, self_name)
            if isinstance(node, CallExpr) and recorded:
                known.add(node.callee)
                sown = self._names.sown_by(node)
                is_same = self.recorded.setdefault(recorded, sown) == sown
                self.recorded[recorded] = sown if is_same else None
            elif not self._opened_by and (opened := _opening(node, self_name)):
                self._opened_by, self.opening = opened, node

    def _mark(self, statement: AssignmentStmt) -> str:
        by_value = self._names.mark_of(statement.rvalue)
        if statement.unanalyzed_type is None:
            return by_value
        annotated = self._names.mark_of_annotation(statement.unanalyzed_type)
        # An alias may hide a mark, but the value says it in any case.
        return by_value if by_value and annotated == UNSURE else annotated or by_value

    def _say(self, name: str, said: Said) -> None:
        before = self._found.get(name)
        if before is None:
            said = replace(said, order=len(self._found))
        else:
            said = Said(
                before.order,
                _agreed(before.mark, said.mark),
                before.declared or said.declared,
                before.is_always or said.is_always,
                before.is_assigned or said.is_assigned,
                before.has_default or said.has_default,
                before.begins_static or said.begins_static,
                before.is_deleted or said.is_deleted,
                _agreed(before.made, said.made),
            )
        self._found[name] = said


def _agreed(*said: str) -> str:
    """Return what all that say something say; `UNSURE` where they disagree."""
    found = {*said} - {""}
    return found.pop() if len(found) == 1 else UNSURE if found else ""


class _Names:
    """Finds out what names in a class stand for, before mypy has bound those in methods."""

    def __init__(self, definition: ClassDef, api: SemanticAnalyzerPluginInterface) -> None:
        self._definition = definition
        self._api = api

    def mark_of(self, value: nodes.Expression) -> str:
        """Return the mark that an assigned expression has."""
        if isinstance(value, nodes.ConditionalExpr):
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

    def made_by(self, value: nodes.Expression) -> str:
        """Return the full name of the class whose call an expression is; empty for None."""
        match value:
            case nodes.ConditionalExpr():
                return _agreed(self.made_by(value.if_expr), self.made_by(value.else_expr))
            case NameExpr(name="None"):
                return ""
            case CallExpr(callee=callee):
                found = self._find(name) if (name := _written(callee)) else None
                return found.fullname if isinstance(found, TypeInfo) else UNSURE
            case _:
                return UNSURE

    def sown_by(self, call: CallExpr) -> Instance | None:
        """Return the type of the Variable of ``sow`` or ``perturb``; None if it is not written."""
        first = call.args[0]
        if isinstance(first, nodes.StrExpr) and len(call.args) < _OPTIONS_OF_SOW:  # of ``perturb``
            name = f"{runtime_of_class(self._definition.info)}.Perturbation"
            symbol = self._api.lookup_fully_qualified_or_none(name)
            variable = symbol.node if symbol is not None else None
        else:
            variable = self._find(name) if (name := _written(first)) else None
        if not isinstance(variable, TypeInfo):
            return None
        value: Type = AnyType(TypeOfAny.special_form)
        row = self._api.named_type_or_none("builtins.tuple", [value])
        if row is not None and len(call.args) == _OPTIONS_OF_SOW:
            value = row
        return Instance(variable, [value] * (len(variable.defn.type_vars) == 1))

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
        is_hiding = isinstance(found, nodes.TypeAlias) or last == "Annotated"
        return UNSURE if is_hiding else ""

    def _find(self, name: str) -> nodes.SymbolNode | None:
        first, *rest = name.split(".")
        tree = self._api.modules.get(self._definition.info.module_name)
        symbol = tree.names.get(first) if tree is not None else None
        if symbol is None:
            symbol = self._api.lookup_qualified(first, self._definition, suppress_errors=True)
        node = symbol.node if symbol is not None else None
        for part in rest:
            if not isinstance(node, nodes.MypyFile | TypeInfo) or part not in node.names:
                return None
            node = node.names[part].node
        return node


def _in_any_case(body: nodes.Block) -> list[Statement]:
    """Return the statements of a function that run in each call: those before any return."""
    found: list[Statement] = []
    for statement in body.body:
        inner = (each for block in blocks_of(statement) for each in statements_of(block))
        if any(isinstance(each, nodes.ReturnStmt) for each in (statement, *inner)):
            break
        found.append(statement)
    return found


def _recorded(node: object, self_name: str) -> str:
    """Return the written name of what a call of ``sow`` or ``perturb`` keeps; empty for any other."""
    match node:
        case (
            CallExpr(
                callee=MemberExpr(expr=NameExpr(name=first), name="sow"),
                args=[_, nodes.StrExpr(value=name), *_],
                arg_kinds=[nodes.ARG_POS, nodes.ARG_POS, *_],
            )
            | CallExpr(
                callee=MemberExpr(expr=NameExpr(name=first), name="perturb"),
                args=[nodes.StrExpr(value=name), *_],
                arg_kinds=[nodes.ARG_POS, *_],
            )
        ) if first == self_name:
            return name
        case _:
            return ""


def _opening(node: object, self_name: str) -> str:
    """Return how an expression makes attributes by a name that is not written; empty if it does not."""
    match node:
        case CallExpr(
            callee=NameExpr(name="setattr" | "delattr" | "vars" as name),
            args=[NameExpr(name=first), *_],
        ) if first == self_name:
            return f"{name}({first}, ...)"
        case CallExpr(callee=MemberExpr(name="__setattr__"), args=[NameExpr(name=first), *_]) if (
            first == self_name
        ):
            return f"__setattr__({first}, ...)"
        case MemberExpr(expr=NameExpr(name=first), name=name) if first == self_name:
            return f"{first}.{name}" if name in _OPENING else ""
        case _:
            return ""


def _written(expression: nodes.Expression) -> str:
    """Return a dotted name as it is written; empty for any other expression."""
    match expression:
        case NameExpr():
            return expression.name
        case MemberExpr():
            before = _written(expression.expr)
            return f"{before}.{expression.name}" if before else ""
        case nodes.IndexExpr():
            return _written(expression.base)
        case _:
            return ""
