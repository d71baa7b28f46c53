"""Finds the functions of a project that build submodules, and the names that their code needs."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.syntax import code_of, descendants
from typed_nnx_codegen.migrate.analysis.values import (
    UNKNOWN,
    External,
    ProjectClass,
    ProjectFunction,
)
from typed_nnx_codegen.migrate.linen.domain.classes import LINEN, LinenClasses, public_linen
from typed_nnx_codegen.migrate.linen.domain.code import left_of, with_left_comments
from typed_nnx_codegen.migrate.linen.domain.names import bound_in
from typed_nnx_codegen.migrate.linen.layers import find_layer


@dataclass
class Edits:
    """What changes in a file.

    Attributes:
        names: The expressions that refer to methods now, and how.
        given: The calls whose first argument was the object.
        methods: The methods that classes get.
        imports: The imports that the file needs.
        adopted: The functions that are methods of its classes now.
        dropped: The statements that go.
        unimported: The names that the file does not import any more.
        statements: What is written in place of statements.
        expressions: What is written in place of calls.
    """

    names: dict[cst.CSTNode, cst.Attribute | cst.Name] = field(default_factory=dict)
    given: set[cst.CSTNode] = field(default_factory=set)
    methods: dict[cst.CSTNode, list[cst.FunctionDef]] = field(default_factory=dict)
    imports: list[str] = field(default_factory=list)
    adopted: set[cst.CSTNode] = field(default_factory=set)
    dropped: set[cst.CSTNode] = field(default_factory=set)
    unimported: set[str] = field(default_factory=set)
    statements: dict[cst.CSTNode, list[cst.BaseStatement]] = field(default_factory=dict)
    expressions: dict[cst.CSTNode, cst.BaseExpression] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether nothing changes."""
        changes = (self.methods, self.dropped, self.unimported, self.statements, self.expressions)
        return not any(changes)

    def calls_written(self) -> set[cst.CSTNode]:
        """Return what is below the statements and calls that are written anew."""
        return {
            below for one in (*self.statements, *self.expressions) for below in descendants(one)
        }


class Rewriting(cst.CSTTransformer):
    """Writes the changes of a file.

    Args:
        edits: The changes.
    """

    def __init__(self, edits: Edits) -> None:
        super().__init__()
        self._edits = edits

    def on_leave(  # type: ignore[override]  # one handler for all kinds
        self, original_node: cst.CSTNode, updated_node: cst.CSTNode
    ) -> cst.CSTNode | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNode]:
        """Write a node."""
        edits = self._edits
        if original_node in edits.statements:
            lines = edits.statements[original_node]
            above = getattr(original_node, "leading_lines", ())
            if lines and above:
                lines = [lines[0].with_changes(leading_lines=above), *lines[1:]]
            return cst.FlattenSentinel(lines) if lines else cst.RemoveFromParent()
        if original_node in edits.expressions:
            return edits.expressions[original_node]
        if original_node in edits.names:
            return edits.names[original_node]
        if original_node in edits.dropped:
            return left_of(original_node)
        if original_node in edits.given and isinstance(updated_node, cst.Call):
            return updated_node.with_changes(args=updated_node.args[1:])
        methods = edits.methods.get(original_node)
        if methods and isinstance(updated_node, cst.ClassDef):
            body = updated_node.body
            return updated_node.with_changes(body=body.with_changes(body=[*body.body, *methods]))
        return with_left_comments(updated_node)


def rewritten(tree: cst.Module, edits: Edits) -> cst.Module:
    """Return a file with its changes."""
    after = tree.visit(Rewriting(edits))
    body = [one for one in (_without(one, edits.unimported) for one in after.body) if one]
    if edits.imports:
        place = 0
        for number, one in enumerate(body):
            if isinstance(one, cst.ClassDef | cst.FunctionDef):
                break
            if any(
                isinstance(each, cst.Import | cst.ImportFrom)
                for each in getattr(one, "body", ()) or ()
            ):
                place = number + 1
        lines = [cst.parse_statement(text) for text in edits.imports]
        body[place:place] = lines
    return after.with_changes(body=body)


def _without(
    statement: cst.BaseStatement | cst.SimpleStatementLine, names: set[str]
) -> cst.BaseStatement | None:
    """Return a statement without the import of some names; None where nothing is left."""
    if not names or not isinstance(statement, cst.SimpleStatementLine):
        return statement
    body: list[cst.BaseSmallStatement] = []
    for one in statement.body:
        if not isinstance(one, cst.ImportFrom) or isinstance(one.names, cst.ImportStar):
            body.append(one)
            continue
        kept = [alias for alias in one.names if _local(alias) not in names]
        if len(kept) == len(one.names):
            body.append(one)
        elif kept:
            last = kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
            body.append(one.with_changes(names=[*kept[:-1], last]))
    return statement.with_changes(body=body) if body else None


def _local(alias: cst.ImportAlias) -> str:
    node = alias.asname.name if alias.asname is not None else alias.name
    return code_of(node).strip()


Function = cst.FunctionDef | cst.Lambda


