"""Code of functions in other places: edits of files, and the names that code needs."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.members import member_of
from typed_nnx_codegen.migrate.analysis.syntax import (
    code_of,
    descendants,
    is_name,
    of_kinds,
)
from typed_nnx_codegen.migrate.analysis.values import (
    UNKNOWN,
    External,
    Instance,
    ProjectClass,
    ProjectFunction,
    Value,
    resolved,
)
from typed_nnx_codegen.migrate.analysis.values import Method as MethodOf
from typed_nnx_codegen.migrate.comments import left_of, with_left_comments
from typed_nnx_codegen.migrate.linen.domain.classes import LINEN, LinenClasses, public_linen
from typed_nnx_codegen.migrate.linen.domain.names import bound_in
from typed_nnx_codegen.migrate.linen.layers import find_layer

Replaced = cst.BaseExpression | cst.Parameters


@dataclass
class Edits:
    """What changes in a file.

    Attributes:
        names: The expressions that refer to methods now, and how.
        methods: The methods that classes get.
        imports: The imports that the file needs.
        dropped: The statements that go.
        unimported: The names that the file does not import any more.
        statements: What is written in place of statements.
        expressions: What is written in place of calls and parameters.
    """

    names: dict[cst.CSTNode, cst.BaseExpression] = field(default_factory=dict)
    methods: dict[cst.CSTNode, list[cst.FunctionDef]] = field(default_factory=dict)
    imports: list[str] = field(default_factory=list)
    dropped: set[cst.CSTNode] = field(default_factory=set)
    unimported: set[str] = field(default_factory=set)
    statements: dict[cst.CSTNode, list[cst.BaseStatement]] = field(default_factory=dict)
    expressions: dict[cst.CSTNode, Replaced] = field(default_factory=dict)

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
    """Writes the changes of a file."""

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
            if isinstance(one, cst.SimpleStatementLine) and any(
                isinstance(each, cst.Import | cst.ImportFrom) for each in one.body
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
    """A function of a file, or a method of a class that is no module, that builds submodules.

    Attributes:
        name: Its name.
        node: Its definition.
        analysis: The analysis of its file.
        statement: The statement that defines it.
        owner: The class whose method it is.
    """

    name: str
    node: Function
    analysis: Analysis
    statement: cst.BaseStatement
    owner: ProjectClass | None = None

    @property
    def is_of_objects(self) -> bool:
        """Whether it is a method that is called with an object."""
        return self.owner is not None and _decorators(self) in ([], [f"{LINEN}.compact"])

    @property
    def is_of_class(self) -> bool:
        """Whether it is a method that is called without an object."""
        return _decorators(self) in (["builtins.classmethod"], ["builtins.staticmethod"])

    def is_given(self, call: cst.Call, owner: str) -> bool:
        """Whether a call gives a function the module, as its first argument and no other one."""
        first = first_parameter(self.node)
        if self.owner is not None or not first or self._bound.count(first) > 1:
            return False
        given = [one for one in call.args if is_name(one.value, owner)]
        return given == list(call.args[:1]) and not given[0].star and given[0].keyword is None

    @property
    def declares(self) -> bool:
        """Whether a function declares variables of the module that it is given first."""
        return self.owner is None and declares_of({first_parameter(self.node)}, self.node)

    @cached_property
    def _bound(self) -> list[str]:
        params = [one.name.value for one in descendants(self.node) if isinstance(one, cst.Param)]
        return [*params, *bound_in(self.node.body)]

    @property
    def receiver(self) -> str:
        """What a class method calls its class; empty for other functions."""
        is_bound = self.owner is not None and _decorators(self) == ["builtins.classmethod"]
        return first_parameter(self.node) if is_bound else ""

    def of_class(self) -> dict[cst.CSTNode, cst.BaseExpression]:
        """Return the names that are its class, and how they are written elsewhere."""
        if not self.receiver or self.owner is None:
            return {}
        name = cst.Name(self.owner.name)
        return {one: name for one in names_in(self.node.body) if one.value == self.receiver}


def _decorators(builder: Builder) -> list[str]:
    """Return what the decorators of a method are."""
    methods = {} if builder.owner is None else builder.owner.methods
    return [name for one in methods.values() if one.node is builder.node for name in one.decorators]


def names_in(node: cst.CSTNode) -> Iterator[cst.Name]:
    """Yield the names below a node, those of attributes and keywords too."""
    return (one for one in descendants(node) if isinstance(one, cst.Name))


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
    """Return what builds submodules, itself or through others, by definition."""
    every: dict[cst.CSTNode, Builder] = {
        one.node: one
        for analysis in analyses
        for one in (*_functions(analysis), *_methods(analysis, classes))
    }
    callers: dict[cst.CSTNode, list[cst.CSTNode]] = {}
    for node, one in every.items():
        for _, called in functions_in(node, one.analysis):
            callers.setdefault(called.node, []).append(node)
    waiting = [node for node, one in every.items() if builds(one.node, one.analysis, classes)]
    found: dict[cst.CSTNode, Builder] = {}
    while waiting:
        node = waiting.pop()
        if node not in found:
            found[node] = every[node]
            waiting += callers.get(node, ())
    return {node: one for node, one in every.items() if node in found}


def functions_in(
    node: cst.CSTNode, analysis: Analysis
) -> Iterator[tuple[cst.BaseExpression, ProjectFunction]]:
    """Yield the expressions below a node that are functions of the project, or call one."""
    for below in of_kinds(descendants(node), cst.Name, cst.Attribute, cst.Call):
        if isinstance(below, (cst.Name, cst.Attribute)):
            function = _function_of(analysis.values.get(below, UNKNOWN))
            if function is not None:
                yield below, function
        elif isinstance(below, cst.Call):
            function = called_by(below, analysis)
            if function is not None and _function_of(analysis.values[below.func]) is None:
                yield below.func, function


def called_by(call: cst.Call, analysis: Analysis) -> ProjectFunction | None:
    """Return the function of the project that a call calls: of an object, or to make one, too."""
    value = analysis.values.get(call.func, UNKNOWN)
    if isinstance(value, ProjectClass):
        value = member_of(value, "__init__")
    elif isinstance(value, Instance) and isinstance(value.cls, ProjectClass):
        value = member_of(value.cls, "__call__")
    return _function_of(value)


def _function_of(value: Value) -> ProjectFunction | None:
    if isinstance(value, MethodOf):
        return value.function
    return value if isinstance(value, ProjectFunction) else None


def references_in(
    node: cst.CSTNode, analysis: Analysis, every: Mapping[cst.CSTNode, Builder]
) -> Iterator[tuple[cst.BaseExpression, cst.CSTNode]]:
    """Yield the expressions below a node that are some functions, and which one each is.

    A class method or static method is meant where its own class is seen to be called.
    """
    for below, function in functions_in(node, analysis):
        builder = every.get(function.node)
        value = analysis.values.get(below, UNKNOWN)
        if builder is None or isinstance(value, ProjectClass | Instance):
            continue
        receiver = value.receiver if isinstance(value, MethodOf) else None
        if receiver is builder.owner or (builder.is_of_objects and isinstance(receiver, Instance)):
            yield below, function.node


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


def _methods(analysis: Analysis, classes: LinenClasses) -> Iterator[Builder]:
    """Yield the methods of the classes of a file; of modules those that are called with none."""
    for cls in analysis.classes:
        is_module = classes.of(cls) is not None
        for name, one in cls.methods.items():
            if isinstance(one.node, cst.FunctionDef):
                builder = Builder(name, one.node, analysis, one.node, cls)
                if not is_module or (builder.is_of_class and not asks_for_carry(one.node)):
                    yield builder


def asks_for_carry(function: Function) -> bool:
    """Whether a function asks a cell for its first carry: such a cell is no submodule."""
    return any(is_name(one, "initialize_carry") for one in descendants(function))


def builds(function: Function, analysis: Analysis, classes: LinenClasses) -> bool:
    """Whether a function constructs modules, or objects of classes that it is given.

    So does one that declares variables of a module that it is given: `module.param(...)`.
    """
    params = function.params
    every = (*params.posonly_params, *params.params, *params.kwonly_params)
    parameters = {one.name.value for one in every}
    for node in of_kinds(descendants(function), cst.Call):
        assert isinstance(node, cst.Call)
        if constructs(node, analysis, classes):
            return True
        match node.func:
            case cst.Call(func=cst.Name(value=name)) if name in parameters:
                return True
    return declares_of(parameters, function)


def declares_of(parameters: Iterable[str], function: Function) -> bool:
    """Whether a function declares variables of modules that it is given."""
    return any(
        isinstance(one, cst.Attribute)
        and one.attr.value in _DECLARING
        and any(is_name(one.value, name) for name in parameters)
        for one in descendants(function)
    )


def constructs(call: cst.Call, analysis: Analysis, classes: LinenClasses) -> bool:
    """Whether a call constructs a module."""
    value = analysis.values.get(call.func, UNKNOWN)
    if isinstance(value, External):
        public = public_linen(value.name)
        last = public.removeprefix(f"{LINEN}.")
        is_class = public.startswith(f"{LINEN}.") and "." not in last and last[:1].isupper()
        return is_class or find_layer(public) is not None
    return isinstance(value, ProjectClass) and classes.of(value) is not None


_DECLARING: Final = frozenset({"param", "variable", "sow", "make_rng", "put_variable", "perturb"})


def can_move(one: Builder) -> bool:
    """Whether a function may become a method of another class: its body means the same there."""
    node = one.node
    if one.owner is not None and not _can_leave_class(one, one.owner):
        return False
    if isinstance(node, cst.FunctionDef) and (
        node.asynchronous or (node.decorators and one.owner is None)
    ):
        return False
    for below in descendants(node):
        if isinstance(below, cst.Global | cst.Nonlocal | cst.Yield | cst.Await):
            return False
        if isinstance(below, cst.Name) and _is_mangled(below.value):
            return False
    return not _is_mangled(one.name)


def _can_leave_class(one: Builder, owner: ProjectClass) -> bool:
    """Whether a method needs no more of its class than an object or the class."""
    if owner.node not in one.analysis.tree.body:
        return False
    if not one.is_of_class and not one.is_of_objects:
        return False
    params = [below for below in descendants(one.node) if isinstance(below, cst.Param)]
    bound = [*bound_in(one.node.body), *(below.name.value for below in params)]
    given = first_parameter(one.node) if one.is_of_objects else one.receiver
    if (given and bound.count(given) > 1) or owner.name in bound:
        return False
    # Defaults are evaluated among the names of the class.
    defaults = {
        name.value
        for below in params
        if below.default is not None
        for name in (below.default, *descendants(below.default))
        if isinstance(name, cst.Name)
    }
    if defaults & set(bound_in(owner.node.body)):
        return False
    return all(name.value not in ("super", "__class__") for name in names_in(one.node))


def _is_mangled(name: str) -> bool:
    """Whether a name means something else in a class."""
    return name.startswith("__") and not name.endswith("__")


_BUILTINS: Final = frozenset(dir(builtins))


class NotBorrowed(Exception):
    """A name cannot be had in the other file: it has another meaning there."""


def imports_for(node: cst.CSTNode, home: Analysis, target: Analysis) -> list[str]:
    """Return the imports that a file needs for the names in code of another file.

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
    if first is None or second is None:
        return False
    return resolved(first) is resolved(second) and resolved(first) != UNKNOWN


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
    if not package or package[0] != there[0]:
        return home.module
    common = 0
    while common < min(len(package), len(there) - 1) and package[common] == there[common]:
        common += 1
    return "." * (len(package) - common + 1) + ".".join(there[common:])
