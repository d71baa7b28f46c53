"""The analysis of one module: what its names and expressions stand for.

The module is gone through several times. A round goes through the statements in their order and
then through the bodies of functions; what a round learns of classes, results and arguments, the
next one uses. The values of the last round are kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final, Literal

import libcst as cst

from typed_nnx_codegen.migrate.analysis.expressions import Expressions
from typed_nnx_codegen.migrate.analysis.imports import Imports, Modules
from typed_nnx_codegen.migrate.analysis.linen_defaults import linen_default, makes_linen
from typed_nnx_codegen.migrate.analysis.members import base_of
from typed_nnx_codegen.migrate.analysis.name_lookup import has_name
from typed_nnx_codegen.migrate.analysis.node_index import NodeIndex, index_of
from typed_nnx_codegen.migrate.analysis.statements import Statements
from typed_nnx_codegen.migrate.analysis.syntax import (
    descendants,
    parameters_of,
    targets_of,
    text_of,
)
from typed_nnx_codegen.migrate.analysis.values import (
    NOTHING,
    UNKNOWN,
    Collection,
    External,
    Instance,
    ProjectClass,
    ProjectFunction,
    Scope,
    Value,
    join,
    public_name,
    resolved,
)

_MOST_ROUNDS: Final = 6
# Classes whose objects callers know more of: which Module it is, what an Optimizer is made of.
_VAGUE: Final = frozenset({"nnx.Module", "nnx.Object", "nnx.Optimizer", "nnx.Pytree"})


class Analysis:
    """What the names and expressions of a module stand for.

    Args:
        tree: The module.
        module: Its dotted name.
        path: Its file.
        project: The modules around it.
        is_outline: Whether the bodies of its functions are left out.

    Attributes:
        scope: The scope of the module.
        values: What the expressions of the module stand for.
        scopes: The scopes of classes, functions, lambdas and comprehensions.
        stars: The packages that it imports ``*`` from.
    """

    def __init__(
        self,
        tree: cst.Module,
        module: str,
        path: Path,
        project: Modules,
        *,
        is_outline: bool = False,
    ) -> None:
        self.tree = tree
        self.module = module
        self.path = path
        self.is_outline = is_outline
        self.is_package = path.stem == "__init__"
        self.scope = Scope("module")
        self.values: dict[cst.CSTNode, Value] = {}
        self.scopes: dict[cst.CSTNode, Scope] = {}
        self.stars: list[str] = []
        self.expressions = Expressions(
            self.values,
            self.scope,
            self.from_stars,
            self.scope_for,
            self.function_for,
        )
        self._statements = Statements(
            self.expressions,
            Imports(module, path, project, self.stars),
            self.scope,
            self.define_function,
            self.define_class,
            self.assigned_in,
        )
        self._classes: dict[cst.ClassDef, ProjectClass] = {}
        self._functions: dict[cst.CSTNode, ProjectFunction] = {}
        self._pending: list[ProjectFunction] = []
        self._assigned: dict[cst.CSTNode, frozenset[str]] = {}
        self._generators: dict[cst.FunctionDef, bool] = {}
        self._nodes: NodeIndex | None = None
        self._known = NodeIndex(())

    @property
    def nodes(self) -> NodeIndex:
        """All nodes of the module that hold code, in the order of the text."""
        if self._nodes is None:
            self._nodes = index_of(self.tree)
        return self._nodes

    @property
    def known(self) -> NodeIndex:
        """The expressions that have a value."""
        if len(self._known) != len(self.values):
            self._known = NodeIndex(self.values)
        return self._known

    @property
    def functions(self) -> Iterable[ProjectFunction]:
        """The functions and lambdas of the module."""
        return self._functions.values()

    @property
    def classes(self) -> Iterable[ProjectClass]:
        """The classes of the module."""
        return self._classes.values()

    def run(self) -> None:
        """Go through the module until a round learns nothing new."""
        for _ in range(_MOST_ROUNDS):
            self._round()
            if not self._settle():
                return

    def _round(self) -> None:
        self.values.clear()
        self.stars.clear()
        self.scope.next_round()
        for scope in self.scopes.values():
            scope.next_round()
        self._pending = []
        self._statements.run(self.tree.body, self.scope)
        done: set[ProjectFunction] = set()
        while self._pending:
            waiting, self._pending = self._pending, []
            for function in waiting:
                if function not in done:
                    done.add(function)
                    self._run_body(function)

    def _settle(self) -> bool:
        """Keep what this round learned; returns whether it differs from the round before."""
        changed = False
        for cls in self._classes.values():
            changed = changed or cls.attributes != cls.assigned
            cls.attributes, cls.assigned = cls.assigned, {}
        for function in self._functions.values():
            changed = changed or function.arguments != function.passed
            changed = changed or function.result != function.returned
            function.arguments, function.passed = function.passed, {}
            function.result, function.returned = function.returned, NOTHING
        for scope in (self.scope, *self.scopes.values()):
            changed = changed or scope.before != scope.seen
        return changed

    # -- names of the module, for other modules -----------------------------------------------

    def name(self, name: str) -> Value | None:
        """Return what a name of the module stands for; None where it has none."""
        found = self.bound(name)
        value = resolved(found) if found is not None else None
        # Modules that import each other may ask for what is being found out.
        return value if value is not NOTHING or value is found else None

    def bound(self, name: str) -> Value | None:
        """Return the same; what the module itself imports may be an `Imported`."""
        found = self.scope.seen.get(name)
        return found if found is not None else self.from_stars(name)

    def public(self) -> Iterable[str]:
        """Return the names that ``from module import *`` binds."""
        exported = self.exported()
        if exported is not None:
            return exported
        return [name for name in self.scope.seen if not name.startswith("_")]

    def exported(self) -> tuple[str, ...] | None:
        """Return the names in ``__all__``; None where the module has none that can be read."""
        nodes = self.export_strings()
        return None if nodes is None else tuple(text for node in nodes if (text := text_of(node)))

    def export_strings(self) -> list[cst.CSTNode] | None:
        """Return the strings in ``__all__``; None where the module has none that can be read."""
        for statement in self.tree.body:
            for node in (
                descendants(statement) if isinstance(statement, cst.SimpleStatementLine) else ()
            ):
                if isinstance(node, cst.Assign) and any(
                    isinstance(target.target, cst.Name) and target.target.value == "__all__"
                    for target in node.targets
                ):
                    return [item for item in descendants(node.value) if text_of(item) is not None]
        return None

    def from_stars(self, name: str) -> Value | None:
        """Return a name that ``from flax.nnx import *`` brings; None where none does."""
        for package in self.stars:
            if public_name(package) == "nnx" and has_name("flax.nnx", name):
                return External(f"{package}.{name}")
        return None

    # -- what the evaluation notes ------------------------------------------------------------

    def assigned_in(self, node: cst.CSTNode) -> frozenset[str]:
        """Return the names that statements below a node assign."""
        found = self._assigned.get(node)
        if found is None:
            names: set[str] = set()
            for below in descendants(node):
                if isinstance(below, cst.AssignTarget):
                    names.update(
                        target.value
                        for target in targets_of(below.target)
                        if isinstance(target, cst.Name)
                    )
            found = self._assigned[node] = frozenset(names)
        return found

    def scope_for(
        self, node: cst.CSTNode, kind: Literal["class", "function", "comprehension"], parent: Scope
    ) -> Scope:
        """Return the scope of a node; the same one in each round."""
        scope = self.scopes.get(node)
        if scope is None:
            scope = self.scopes[node] = Scope(kind, parent)
        return scope

    # -- definitions --------------------------------------------------------------------------

    def define_class(self, node: cst.ClassDef, scope: Scope) -> None:
        """Go through a class and bind its name."""
        cls = self._classes.get(node)
        if cls is None:
            cls = self._classes[node] = ProjectClass(node.name.value, self.module, node)
        cls.bases = tuple(
            base_of(self.expressions.evaluate(base.value, scope))
            for base in node.bases
            if not base.star
        )
        for keyword in node.keywords:
            self.expressions.evaluate(keyword.value, scope)
        cls.decorators = self._decorators(node.decorators, scope)
        inner = self.scope_for(node, "class", scope)
        inner.owner = cls
        scope.bind(node.name.value, cls)
        self._statements.block(node.body, inner)
        for name, value in inner.now.items():
            if name not in cls.methods and name not in cls.annotated:
                cls.assign(name, resolved(value))

    def define_function(self, node: cst.FunctionDef, scope: Scope) -> None:
        """Note a function and bind its name; its body waits until the statements around ended."""
        if not self.is_outline:
            self._evaluate_signature(node, scope)
        function = self.function_for(node, node.name.value, scope)
        if scope.kind == "class" and scope.owner is not None:
            function.owner = scope.owner
            scope.owner.methods[node.name.value] = function
        function.decorators = self._decorators(node.decorators, scope)
        value: Value = function
        for decorator in reversed(node.decorators):
            value = self._decorated(decorator, value, scope)
        scope.bind(node.name.value, value)

    def _evaluate_signature(self, node: cst.FunctionDef, scope: Scope) -> None:
        for parameter in parameters_of(node.params):
            if parameter.default is not None:
                self.expressions.evaluate(parameter.default, scope)
            if parameter.annotation is not None:
                self.expressions.evaluate(parameter.annotation.annotation, scope)
        if node.returns is not None:
            self.expressions.evaluate(node.returns.annotation, scope)

    def function_for(
        self, node: cst.FunctionDef | cst.Lambda, name: str, scope: Scope
    ) -> ProjectFunction:
        """Return the function of a definition, which is gone through later."""
        function = self._functions.get(node)
        if function is None:
            function = self._functions[node] = ProjectFunction(name, node, scope)
        if self.is_outline:
            function.returned = UNKNOWN
        else:
            self._pending.append(function)
        return function

    def _decorators(self, decorators: Iterable[cst.Decorator], scope: Scope) -> tuple[str, ...]:
        names: list[str] = []
        for decorator in decorators:
            node = decorator.decorator
            value = self.expressions.evaluate(node, scope)
            if isinstance(node, cst.Call):
                value = self.values.get(node.func, value)
            names.append(value.public if isinstance(value, External) else "")
        return tuple(names)

    def _decorated(self, decorator: cst.Decorator, value: Value, scope: Scope) -> Value:
        by = self.values.get(decorator.decorator, UNKNOWN)
        if isinstance(by, External) and by.name in {
            "builtins.property",
            "builtins.staticmethod",
            "builtins.classmethod",
        }:
            return value
        return self.expressions.call(by, [value], None, scope)

    # -- bodies -------------------------------------------------------------------------------

    def _run_body(self, function: ProjectFunction) -> None:
        node = function.node
        scope = self.scope_for(node, "function", function.scope)
        scope.function = function
        self._bind_parameters(function, scope)
        if isinstance(node, cst.Lambda):
            function.returned = self.expressions.evaluate(node.body, scope)
            return
        self._statements.block(node.body, scope)
        if node.returns is not None:
            annotated = self.expressions.annotations.read(node.returns.annotation, function.scope)
            if annotated != UNKNOWN and not _is_vague(annotated):
                function.returned = annotated
        if self._yields(node):
            function.returned = UNKNOWN

    def _yields(self, node: cst.FunctionDef) -> bool:
        """Whether a function is a generator."""
        found = self._generators.get(node)
        if found is None:
            kinds = map(type, descendants(node.body))
            found = self._generators[node] = any(kind is cst.Yield for kind in kinds)
        return found

    def _bind_parameters(self, function: ProjectFunction, scope: Scope) -> None:
        parameters = function.node.params
        by_position = [*parameters.posonly_params, *parameters.params]
        for parameter in parameters_of(parameters):
            name = parameter.name.value
            if function.owner is not None and by_position and parameter is by_position[0]:
                receiver = _receiver(function)
                if receiver is not None:
                    scope.bind(name, receiver)
                    continue
            value = self._parameter(function, parameter)
            default = self.values.get(parameter.default, NOTHING) if parameter.default else NOTHING
            if makes_linen(default):
                value = linen_default(function.arguments.get(name, NOTHING), default)
            scope.bind(name, value)

    def _parameter(self, function: ProjectFunction, parameter: cst.Param) -> Value:
        if isinstance(parameter.star, str) and parameter.star:
            kind = "dict" if parameter.star == "**" else "tuple"
            return Collection(kind, None, UNKNOWN)
        if parameter.annotation is not None:
            annotated = self.expressions.annotations.read(
                parameter.annotation.annotation, function.scope
            )
            if annotated != UNKNOWN and not _is_vague(annotated):
                return annotated
            passed = function.arguments.get(parameter.name.value, UNKNOWN)
            if annotated != UNKNOWN and (passed in (UNKNOWN, NOTHING) or function.escapes):
                return annotated
        if function.escapes:
            return UNKNOWN
        passed = function.arguments.get(parameter.name.value, NOTHING)
        if passed == NOTHING:
            return UNKNOWN
        if parameter.default is not None:
            return join(passed, self.values.get(parameter.default, NOTHING))
        return passed


def _is_vague(value: Value) -> bool:
    """Whether an annotation says less than callers do."""
    return isinstance(value, Instance) and value.cls in _VAGUE


def _receiver(function: ProjectFunction) -> Value | None:
    """Return what the first parameter of a method is; None for static methods."""
    if "builtins.staticmethod" in function.decorators or function.owner is None:
        return None
    if "builtins.classmethod" in function.decorators:
        return function.owner
    return Instance(function.owner)