@dataclass(frozen=True, eq=False)
class Builder:
    """A function of the top level of a file that builds submodules.

    Attributes:
        name: Its name.
        node: Its definition.
        analysis: The analysis of its file.
        statement: The statement that defines it.
    """

    name: str
    node: Function
    analysis: Analysis
    statement: cst.BaseStatement

    @property
    def parameters(self) -> list[str]:
        """The names of its parameters by position."""
        return positional(self.node)


def positional(function: Function) -> list[str]:
    """Return the names of the parameters of a function by position."""
    params = function.params
    return [one.name.value for one in (*params.posonly_params, *params.params)]


def first_parameter(function: Function) -> str:
    """Return the first parameter of a function; empty where it has none."""
    return next(iter(positional(function)), "")


def find_builders(
    analyses: Iterable[Analysis], classes: LinenClasses
) -> dict[cst.CSTNode, Builder]:
    """Return the functions that build submodules, themselves or through others, by definition."""
    every: dict[cst.CSTNode, Builder] = {
        one.node: one for analysis in analyses for one in _functions(analysis)
    }
    found = {node: one for node, one in every.items() if builds(one.node, one.analysis, classes)}
    changed = True
    while changed:
        changed = False
        for node, one in every.items():
            if node not in found and any(below in found for _, below in references(one, every)):
                found[node] = one
                changed = True
    return {node: one for node, one in found.items() if _can_move(one)}


def references(
    one: Builder, every: dict[cst.CSTNode, Builder]
) -> Iterator[tuple[cst.BaseExpression, cst.CSTNode]]:
    """Yield the expressions in a function that refer to some functions, and which one each is."""
    yield from references_in(one.node, one.analysis, every)


def references_in(
    node: cst.CSTNode, analysis: Analysis, every: dict[cst.CSTNode, Builder]
) -> Iterator[tuple[cst.BaseExpression, cst.CSTNode]]:
    """Yield the expressions below a node that refer to some functions, and which one each is."""
    for below in descendants(node):
        if isinstance(below, cst.Name | cst.Attribute):
            value = analysis.values.get(below, UNKNOWN)
            if isinstance(value, ProjectFunction) and value.node in every:
                yield below, value.node


def _functions(analysis: Analysis) -> Iterator[Builder]:
    """Yield the functions that the top level of a file defines once."""
    found: dict[str, list[Builder]] = {}
    for statement in analysis.tree.body:
        match statement:
            case cst.FunctionDef(name=cst.Name(value=name)):
                found.setdefault(name, []).append(Builder(name, statement, analysis, statement))
            case cst.SimpleStatementLine(
                body=[
                    cst.Assign(
                        targets=[cst.AssignTarget(target=cst.Name(value=name))],
                        value=cst.Lambda() as function,
                    )
                ]
            ):
                found.setdefault(name, []).append(Builder(name, function, analysis, statement))
    for same in found.values():
        if len(same) == 1:
            yield same[0]


def builds(function: Function, analysis: Analysis, classes: LinenClasses) -> bool:
    """Whether a function constructs modules, or objects of classes that it is given."""
    params = function.params
    every = (*params.posonly_params, *params.params, *params.kwonly_params)
    parameters = {one.name.value for one in every}
    for node in descendants(function):
        if not isinstance(node, cst.Call):
            continue
        value = analysis.values.get(node.func, UNKNOWN)
        if isinstance(value, External):
            public = public_linen(value.name)
            last = public.removeprefix(f"{LINEN}.")
            is_class = public.startswith(f"{LINEN}.") and "." not in last and last[:1].isupper()
            if is_class or find_layer(public) is not None:
                return True
        if isinstance(value, ProjectClass) and classes.of(value) is not None:
            return True
        match node.func:
            case cst.Call(func=cst.Name(value=name)) if name in parameters:
                return True
    return False


def _can_move(one: Builder) -> bool:
    """Whether a function may become a method: its body means the same in a class."""
    node = one.node
    if isinstance(node, cst.FunctionDef) and (node.decorators or node.asynchronous):
        return False
    for below in descendants(node):
        if isinstance(below, cst.Global | cst.Nonlocal | cst.Yield | cst.Await):
            return False
        if isinstance(below, cst.Name) and _is_mangled(below.value):
            return False
    return not _is_mangled(one.name)


def _is_mangled(name: str) -> bool:
    """Whether a name means something else in a class."""
    return name.startswith("__") and not name.endswith("__")


_BUILTINS: Final = frozenset(dir(builtins))


class NotBorrowed(Exception):
    """A name cannot be had in the other file: it has another meaning there."""


def imports_for(node: cst.CSTNode, home: Analysis, target: Analysis) -> list[str]:
    """Return the imports that a file needs for the names in code of another file.

    Args:
        node: The code.
        home: The file that it is in.
        target: The file that it is copied to.

    Raises:
        NotBorrowed: The other file has a name for something else.
    """
    if home is target:
        return []
    found: list[str] = []
    for name in sorted(names_read(node)):
        if name not in home.scope.seen and name not in home.scope.imports:
            if name in _BUILTINS and name not in target.scope.seen:
                continue
            raise NotBorrowed(name)
        if is_same_name(name, home, target):
            continue
        if name in target.scope.seen or name in target.scope.imports:
            raise NotBorrowed(name)
        found.append(import_of(name, home, target))
    return found


