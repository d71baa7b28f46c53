"""Goes through the statements of a module in their order and binds names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.expressions import Expressions
from typed_nnx_codegen.migrate.analysis.imports import Imports
from typed_nnx_codegen.migrate.analysis.members import derives, element_of
from typed_nnx_codegen.migrate.analysis.syntax import children, dotted, is_name
from typed_nnx_codegen.migrate.analysis.values import (
    NNX,
    NOTHING,
    UNKNOWN,
    External,
    Scope,
    Value,
    join,
)

_LEAVING: Final = frozenset({cst.Return, cst.Raise, cst.Continue, cst.Break})


class Statements:
    """Goes through statements.

    Args:
        expressions: Evaluates expressions.
        imports: Binds the names of import statements.
        module: The scope of the module.
        define_function: Notes a function.
        define_class: Goes through a class.
        assigned_in: Gives the names that statements below a node assign.
    """

    def __init__(
        self,
        expressions: Expressions,
        imports: Imports,
        module: Scope,
        define_function: Callable[[cst.FunctionDef, Scope], None],
        define_class: Callable[[cst.ClassDef, Scope], None],
        assigned_in: Callable[[cst.CSTNode], frozenset[str]],
    ) -> None:
        self._expressions = expressions
        self._imports = imports
        self._module = module
        self._define_function = define_function
        self._define_class = define_class
        self._assigned_in = assigned_in

    def run(self, body: Sequence[cst.CSTNode], scope: Scope) -> bool:
        """Go through statements; returns whether the end of them can be reached."""
        reachable = True
        for statement in body:
            if not self._statement(statement, scope):
                reachable = False
        return reachable

    def block(self, block: cst.CSTNode, scope: Scope) -> bool:
        """Go through a block; returns whether its end can be reached."""
        if isinstance(block, cst.IndentedBlock):
            return self.run(block.body, scope)
        return not isinstance(block, cst.SimpleStatementSuite) or self._line(block.body, scope)

    def _statement(self, node: cst.CSTNode, scope: Scope) -> bool:
        match node:
            case cst.SimpleStatementLine():
                return self._line(node.body, scope)
            case cst.If():
                return self._if(node, scope)
            case cst.For() | cst.While():
                self._loop(node, scope)
            case cst.With():
                for item in node.items:
                    value = self._expressions.evaluate(item.item, scope)
                    if item.asname is not None:
                        self._expressions.bind(item.asname.name, _entered(value), scope)
                return self.block(node.body, scope)
            case cst.Try() | cst.TryStar():
                return self._try(node, scope)
            case cst.Match():
                self._match(node, scope)
            case cst.FunctionDef():
                self._define_function(node, scope)
            case cst.ClassDef():
                self._define_class(node, scope)
        return True

    # -- statements of one line ---------------------------------------------------------------

    def _line(self, body: Sequence[cst.CSTNode], scope: Scope) -> bool:
        """Go through statements of one line; returns whether the end of them can be reached."""
        for node in body:
            self._small(node, scope)
        return _LEAVING.isdisjoint(map(type, body))

    def _small(self, node: cst.CSTNode, scope: Scope) -> None:
        match node:
            case cst.Assign():
                value = self._expressions.evaluate(node.value, scope)
                for target in node.targets:
                    self._expressions.bind(target.target, value, scope)
            case cst.Expr():
                self._expressions.evaluate(node.value, scope)
            case cst.AnnAssign():
                self._annotated(node, scope)
            case cst.AugAssign():
                self._augmented(node, scope)
            case cst.Return():
                value = self._expressions.evaluate(node.value, scope) if node.value else NOTHING
                if scope.function is not None:
                    scope.function.returned = join(scope.function.returned, value)
            case cst.Assert():
                self._expressions_in(node, scope)
                self._expressions.narrow(node.test, scope, holds=True)
            case cst.Import() | cst.ImportFrom():
                self._imports.bind(node, scope)
            case cst.Global() | cst.Nonlocal():
                self._declared(node, scope)
            case _:
                self._expressions_in(node, scope)

    def _declared(self, node: cst.Global | cst.Nonlocal, scope: Scope) -> None:
        for item in node.names:
            name = item.name.value
            owner: Scope | None = self._module
            if isinstance(node, cst.Nonlocal):
                owner = scope.parent.owner_of(name) if scope.parent is not None else None
            if owner is not None and owner is not scope:
                scope.outer[name] = owner

    def _expressions_in(self, node: cst.CSTNode, scope: Scope) -> None:
        for child in children(node):
            if isinstance(child, cst.BaseExpression):
                self._expressions.evaluate(child, scope)
            else:
                self._expressions_in(child, scope)

    def _annotated(self, node: cst.AnnAssign, scope: Scope) -> None:
        annotated = self._expressions.annotations.read(node.annotation.annotation, scope)
        value = self._expressions.evaluate(node.value, scope) if node.value is not None else NOTHING
        if isinstance(node.target, cst.Name) and scope.owner is not None and scope.kind == "class":
            scope.owner.annotated[node.target.value] = annotated
            if annotated == UNKNOWN and node.value is not None:
                scope.owner.assign(node.target.value, value)
        known = annotated if annotated != UNKNOWN else value
        self._expressions.bind(node.target, known if known != NOTHING else UNKNOWN, scope)

    def _augmented(self, node: cst.AugAssign, scope: Scope) -> None:
        target = self._expressions.evaluate(node.target, scope)
        value = self._expressions.evaluate(node.value, scope)
        if isinstance(node.target, cst.Name) and derives(target, "Variable") is not True:
            scope.bind(node.target.value, target if target == value else _sum(target, value))

    # -- blocks -------------------------------------------------------------------------------

    def _if(self, node: cst.If, scope: Scope) -> bool:
        self._expressions.evaluate(node.test, scope)
        narrowed = dict(scope.narrowed)
        before = dict(scope.now)
        self._expressions.narrow(node.test, scope, holds=True)
        imports = self._imports
        was_apart = imports.is_apart
        imports.is_apart = was_apart or _is_apart(node.test)
        body_ends = self.block(node.body, scope)
        imports.is_apart = was_apart
        after_body = dict(scope.now)
        scope.now = dict(before)
        scope.narrowed = dict(narrowed)
        self._expressions.narrow(node.test, scope, holds=False)
        else_ends = True
        if isinstance(node.orelse, cst.If):
            else_ends = self._if(node.orelse, scope)
        elif node.orelse is not None:
            else_ends = self.block(node.orelse.body, scope)
        if not body_ends:
            # What the condition denies holds from here on.
            return else_ends
        scope.narrowed = narrowed
        scope.now = _joined(after_body, scope.now) if else_ends else after_body
        return True

    def _loop(self, node: cst.For | cst.While, scope: Scope) -> None:
        narrowed = dict(scope.narrowed)
        for name in self._assigned_in(node):
            earlier = scope.before.get(name)
            if earlier is not None and name in scope.now:
                scope.now[name] = join(scope.now[name], earlier)
        if isinstance(node, cst.For):
            items = self._expressions.evaluate(node.iter, scope)
            before = dict(scope.now)
            self._expressions.bind(node.target, element_of(items), scope)
        else:
            self._expressions.evaluate(node.test, scope)
            before = dict(scope.now)
            self._expressions.narrow(node.test, scope, holds=True)
        self.block(node.body, scope)
        scope.now = _joined(before, scope.now)
        scope.narrowed = narrowed
        if node.orelse is not None:
            self.block(node.orelse.body, scope)

    def _try(self, node: cst.Try | cst.TryStar, scope: Scope) -> bool:
        before = dict(scope.now)
        ends = self.block(node.body, scope)
        after_body = dict(scope.now)
        meant = {
            name: (scope.seen[name], scope.imports[name])
            for name in _imported_in(node.body)
            if name in scope.now
            and name in scope.imports
            # A name of NNX may get another name, which is no name of what a handler binds.
            and isinstance(value := scope.imports[name].value, External)
            and not value.public.startswith(f"{NNX}.")
        }
        started = _joined(before, after_body)
        afters: list[dict[str, Value]] = []
        for handler in node.handlers:
            scope.now = dict(started)
            if handler.type is not None:
                self._expressions.evaluate(handler.type, scope)
            if handler.name is not None:
                self._expressions.bind(handler.name.name, UNKNOWN, scope)
            ends_too = self.block(handler.body, scope)
            if handler.type is not None and _is_import_error(handler.type):
                # The file is written for what it imports where it can.
                for name, (seen, binding) in meant.items():
                    scope.now[name] = after_body[name]
                    scope.seen[name], scope.imports[name] = seen, binding
            if ends_too:
                afters.append(dict(scope.now))
        scope.now = after_body
        if node.orelse is not None:
            ends = self.block(node.orelse.body, scope) and ends
        if ends:
            afters.append(dict(scope.now))
        scope.now = _joined(*afters) if afters else started
        if node.finalbody is not None:
            self.block(node.finalbody.body, scope)
        return bool(afters)

    def _match(self, node: cst.Match, scope: Scope) -> None:
        self._expressions.evaluate(node.subject, scope)
        before = dict(scope.now)
        afters = [before]
        for case in node.cases:
            scope.now = dict(before)
            self._pattern(case.pattern, scope)
            if case.guard is not None:
                self._expressions.evaluate(case.guard, scope)
            if self.block(case.body, scope):
                afters.append(dict(scope.now))
        scope.now = _joined(*afters)

    def _pattern(self, node: cst.CSTNode, scope: Scope) -> None:
        """Bind the names of a pattern to anything; evaluate the classes and values in it."""
        match node:
            case cst.MatchAs(name=cst.Name(value=name)) | cst.MatchStar(name=cst.Name(value=name)):
                scope.bind(name, UNKNOWN)
            case cst.MatchMapping(rest=cst.Name(value=name)):
                scope.bind(name, UNKNOWN)
            case cst.MatchClass():
                self._expressions.evaluate(node.cls, scope)
            case cst.MatchValue():
                self._expressions.evaluate(node.value, scope)
        for child in children(node):
            if not isinstance(child, (cst.BaseExpression, cst.Name)):
                self._pattern(child, scope)


def _imported_in(body: cst.BaseSuite) -> Iterator[str]:
    """Yield the names that the import statements of a block bind."""
    for statement in body.body:
        for small in statement.body if isinstance(statement, cst.SimpleStatementLine) else ():
            if isinstance(small, cst.Import | cst.ImportFrom):
                names = () if isinstance(small.names, cst.ImportStar) else small.names
                yield from (alias.evaluated_alias or alias.evaluated_name for alias in names)


def _is_import_error(node: cst.BaseExpression) -> bool:
    """Whether a handler is for imports that fail."""
    nodes = [one.value for one in node.elements] if isinstance(node, cst.Tuple) else [node]
    return any(is_name(one, "ImportError") or is_name(one, "ModuleNotFoundError") for one in nodes)


def _joined(*environments: dict[str, Value]) -> dict[str, Value]:
    joined: dict[str, Value] = {}
    differing: list[str] = []
    for environment in environments:
        for name, value in environment.items():
            if joined.setdefault(name, value) is not value:
                differing.append(name)
    for name in differing:
        joined[name] = join(*(environment.get(name, NOTHING) for environment in environments))
    return joined


def _is_apart(test: cst.BaseExpression) -> bool:
    """Whether a condition holds for type checkers only, or where the module is the main one."""
    if isinstance(test, cst.Comparison):
        return isinstance(test.left, cst.Name) and test.left.value == "__name__"
    return dotted(test).rpartition(".")[2] == "TYPE_CHECKING"


def _sum(target: Value, value: Value) -> Value:
    return target if value == NOTHING else join(target, value)


def _entered(value: Value) -> Value:
    """Return what ``with x as y`` binds; few context managers of NNX give anything."""
    del value
    return UNKNOWN
