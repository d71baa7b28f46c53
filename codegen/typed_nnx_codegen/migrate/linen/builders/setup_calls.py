"""Writes what helpers build where methods call them: submodules belong to attributes there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.syntax import descendants
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN, ProjectClass, ProjectFunction, Value
from typed_nnx_codegen.migrate.analysis.values import Method as MethodOf
from typed_nnx_codegen.migrate.linen.builders.adoption import drop_unused
from typed_nnx_codegen.migrate.linen.builders.finding import (
    Builder,
    Edits,
    Function,
    NotBorrowed,
    builds,
    find_builders,
    first_parameter,
    imports_for,
    rewritten,
    without_annotations,
)
from typed_nnx_codegen.migrate.linen.builders.inlining import (
    NotInlined,
    arguments_of,
    as_expression,
    as_statements,
)
from typed_nnx_codegen.migrate.linen.domain.classes import LinenClass, LinenClasses, Method
from typed_nnx_codegen.migrate.linen.domain.names import bound_in

_WITHOUT_OBJECT: Final = frozenset({"builtins.classmethod", "builtins.staticmethod"})


def class_method(call: cst.Call, values: Mapping[cst.CSTNode, Value]) -> ProjectFunction | None:
    """Return the class method or static method of a class that a call calls; None for others."""
    value = values.get(call.func, UNKNOWN)
    if not isinstance(value, MethodOf) or not isinstance(value.receiver, ProjectClass):
        return None
    function = value.function
    is_there = function is not None and bool(_WITHOUT_OBJECT & set(function.decorators))
    return function if is_there else None


@dataclass(frozen=True, eq=False)
class SetupCall:
    """A call that builds submodules.

    Attributes:
        call: The call.
        function: What is called.
        analysis: The file that defines it.
        owner: What the function calls the module; empty for one that does not have it.
        given: The class, where that is what the function has in place of the module.
    """

    call: cst.Call
    function: Function
    analysis: Analysis
    owner: str
    given: cst.BaseExpression | None = None


def local_function(node: cst.BaseExpression, setup: cst.FunctionDef) -> cst.FunctionDef | None:
    """Return the function that `setup` defines under a name; None where it may be another one."""
    if not isinstance(node, cst.Name) or list(bound_in(setup.body)).count(node.value) != 1:
        return None
    for one in setup.body.body:
        if isinstance(one, cst.FunctionDef) and one.name.value == node.value:
            return None if one.decorators else one
    return None


class SetupCalls:
    """Finds the calls.

    Args:
        classes: The modules of the project.
        builders: The functions that build submodules.
        every: All modules.
    """

    def __init__(
        self,
        classes: LinenClasses,
        builders: Mapping[cst.CSTNode, Builder],
        every: Iterable[LinenClass],
    ) -> None:
        self._classes = classes
        self._builders = builders
        self._every = list(every)
        self._building: dict[cst.FunctionDef, bool] = {}

    def of_classes(self, method: Method) -> Iterator[SetupCall]:
        """Yield the calls in a method of class methods and static methods: `Block.of_size(3)`."""
        values = method.owner.analysis.values
        for node in descendants(method.node.body):
            if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
                continue
            found = class_method(node, values)
            home = self._classes.of(found.owner) if found is not None and found.owner else None
            if found is None or home is None or not isinstance(found.node, cst.FunctionDef):
                continue
            if builds(found.node, home.analysis, self._classes):
                is_static = "builtins.staticmethod" in found.decorators
                first = "" if is_static else first_parameter(found.node)
                given = node.func.value
                yield SetupCall(node, found.node, home.analysis, first, given)

    def of(self, cls: LinenClass) -> Iterator[SetupCall]:
        """Yield the calls in the `setup` that a class defines."""
        setup = cls.own_methods.get("setup")
        owner = first_parameter(setup.node) if setup is not None else ""
        if setup is None or not owner:
            return
        for node in descendants(setup.node.body):
            if not isinstance(node, cst.Call):
                continue
            match node.func:
                case cst.Attribute(value=cst.Name(value=name), attr=cst.Name(value=called)):
                    method = cls.method(called) if name == owner else None
                    if method is not None and self._may_inline(cls, method):
                        first = first_parameter(method.node) if method.is_bound else ""
                        yield SetupCall(node, method.node, method.owner.analysis, first)
                        continue
            inner = local_function(node.func, setup.node)
            if inner is not None and builds(inner, cls.analysis, self._classes):
                yield SetupCall(node, inner, cls.analysis, "")
                continue
            value = cls.analysis.values.get(node.func, UNKNOWN)
            builder = self._builders.get(getattr(value, "node", cst.Pass()))
            if isinstance(value, ProjectFunction) and builder is not None:
                yield SetupCall(node, builder.node, builder.analysis, "")

    def _may_inline(self, cls: LinenClass, method: Method) -> bool:
        """Whether a method builds submodules, and is the same one for all objects of a class."""
        if method.is_compact or method.is_property or "builtins.classmethod" in method.decorators:
            return False
        if method.name in ("setup", "__call__") or not self._builds(cls, method):
            return False
        below = [one for one in self._every if cls in one.ancestry()]
        return all(one.method(method.name) is method for one in below)

    def _builds(self, cls: LinenClass, method: Method) -> bool:
        if method.node not in self._building:
            self._building[method.node] = False  # methods that call each other
            self._building[method.node] = self._reads(cls, method)
        return self._building[method.node]

    def _reads(self, cls: LinenClass, method: Method) -> bool:
        analysis = method.owner.analysis
        if builds(method.node, analysis, self._classes):
            return True
        owner = first_parameter(method.node)
        for node in descendants(method.node.body):
            value = analysis.values.get(node, UNKNOWN)
            if isinstance(value, ProjectFunction) and value.node in self._builders:
                return True
            match node:
                case cst.Attribute(value=cst.Name(value=name), attr=cst.Name(value=called)):
                    other = cls.method(called) if name == owner else None
                    if other is not None and self._builds(cls, other):
                        return True
        return False


_VALUE = cst.Name("__value__")


def with_setups(analyses: Mapping[Path, Analysis]) -> dict[Path, cst.Module]:
    """Return the files that change when methods build themselves what helpers build for them.

    Args:
        analyses: The files that are migrated.
    """
    classes = LinenClasses(analyses.values())
    every = [cls for one in analyses.values() for cls in classes.all_in(one)]
    builders = find_builders(analyses.values(), classes)
    calls = SetupCalls(classes, builders, every)
    edits = {path: Edits() for path in analyses}
    paths = {id(one): path for path, one in analyses.items()}
    inlined: set[cst.CSTNode] = set()
    for cls in every:
        for name, method in cls.own_methods.items():
            found = list(calls.of_classes(method)) if method.is_bound else []
            found += calls.of(cls) if name == "setup" else ()
            inlined |= _inline(method.node, found, cls, edits[paths[id(cls.analysis)]])
    if all(one.is_empty for one in edits.values()):
        return {}
    written = {node for one in edits.values() for node in one.calls_written()}
    for cls in every:
        helpers = _unused_helpers(cls, inlined, analyses.values(), written)
        edits[paths[id(cls.analysis)]].dropped.update(helpers)
        edits[paths[id(cls.analysis)]].dropped.update(_unused_inner(cls, inlined, written))
    drop_unused({node for node in inlined if node in builders}, builders, analyses, edits)
    return {
        path: rewritten(analyses[path].tree, one) for path, one in edits.items() if not one.is_empty
    }


def _inline(
    method: cst.FunctionDef, calls: Sequence[SetupCall], cls: LinenClass, edits: Edits
) -> set[cst.CSTNode]:
    """Write calls anew, those within others first; return the helpers that are written so."""
    if not calls:
        return set()
    nodes = {one.call for one in calls}
    inner = [one for one in calls if not (set(descendants(one.call)) - {one.call}) & nodes]
    by_node = {one.call: one for one in inner}
    taken = set(bound_in(method)) | _names_of(cls)
    owner = cst.Name(first_parameter(method))
    found: set[cst.CSTNode] = set()
    for statement in _lines(method.body):
        within = [one for one in descendants(statement) if one in by_node]
        if not within:
            continue
        whole = _whole(statement, by_node)
        for node in within:
            one = by_node[node]  # type: ignore[index]  # it is in the mapping
            try:
                imports = _imports(one, cls.analysis)
                arguments = arguments_of(one.function, one.call, one.owner, one.given or owner)
                _check(one, cls)
                if whole is one and not _is_short(one.function):
                    assert isinstance(one.function, cst.FunctionDef)
                    assert isinstance(statement, cst.SimpleStatementLine)
                    finish = _finish(statement.body[0])
                    lines = as_statements(one.function, arguments, finish, taken)
                    edits.statements[statement] = [each.deep_clone() for each in lines]
                else:
                    edits.expressions[node] = as_expression(one.function, arguments).deep_clone()
            except (NotInlined, NotBorrowed):
                continue
            edits.imports += [each for each in imports if each not in edits.imports]
            if one.given is None:
                found.add(one.function)  # others may be called by anyone
    return found


def _check(one: SetupCall, cls: LinenClass) -> None:
    """See that the code of a function means the same in a method of a class.

    Raises:
        NotInlined: It does not.
    """
    for node in descendants(one.function):
        if isinstance(node, cst.Yield | cst.Await | cst.Global | cst.Nonlocal):
            raise NotInlined
        if isinstance(node, cst.FunctionDef) and node is not one.function:
            raise NotInlined  # it may outlive the call, with names that are gone then
        is_super = isinstance(node, cst.Name) and node.value == "super"
        if is_super and all(one.function is not each.node for each in cls.own_methods.values()):
            raise NotInlined


def _imports(one: SetupCall, target: Analysis) -> list[str]:
    bare = without_annotations(one.function)
    return imports_for(bare, one.analysis, target)


def _is_short(function: cst.FunctionDef | cst.Lambda) -> bool:
    """Whether a function only returns an expression."""
    if isinstance(function, cst.Lambda):
        return True
    body = list(function.body.body)
    if function.get_docstring() is not None:
        body = body[1:]
    match body:
        case [cst.SimpleStatementLine(body=[cst.Return(value=cst.BaseExpression())])]:
            return True
    return False


def _whole(statement: cst.BaseStatement, calls: Mapping[cst.Call, SetupCall]) -> SetupCall | None:
    """Return the call that is all that a statement evaluates."""
    match statement:
        case cst.SimpleStatementLine(
            body=[cst.Assign(value=cst.Call() as call) | cst.Expr(value=cst.Call() as call)]
        ):
            return calls.get(call)
        case cst.SimpleStatementLine(body=[cst.AnnAssign(value=cst.Call() as call)]):
            return calls.get(call)
    return None


def _finish(statement: cst.BaseSmallStatement) -> cst.BaseSmallStatement:
    assert isinstance(statement, cst.Assign | cst.AnnAssign | cst.Expr)
    return statement.with_changes(value=_VALUE)


def _lines(body: cst.BaseSuite) -> Iterator[cst.BaseStatement]:
    """Yield the statements of a body and of the blocks in it; headers with the blocks."""
    for one in body.body:
        if isinstance(one, cst.SimpleStatementLine):
            yield one
        elif isinstance(one, cst.If | cst.For | cst.While | cst.With):
            yield from _lines(one.body)
            orelse = getattr(one, "orelse", None)
            while isinstance(orelse, cst.If):
                yield from _lines(orelse.body)
                orelse = orelse.orelse
            if isinstance(orelse, cst.Else):
                yield from _lines(orelse.body)


def _names_of(cls: LinenClass) -> set[str]:
    """Return the names that the file of a class binds, which locals must leave alone."""
    return set(cls.analysis.scope.seen)


def _unused_inner(
    cls: LinenClass, inlined: set[cst.CSTNode], written: set[cst.CSTNode]
) -> Iterator[cst.FunctionDef]:
    """Yield the functions that `setup` defines, all of whose calls are written anew."""
    setup = cls.own_methods.get("setup")
    if setup is None:
        return
    for inner in setup.node.body.body:
        if isinstance(inner, cst.FunctionDef) and inner in inlined:
            uses = [
                one
                for one in descendants(setup.node)
                if isinstance(one, cst.Name) and one.value == inner.name.value
            ]
            if all(one is inner.name or one in written for one in uses):
                yield inner


def _unused_helpers(
    cls: LinenClass,
    inlined: set[cst.CSTNode],
    analyses: Iterable[Analysis],
    written: set[cst.CSTNode],
) -> Iterator[cst.FunctionDef]:
    """Yield the methods that only `setup` called, whose calls are written anew."""
    for name, method in cls.own_methods.items():
        if method.node in inlined and not any(
            node.attr.value == name and node not in written
            for analysis in analyses
            for node in analysis.nodes.of(cst.Attribute)
        ):
            yield method.node
