"""Code of functions in other places: edits of files, the names that code needs, arguments for parameters."""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.members import member_of
from typed_nnx_codegen.migrate.analysis.syntax import (
    code_of,
    descendants,
    free_name,
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
from typed_nnx_codegen.migrate.linen.domain.code import KeepingNames, wrapped
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
    """Yield the methods of the classes of a file that are no modules."""
    for cls in analysis.classes:
        if classes.of(cls) is None:
            for name, one in cls.methods.items():
                if isinstance(one.node, cst.FunctionDef):
                    yield Builder(name, one.node, analysis, one.node, cls)


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
    is_of_class = _decorators(one) in (["builtins.classmethod"], ["builtins.staticmethod"])
    if not is_of_class and not one.is_of_objects:
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


# -- the code of a function where it is called ------------------------------------------------

_NOTHING = object()


@dataclass
class Arguments:
    """What a call gives.

    Attributes:
        by_name: By parameter.
        rest: The arguments for ``*args``.
        keywords: The arguments for ``**kwargs``.
        star: The name of ``*args``.
        double_star: The name of ``**kwargs``.
    """

    by_name: dict[str, cst.BaseExpression] = field(default_factory=dict)
    rest: list[cst.Arg] = field(default_factory=list)
    keywords: list[cst.Arg] = field(default_factory=list)
    star: str = ""
    double_star: str = ""


class Substituting(KeepingNames):
    """Writes other expressions for names.

    Args:
        arguments: What parameters stand for.
        local: What locals stand for.
    """

    def __init__(self, arguments: Arguments, local: Mapping[str, cst.BaseExpression]) -> None:
        super().__init__()
        self._arguments = arguments
        self._values = {**arguments.by_name, **local}

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.Call:
        """Write the arguments that the function was given beyond its parameters."""
        args: list[cst.Arg] = []
        one = self._arguments
        for before, arg in zip(original_node.args, updated_node.args, strict=True):
            name = before.value.value if isinstance(before.value, cst.Name) else ""
            if arg.star == "*" and name and name == one.star:
                args += one.rest
            elif arg.star == "**" and name and name == one.double_star:
                args += one.keywords
            else:
                args.append(arg)
        if args != list(updated_node.args):
            args = [arg.with_changes(comma=cst.MaybeSentinel.DEFAULT) for arg in args]
            return updated_node.with_changes(args=args)
        return updated_node

    def leave_Comparison(
        self, original_node: cst.Comparison, updated_node: cst.Comparison
    ) -> cst.BaseExpression:
        """Decide a comparison of literals."""
        return decided(updated_node)

    def leave_IfExp(self, original_node: cst.IfExp, updated_node: cst.IfExp) -> cst.BaseExpression:
        """Write the side that is taken."""
        truth = truth_of(updated_node.test)
        if truth is None:
            return updated_node
        return updated_node.body if truth else updated_node.orelse

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        """Write what a name stands for."""
        value = self._values.get(original_node.value)
        if value is None:
            return updated_node
        return wrapped(value)


def truth_of(node: cst.BaseExpression) -> bool | None:
    """Return whether a literal is true; None for other expressions."""
    match node:
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            truth = truth_of(inner)
            return None if truth is None else not truth
    value = _literal(node)
    return None if value is _NOTHING else bool(value)


def decided(node: cst.Comparison) -> cst.BaseExpression:
    """Return what a comparison of literals gives; the comparison where it is of other things."""
    match node:
        case cst.Comparison(
            left=left, comparisons=[cst.ComparisonTarget(operator=operator, comparator=right)]
        ):
            one, other = _literal(left), _literal(right)
            if one is _NOTHING or other is _NOTHING:
                return node
            if isinstance(operator, cst.Equal | cst.Is):
                return cst.Name(str(one == other))
            if isinstance(operator, cst.NotEqual | cst.IsNot):
                return cst.Name(str(one != other))
            if isinstance(operator, cst.In | cst.NotIn) and isinstance(other, tuple | list):
                return cst.Name(str((one in other) == isinstance(operator, cst.In)))
    return node


def _literal(node: cst.BaseExpression) -> object:
    try:
        value: object = ast.literal_eval(code_of(node).strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return _NOTHING
    return value


_ENDS = (cst.Return, cst.Raise)
_FOREIGN = (cst.Import, cst.ImportFrom, cst.With, cst.Global, cst.Nonlocal)


VALUE: Final = "__value__"


class NotInlined(Exception):
    """The code of a function cannot be written where it is called."""


def arguments_of(
    function: Function, call: cst.Call, owner: str = "", given: cst.BaseExpression | None = None
) -> Arguments:
    """Return what a call gives a function, with its defaults.

    Args:
        function: The function.
        call: The call.
        owner: The parameter that is the module; empty where there is none.
        given: The module where it is called.

    Raises:
        NotInlined: It is not known which argument is for which parameter.
    """
    params = function.params
    positional = [*params.posonly_params, *params.params]
    found = Arguments()
    if isinstance(params.star_arg, cst.Param):
        found.star = params.star_arg.name.value
    if params.star_kwarg is not None:
        found.double_star = params.star_kwarg.name.value
    if owner and given is not None:
        found.by_name[owner] = given
        positional = positional[1:]
    names = [one.name.value for one in positional]
    known = {*names, *(one.name.value for one in params.kwonly_params)}
    position = 0
    for arg in call.args:
        if arg.star:
            raise NotInlined
        if arg.keyword is not None and arg.keyword.value in known:
            found.by_name[arg.keyword.value] = arg.value
        elif arg.keyword is not None and found.double_star:
            found.keywords.append(arg)
        elif arg.keyword is None and position < len(names):
            found.by_name[names[position]] = arg.value
            position += 1
        elif arg.keyword is None and found.star:
            found.rest.append(arg)
        else:
            raise NotInlined
    for one in (*positional, *params.kwonly_params):
        if one.name.value not in found.by_name:
            if one.default is None:
                raise NotInlined
            found.by_name[one.name.value] = one.default
    return found


def as_expression(function: Function, arguments: Arguments) -> cst.BaseExpression:
    """Return the value of a call as one expression.

    Raises:
        NotInlined: The function does more than that.
    """
    if isinstance(function, cst.Lambda):
        return _substituted(function.body, arguments, {})
    if not isinstance(function.body, cst.IndentedBlock):
        raise NotInlined
    _check_rebound(function, arguments)
    return _value_of(list(_without_docstring(function)), arguments, {})


def _value_of(
    statements: Sequence[cst.BaseStatement],
    arguments: Arguments,
    local: dict[str, cst.BaseExpression],
) -> cst.BaseExpression:
    for position, statement in enumerate(statements):
        rest = statements[position + 1 :]
        match statement:
            case cst.SimpleStatementLine(body=[cst.Return(value=value)]) if value is not None:
                return _substituted(value, arguments, local)
            case cst.SimpleStatementLine(
                body=[
                    cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value)
                ]
            ) if name not in local and name not in arguments.by_name:
                local = {**local, name: _substituted(value, arguments, local)}
            case cst.If():
                return _of_branches(statement, rest, arguments, local)
            case _:
                raise NotInlined
    raise NotInlined


def _of_branches(
    node: cst.If,
    rest: Sequence[cst.BaseStatement],
    arguments: Arguments,
    local: dict[str, cst.BaseExpression],
) -> cst.BaseExpression:
    test = _substituted(node.test, arguments, local)
    truth = truth_of(test)
    other = [*_orelse(node), *rest]
    first = list(_statements(node.body.body))
    if truth is True and not _ends(first):
        return _value_of([*first, *rest], arguments, local)
    if truth is not None and (not truth or _ends(first)):
        return _value_of(first if truth else other, arguments, local)
    if not _ends(first):
        raise NotInlined
    if _only_raises(first):
        return _value_of(other, arguments, local)
    if not other:
        raise NotInlined
    if _only_raises(other):
        return _value_of(first, arguments, local)
    return cst.IfExp(
        test=test,
        body=_value_of(first, arguments, local),
        orelse=_value_of(other, arguments, local),
        lpar=[cst.LeftParen()],
        rpar=[cst.RightParen()],
    )


def as_statements(
    function: cst.FunctionDef,
    arguments: Arguments,
    finish: cst.BaseSmallStatement,
    taken: set[str],
) -> list[cst.BaseStatement]:
    """Return the body of a function in place of the statement that calls it.

    Args:
        function: The function.
        arguments: What it is given.
        finish: The statement, in which `VALUE` stands for what is returned.
        taken: The names that the method around binds; those of the function are added.

    Raises:
        NotInlined: It returns from within a loop, or the like.
    """
    if not isinstance(function.body, cst.IndentedBlock):
        raise NotInlined
    inner = Counter(_inner_names(function.body))
    # What only functions within bind is no name of the method.
    bound = {*(Counter(bound_in(function)) - inner)} - {*arguments.by_name, function.name.value}
    bound -= {arguments.star, arguments.double_star}
    rebound = _rebound(function)
    statements: list[cst.BaseStatement] = []
    by_name: dict[str, cst.BaseExpression] = {}
    renamed: dict[str, cst.BaseExpression] = {}
    for name in sorted(bound):
        renamed[name] = cst.Name(free_name(name, taken))
    body = _without_docstring(function)
    for name, value in arguments.by_name.items():
        if name in rebound or not _is_simple(value):
            local = cst.Name(free_name(name, taken))
            target = cst.AssignTarget(local)
            statements.append(cst.SimpleStatementLine([cst.Assign([target], value)]))
            by_name[name] = local
        else:
            by_name[name] = value
    given = Arguments(
        {**by_name, **renamed},
        arguments.rest,
        arguments.keywords,
        arguments.star,
        arguments.double_star,
    )
    return [*statements, *_finished(body, given, finish)]


def _finished(
    statements: Sequence[cst.BaseStatement], arguments: Arguments, finish: cst.BaseSmallStatement
) -> list[cst.BaseStatement]:
    found: list[cst.BaseStatement] = []
    for position, statement in enumerate(statements):
        rest = list(statements[position + 1 :])
        match statement:
            case cst.SimpleStatementLine(body=[cst.Return(value=value)]):
                if value is None and _is_alone(finish):
                    return found
                returned = cst.Name("None") if value is None else value
                after = _substituted(returned, arguments, {})
                line = finish.visit(Substituting(Arguments({VALUE: after}), {}))
                assert isinstance(line, cst.BaseSmallStatement)
                found.append(cst.SimpleStatementLine([line]))
                return found
            case cst.If() if _returns(statement):
                found += _finished_branches(statement, rest, arguments, finish)
                return found
        if _returns(statement):
            raise NotInlined
        block = cst.IndentedBlock([statement]).visit(Substituting(arguments, {}))
        assert isinstance(block, cst.IndentedBlock)
        _check_stars(block, arguments)
        found += _statements(block.body)
    if not raises(statements) and not _is_alone(finish):
        raise NotInlined
    return found


def _is_alone(finish: cst.BaseSmallStatement) -> bool:
    """Whether a statement does nothing with what a function returns."""
    return isinstance(finish, cst.Expr) and is_name(finish.value, VALUE)


def _finished_branches(
    node: cst.If,
    rest: list[cst.BaseStatement],
    arguments: Arguments,
    finish: cst.BaseSmallStatement,
) -> list[cst.BaseStatement]:
    first = list(_statements(node.body.body))
    other = _orelse(node)
    if rest and not _ends(first):
        first = [*first, *rest]
    if rest and not _ends(other):
        other = [*other, *rest]
    test = _substituted(node.test, arguments, {})
    truth = truth_of(test)
    if truth is not None:
        return _finished(first if truth else other or rest, arguments, finish)
    orelse: cst.If | cst.Else | None = None
    written = _finished(other, arguments, finish) if other else []
    if len(written) == 1 and isinstance(written[0], cst.If):
        orelse = written[0].with_changes(leading_lines=())
    elif written:
        orelse = cst.Else(cst.IndentedBlock(written))
    elif not _is_alone(finish):
        raise NotInlined
    taken = cst.IndentedBlock(_finished(first, arguments, finish))
    return [node.with_changes(test=test, body=taken, orelse=orelse)]


def _substituted(
    node: cst.BaseExpression, arguments: Arguments, local: Mapping[str, cst.BaseExpression]
) -> cst.BaseExpression:
    inner = set(_inner_names(node))
    if inner & {*arguments.by_name, *local, arguments.star, arguments.double_star}:
        raise NotInlined
    after = node.visit(Substituting(arguments, local))
    assert isinstance(after, cst.BaseExpression)
    _check_stars(after, arguments)
    return after


def _inner_names(node: cst.CSTNode) -> Iterator[str]:
    """Yield the names that functions and comprehensions within an expression bind."""
    for below in descendants(node):
        if isinstance(below, cst.Lambda):
            params = of_kinds(descendants(below.params), cst.Param)
            yield from (one.name.value for one in params if isinstance(one, cst.Param))
        elif isinstance(below, cst.CompFor | cst.NamedExpr):
            yield from (one.value for one in names_in(below.target))


def _check_stars(after: cst.CSTNode, arguments: Arguments) -> None:
    """See that `*args` and `**kwargs` are only passed on."""
    left = {one.value for one in descendants(after) if isinstance(one, cst.Name)}
    if left & ({arguments.star, arguments.double_star} - {""}):
        raise NotInlined


def _check_rebound(function: cst.FunctionDef, arguments: Arguments) -> None:
    if _rebound(function) & set(arguments.by_name):
        raise NotInlined


def _rebound(function: cst.FunctionDef) -> set[str]:
    """Return the names that the body of a function binds."""
    if any(isinstance(below, _FOREIGN) for below in descendants(function.body)):
        raise NotInlined
    return set(bound_in(function.body))


def _is_simple(node: cst.BaseExpression) -> bool:
    """Whether an expression may be written several times."""
    match node:
        case cst.Name() | cst.Integer() | cst.Float() | cst.SimpleString():
            return True
        case cst.Attribute(value=value):
            return _is_simple(value)
        case cst.Tuple(elements=elements):
            return all(_is_simple(one.value) for one in elements)
    return False


def _without_docstring(function: cst.FunctionDef) -> list[cst.BaseStatement]:
    body = list(_statements(function.body.body))
    return body[1:] if function.get_docstring() is not None else body


def _statements(body: Sequence[cst.CSTNode]) -> Iterable[cst.BaseStatement]:
    for one in body:
        if not isinstance(one, cst.BaseStatement):
            raise NotInlined
        yield one


def _orelse(node: cst.If) -> list[cst.BaseStatement]:
    """Return the statements for when a condition does not hold."""
    match node.orelse:
        case cst.Else(body=body):
            return list(_statements(body.body))
        case cst.If() as inner:
            return [inner]
    return []


def _ends(body: Sequence[cst.BaseStatement]) -> bool:
    """Whether a body ends with `return` or `raise` whatever happens."""
    if not body:
        return False
    match body[-1]:
        case cst.SimpleStatementLine(body=[*_, last]):
            return isinstance(last, _ENDS)
        case cst.If(body=cst.IndentedBlock(body=first), orelse=orelse):
            if isinstance(orelse, cst.If):
                return _ends(list(_statements(first))) and _ends([orelse])
            if isinstance(orelse, cst.Else):
                return _ends(list(_statements(first))) and _ends(
                    list(_statements(orelse.body.body))
                )
    return False


def raises(body: Sequence[cst.CSTNode]) -> bool:
    """Whether a body ends with `raise`."""
    match body[-1:]:
        case [cst.SimpleStatementLine(body=[*_, cst.Raise()]) | cst.Raise()]:
            return True
    return False


def _only_raises(body: Sequence[cst.BaseStatement]) -> bool:
    return raises(body) and not any(_returns(one) for one in body)


def _returns(node: cst.CSTNode) -> bool:
    """Whether a statement has a `return` of the function in it."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if isinstance(one, cst.Return):
            return True
        if not isinstance(one, cst.FunctionDef | cst.Lambda):
            waiting += one.children
    return False