def without_annotations(
    function: cst.FunctionDef | cst.Lambda,
) -> cst.FunctionDef | cst.Lambda:
    """Return a function without the types of its parameters and of what it returns."""
    after = function.visit(_Bare())
    assert isinstance(after, cst.FunctionDef | cst.Lambda)
    return after


class _Bare(cst.CSTTransformer):
    """Drops the types of parameters and results."""

    def leave_Param(self, original_node: cst.Param, updated_node: cst.Param) -> cst.Param:
        """Drop the type of a parameter."""
        return updated_node.with_changes(annotation=None)

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.FunctionDef:
        """Drop the type of a result."""
        return updated_node.with_changes(returns=None)


def names_read(node: cst.CSTNode) -> set[str]:
    """Return the names in code that it does not bind itself."""
    return {one.value for one in names_in_code(node)}


def names_in_code(node: cst.CSTNode) -> list[cst.Name]:
    """Return the names in code that it reads and does not bind itself, each as often as it does."""
    bound: set[str] = set()
    if isinstance(node, cst.FunctionDef):
        bound = set(bound_in(node)) - {node.name.value}
    for below in descendants(node):
        if isinstance(below, cst.Param):
            bound.add(below.name.value)
        elif isinstance(below, cst.CompFor | cst.AssignTarget | cst.NamedExpr):
            bound |= {one.value for one in descendants(below.target) if isinstance(one, cst.Name)}
        elif isinstance(below, cst.Import | cst.ImportFrom):
            raise NotBorrowed
        elif isinstance(below, cst.ExceptHandler | cst.WithItem) and _bound_by(below):
            bound.add(_bound_by(below))
    every = list(dict.fromkeys((node, *descendants(node))))
    aside = {id(part) for below in every for part in not_read(below)}
    return [
        below
        for below in every
        if isinstance(below, cst.Name) and id(below) not in aside and below.value not in bound
    ]


def _bound_by(node: cst.ExceptHandler | cst.WithItem) -> str:
    """Return the name that a handler or an item of `with` binds; empty where it binds none."""
    asname = node.name if isinstance(node, cst.ExceptHandler) else node.asname
    match asname:
        case cst.AsName(name=cst.Name(value=name)):
            return name
    return ""


def not_read(node: cst.CSTNode) -> list[cst.CSTNode]:
    """Return the names in a node that are no reads of a variable."""
    match node:
        case cst.Attribute(attr=attr):
            return [attr]
        case cst.Arg(keyword=cst.Name() as keyword):
            return [keyword]
        case cst.FunctionDef(name=name):
            return [name]
    return []


def is_same_name(name: str, home: Analysis, target: Analysis) -> bool:
    """Whether a name means the same in two files."""
    one, other = home.scope.imports.get(name), target.scope.imports.get(name)
    if one is not None and other is not None:
        return one.full == other.full
    if one is None and other is None:
        return home is target
    binding, definer = (one, target) if one is not None else (other, home)
    assert binding is not None
    if binding.full == f"{definer.module}.{name}":
        return True
    first, second = home.scope.seen.get(name), target.scope.seen.get(name)
    return first is not None and first is second and first != UNKNOWN


def means_another(name: str, home: Analysis, target: Analysis) -> bool:
    """Whether two files have a name for two things."""
    is_in_both = all(name in one.scope.seen or name in one.scope.imports for one in (home, target))
    return is_in_both and not is_same_name(name, home, target)


def import_of(name: str, home: Analysis, target: Analysis) -> str:
    """Return the statement that imports a name of a file to another one."""
    binding = home.scope.imports.get(name)
    if binding is None:
        return f"from {_module(home, target)} import {name}"
    if binding.is_apart:
        raise NotBorrowed(name)
    alias = f" as {name}" if binding.has_alias else ""
    if binding.is_from:
        if not binding.module:
            raise NotBorrowed(name)
        return f"from {binding.module} import {binding.imported}{alias}"
    return f"import {binding.full}{alias}"


def _module(home: Analysis, target: Analysis) -> str:
    """Return how a file names the module of another one: relative to it within a package."""
    if not home.module:
        raise NotBorrowed
    here, there = target.module.split("."), home.module.split(".")
    package = here if target.is_package else here[:-1]
    top = target.path.parents[len(package)] if package else None
    if top is not None and top in home.path.parents:
        # A folder of a package may have no `__init__`.
        path = home.path.parent if home.is_package else home.path.with_suffix("")
        there = list(path.relative_to(top).parts)
    if not package or package[0] != there[0]:
        return home.module
    common = 0
    while common < min(len(package), len(there) - 1) and package[common] == there[common]:
        common += 1
    return "." * (len(package) - common + 1) + ".".join(there[common:])
