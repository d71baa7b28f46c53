"""Writes migrated files: classes with constructors, methods, the names that they use."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN, External
from typed_nnx_codegen.migrate.file import File
from typed_nnx_codegen.migrate.linen.classes import (
    LINEN,
    Field,
    LinenClass,
    LinenClasses,
    public_linen,
)
from typed_nnx_codegen.migrate.linen.linen_names import nnx_name
from typed_nnx_codegen.migrate.linen.plan import ClassPlan
from typed_nnx_codegen.migrate.linen.layers import find_layer
from typed_nnx_codegen.migrate.linen.replacing import Replacer

_Statement = cst.BaseStatement
_REMOVED_DECORATORS = frozenset({"flax.linen.compact", "flax.linen.nowrap"})


class Emission(cst.CSTTransformer):
    """Rewrites the modules of one file.

    Args:
        file: The file.
        classes: The Linen modules of the project.
        plan_of: Gives the plan of a module.
    """

    def __init__(
        self, file: File, classes: LinenClasses, plan_of: Callable[[LinenClass], ClassPlan]
    ) -> None:
        super().__init__()
        self._file = file
        self._classes = classes
        self._plan_of = plan_of
        self._plans = [plan_of(cls) for cls in classes.all_in(file.analysis)]
        self._code: dict[cst.CSTNode, str] = {}
        self._calls: dict[cst.Call, str] = {}
        for plan in self._plans:
            self._code |= plan.replacements
            self._calls |= plan.calls
        self._marks: dict[cst.CSTNode, list[str]] = {}
        for plan in self._plans:
            for mark in plan.marks:
                self._marks.setdefault(mark.node, []).append(mark.message)
        self._pending: list[list[str]] = [[]]

    # -- names and calls ----------------------------------------------------------------------

    def on_visit(self, node: cst.CSTNode) -> bool:
        """Begin a node; not below what is replaced."""
        if isinstance(node, (cst.BaseStatement, cst.ClassDef)):
            self._pending.append([])
        self._pending[-1].extend(self._marks.get(node, ()))
        return node not in self._code and not isinstance(node, (cst.Import, cst.ImportFrom))

    def on_leave(  # type: ignore[override]  # one handler for all kinds
        self, original_node: cst.CSTNode, updated_node: cst.CSTNode
    ) -> cst.CSTNode | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNode]:
        """Write a node."""
        after: cst.CSTNode = updated_node
        if original_node in self._code:
            after = cst.parse_expression(self._code[original_node])
        elif isinstance(original_node, cst.Call) and original_node in self._calls:
            assert isinstance(updated_node, cst.Call)
            parsed = cst.parse_expression(f"f({self._calls[original_node]})")
            assert isinstance(parsed, cst.Call)
            after = updated_node.with_changes(args=parsed.args)
        elif isinstance(original_node, (cst.Attribute, cst.Name)):
            after = self._name(original_node, updated_node)
        elif isinstance(original_node, cst.ClassDef):
            after = self._class(original_node, updated_node)
        if isinstance(original_node, (cst.BaseStatement, cst.ClassDef)):
            after = self._marked(after, self._pending.pop())
        return after

    def _name(self, node: cst.Attribute | cst.Name, updated: cst.CSTNode) -> cst.CSTNode:
        value = self._file.analysis.values.get(node, UNKNOWN)
        if not isinstance(value, External):
            return updated
        public = public_linen(value.name)
        if not public.startswith(f"{LINEN}."):
            return updated
        layer = find_layer(public)
        name = layer.nnx if layer is not None else nnx_name(public)
        if not name.startswith("nnx."):
            return updated
        return self._file.refer(name)

    @staticmethod
    def _marked(node: cst.CSTNode, messages: Sequence[str]) -> cst.CSTNode:
        if not messages or not hasattr(node, "leading_lines"):
            return node
        lines = [
            cst.EmptyLine(comment=cst.Comment(f"# TODO[typed-nnx] TN200: {message}"))
            for message in dict.fromkeys(messages)
        ]
        existing: Sequence[cst.EmptyLine] = node.leading_lines
        return node.with_changes(leading_lines=[*existing, *lines])

    # -- classes ------------------------------------------------------------------------------

    def _class(self, node: cst.ClassDef, updated: cst.ClassDef) -> cst.CSTNode:
        cls = self._classes.find(node)
        if cls is None or not isinstance(updated.body, cst.IndentedBlock):
            return updated
        plan = self._plan_of(cls)
        fields = {id(one.statement): one for one in cls.own_fields}
        body: list[_Statement] = []
        place: int | None = None
        originals = node.body.body if isinstance(node.body, cst.IndentedBlock) else ()
        for before, after in zip(originals, updated.body.body, strict=True):
            if _is_field(before, fields) or _is_setup(before):
                place = len(body) if place is None else place
                continue
            if isinstance(before, cst.FunctionDef) and isinstance(after, cst.FunctionDef):
                place = len(body) if place is None else place
                body.append(self._method(after, plan, cls))
            else:
                body.append(after)
        place = len(body) if place is None else place
        constructor = self._constructor(plan, cls)
        body.insert(place, constructor)
        if place + 1 < len(body) and not body[place + 1].leading_lines:
            body[place + 1] = body[place + 1].with_changes(leading_lines=[cst.EmptyLine(indent=False)])
        return updated.with_changes(body=updated.body.with_changes(body=body))

    def _method(self, node: cst.FunctionDef, plan: ClassPlan, cls: LinenClass) -> cst.FunctionDef:
        method = cls.own_methods.get(node.name.value)
        if method is not None:
            kept = [
                one
                for one, name in zip(node.decorators, method.decorators, strict=True)
                if name not in _REMOVED_DECORATORS
            ]
            if len(kept) != len(node.decorators):
                leading = node.decorators[0].leading_lines if not kept else ()
                node = node.with_changes(
                    decorators=kept, leading_lines=[*node.leading_lines, *leading]
                )
        names = plan.iterators.get(node.name.value, [])
        if names and isinstance(node.body, cst.IndentedBlock):
            lines = [cst.parse_statement(f"{name} = iter(self.{name})") for name in names]
            body = list(node.body.body)
            position = 1 if node.get_docstring() else 0
            body[position:position] = lines
            node = node.with_changes(body=node.body.with_changes(body=body))
        return node

    def _constructor(self, plan: ClassPlan, cls: LinenClass) -> cst.FunctionDef:
        parameters = [self._parameter(one) for one in cls.fields()]
        keywords = [f"{one.name}: {'int' if one.axis is not None or not one.argument else 'tuple[int, ...]'}" for one in plan.lifted]
        keywords.append(f"rngs: {code_of(self._file.refer('nnx.Rngs'))}")
        header = ", ".join(["self", *parameters, "*", *keywords])
        lines = [f"self.{one.name} = {one.name}" for one in cls.fields()]
        lines += plan.init
        text = "\n".join(f"    {line}" if line else "" for line in lines or ["pass"])
        node = cst.parse_statement(f"def __init__({header}) -> None:\n{text}\n")
        assert isinstance(node, cst.FunctionDef)
        return node

    def _parameter(self, one: Field) -> str:
        annotation = code_of(self._translated(one.annotation.annotation, one))
        text = f"{one.name}: {annotation}"
        if one.default is None:
            return text
        return f"{text} = {code_of(self._translated(one.default, one))}"

    def _translated(self, node: cst.BaseExpression, one: Field) -> cst.CSTNode:
        replacements: dict[cst.CSTNode, str] = {}
        analysis = one.owner.analysis
        for below in [node, *_expressions(node)]:
            value = analysis.values.get(below, UNKNOWN)
            if isinstance(value, External):
                public = public_linen(value.name)
                layer = find_layer(public)
                name = layer.nnx if layer is not None else nnx_name(public)
                if name.startswith("nnx."):
                    replacements[below] = code_of(self._file.refer(name))
        after = node.visit(Replacer(replacements))
        assert isinstance(after, cst.CSTNode)
        return after


def _expressions(node: cst.CSTNode) -> list[cst.CSTNode]:
    found: list[cst.CSTNode] = []
    for child in node.children:
        found += [child, *_expressions(child)]
    return found


def _is_field(node: cst.BaseStatement, fields: dict[int, Field]) -> bool:
    return isinstance(node, cst.SimpleStatementLine) and any(
        id(small) in fields for small in node.body
    )


def _is_setup(node: cst.BaseStatement) -> bool:
    return isinstance(node, cst.FunctionDef) and node.name.value in ("setup", "__post_init__")
