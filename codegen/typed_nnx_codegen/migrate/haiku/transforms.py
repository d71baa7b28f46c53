"""Functions that are given to `hk.transform`: each becomes a module, called as it was."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.syntax import (
    code_of,
    descendants,
    free_name,
    name_nodes,
    names_of,
    parameters_of,
)
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN, ProjectClass, options_of
from typed_nnx_codegen.migrate.haiku.expressions import (
    Functions,
    Spelling,
    Untranslated,
    called_name,
    haiku_name,
    layer_name,
)
from typed_nnx_codegen.migrate.haiku.modules import HaikuClasses, states_of
from typed_nnx_codegen.migrate.linen.domain.class_plan import CALLER

# What stands in the place of `hk.transform`, from `typed_nnx.migrated`.
HELPERS: Final = {one: f"haiku_{one}" for one in ("transform", "transform_with_state")}
# What stands around classes.
TWO_LINES: Final = (cst.EmptyLine(indent=False), cst.EmptyLine(indent=False))
_WITHOUT_RNG: Final = "without_apply_rng"
# What only code under a transform calls.
_INSIDE: Final = frozenset(
    {"get_parameter", "get_state", "set_state", "next_rng_key", "dropout", "Sequential"}
)
_NO_FUNCTION: Final = (
    "`hk.transform` of this is left to a person: write a module whose `__call__` is the function,"
    " and `{helper}` of it, which `typed_nnx.migrated` has"
)


@dataclass
class Root:
    """A function that is given to `hk.transform`.

    Attributes:
        function: The function.
        cls: The name of the class that it becomes.
        statement: The statement at the top level that it is in.
        is_dropped: Whether nothing else uses the function.
    """

    function: cst.FunctionDef | cst.Lambda
    cls: str
    statement: cst.CSTNode
    is_dropped: bool


@dataclass
class FunctionsOfFile:
    """The functions of one file.

    Attributes:
        analysis: The file.
        classes: The modules of the project.
        roots: The functions that become modules, by definition.
        helpers: The function for `hk.transform` by the name of the class that it is called with.
        builders: The other functions that build modules.
    """

    analysis: Analysis
    classes: HaikuClasses
    taken: set[str]
    roots: dict[cst.CSTNode, Root] = field(default_factory=dict)
    helpers: dict[str, str] = field(default_factory=dict)
    builders: list[cst.FunctionDef] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Find them."""
        body = self.analysis.tree.body
        functions = {one.name.value: one for one in body if isinstance(one, cst.FunctionDef)}
        top = set(_bound_at_top(body))
        for statement in body:
            for node in descendants(statement):
                name = called_name(node, self.analysis)
                if name not in HELPERS or not isinstance(node, cst.Call) or not node.args:
                    continue
                given = node.args[0].value
                if isinstance(given, cst.Name) and given.value in functions:
                    self._add(functions[given.value], given.value, name, body)
                elif isinstance(given, cst.Lambda) and {*names_of(given)} <= top | {
                    one.name.value for one in parameters_of(given.params)
                }:
                    self._add(given, _target_of(statement, node), name, body, statement)
        for function in functions.values():
            for one in function.decorators:
                name = haiku_name(one.decorator, self.analysis)
                if name in HELPERS and len(function.decorators) == 1:
                    self._add(function, function.name.value, name, body)
        self.builders = self._builders(functions)

    def _add(
        self,
        function: cst.FunctionDef | cst.Lambda,
        name: str,
        helper: str,
        body: Sequence[cst.BaseStatement | cst.SimpleStatementLine],
        statement: cst.CSTNode | None = None,
    ) -> None:
        if function not in self.roots:
            words = [word for word in name.strip("_").split("_") if word]
            cls = free_name("".join(word[:1].upper() + word[1:] for word in words), self.taken)
            is_dropped = isinstance(function, cst.FunctionDef) and (
                bool(function.decorators) or self._is_alone(function)
            )
            place = statement if statement is not None else function
            self.roots[function] = Root(function, cls, place, is_dropped)
        self.helpers[self.roots[function].cls] = HELPERS[helper]

    def _is_alone(self, function: cst.FunctionDef) -> bool:
        """Whether a function is used by transforms alone."""
        given: set[cst.CSTNode] = set()
        for node in self.analysis.nodes.of(cst.Call):
            if haiku_name(node.func, self.analysis) in HELPERS and node.args:
                given.add(node.args[0].value)
        uses = [one for one in name_nodes(self.analysis.tree) if one.value == function.name.value]
        return all(one in given or one is function.name for one in uses)

    def _builders(self, functions: Mapping[str, cst.FunctionDef]) -> list[cst.FunctionDef]:
        found: set[str] = set()
        while new := {
            *(
                name
                for name, one in functions.items()
                if name not in found and self._builds(one, found)
            )
        }:
            found |= new
        return [one for name, one in functions.items() if name in found]

    def _builds(self, function: cst.FunctionDef, known: set[str]) -> bool:
        given: set[cst.CSTNode] = set()
        for node in descendants(function.body):
            name = called_name(node, self.analysis)
            if name in HELPERS:
                given |= {*descendants(node)}  # a transform calls it, not the function
            if not isinstance(node, cst.Call) or node in given:
                continue
            if name in _INSIDE or (name and layer_name(name)):
                return True
            if isinstance(node.func, cst.Name) and node.func.value in known:
                return True
            for option in options_of(self.analysis.values.get(node.func, UNKNOWN)):
                if isinstance(option, ProjectClass) and self.classes.find(option.node):
                    return True
        return False


def class_of(root: Root, functions: Functions, spelling: Spelling) -> cst.ClassDef:
    """Return a function as a module."""
    after = root.function.visit(functions)
    compact = cst.Decorator(cst.Attribute(cst.Name(spelling.linen), cst.Name("compact")))
    lines: Sequence[cst.EmptyLine] = TWO_LINES
    if isinstance(after, cst.Lambda):
        body = cst.IndentedBlock([cst.SimpleStatementLine([cst.Return(after.body)])])
        function = cst.FunctionDef(cst.Name("__call__"), after.params, body)
    else:
        assert isinstance(after, cst.FunctionDef)
        function, lines = after, after.leading_lines
    me = cst.Param(cst.Name(functions.owner))
    params = function.params
    first = "posonly_params" if params.posonly_params else "params"
    params = params.with_changes(**{first: [me, *getattr(params, first)]})
    call = function.with_changes(
        name=cst.Name("__call__"), params=params, decorators=[compact], leading_lines=[]
    )
    base = cst.Arg(cst.Attribute(cst.Name(spelling.haiku), cst.Name("Module")))
    return cst.ClassDef(
        cst.Name(root.cls), cst.IndentedBlock([call]), [base], leading_lines=lines
    ).deep_clone()


def functions_for(
    node: cst.CSTNode, analysis: Analysis, spelling: Spelling, problems: list[Untranslated]
) -> Functions:
    """Return what translates the code of a function, which is of a module then."""
    states = dict(states_of([node], analysis, spelling, problems))
    return Functions(analysis, spelling, "self", {}, states, problems)


@dataclass
class Outside(Functions):
    """Translates the code outside of modules.

    Attributes:
        classes: The names of the modules that functions become, by definition.
        done: Code that is translated already.
        before: What is put before statements.
    """

    classes: Mapping[cst.CSTNode, str] = field(default_factory=dict)
    done: Mapping[cst.CSTNode, Sequence[cst.BaseStatement]] = field(default_factory=dict)
    before: Mapping[cst.CSTNode, Sequence[cst.BaseStatement]] = field(default_factory=dict)

    code: ClassVar[str] = CALLER

    def on_visit(self, node: cst.CSTNode) -> bool:
        """Leave what is translated already, and the functions in calls of transforms."""
        if node in self.done:
            return False
        is_transform = called_name(node, self.analysis) in HELPERS
        return not is_transform and super().on_visit(node)

    def on_leave(self, original_node: Any, updated_node: Any) -> Any:
        """Return code as it is now."""
        if original_node in self.done:
            return cst.FlattenSentinel(self.done[original_node])
        found = super().on_leave(original_node, updated_node)
        before = self.before.get(original_node)
        if before is None:
            return found
        own = found.leading_lines
        return cst.FlattenSentinel([*before, found.with_changes(leading_lines=[*TWO_LINES, *own])])

    def of_haiku(
        self, name: str, original: cst.Name | cst.Attribute, updated: cst.BaseExpression
    ) -> cst.BaseExpression:
        """Return what a name of Haiku is now: no layer is made here."""
        if layer_name(name):
            raise Untranslated(original, f"`{code_of(original)}` is used outside of modules")
        return super().of_haiku(name, original, updated)

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        """Return the call of a transform with the module that a function became."""
        name = haiku_name(original_node.func, self.analysis)
        if name in HELPERS:
            return self._transformed(name, original_node)
        if name == _WITHOUT_RNG and len(updated_node.args) == 1:
            inner = updated_node.args[0].value
            if isinstance(inner, cst.Call) and code_of(inner.func) in HELPERS.values():
                by_name = cst.Arg(cst.Name("False"), cst.Name("takes_rng"))
                return inner.with_changes(args=[inner.args[0], by_name])
            if called_name(original_node.args[0].value, self.analysis) in HELPERS:
                return updated_node  # a marker is there
            raise Untranslated(
                original_node, "give `takes_rng=False` where the function is transformed"
            )
        return super().leave_Call(original_node, updated_node)

    def _transformed(self, name: str, node: cst.Call) -> cst.BaseExpression:
        given: cst.CSTNode = node.args[0].value if node.args else node
        function = given
        if isinstance(given, cst.Name):
            named = (one for one in self.classes if isinstance(one, cst.FunctionDef))
            function = next((one for one in named if one.name.value == given.value), given)
        if function not in self.classes:
            raise Untranslated(node, _NO_FUNCTION.format(helper=HELPERS[name]))
        return cst.Call(cst.Name(HELPERS[name]), [cst.Arg(cst.Name(self.classes[function]))])


def _bound_at_top(body: Iterable[cst.BaseStatement | cst.SimpleStatementLine]) -> Iterator[str]:
    """Yield the names that a file binds at its top level, and those of Python."""
    yield from dir(builtins)
    for statement in body:
        if isinstance(statement, cst.FunctionDef | cst.ClassDef):
            yield statement.name.value
            continue
        for node in descendants(statement):
            match node:
                case cst.ImportAlias():
                    yield (node.evaluated_alias or node.evaluated_name).partition(".")[0]
                case (
                    cst.AssignTarget(target=cst.Name(value=name))
                    | cst.AnnAssign(target=cst.Name(value=name))
                ):
                    yield name


def _target_of(statement: cst.CSTNode, call: cst.Call) -> str:
    """Return the name of what a transformed function is assigned to."""
    for node in (statement, *descendants(statement)):
        match node:
            case cst.Assign(targets=[cst.AssignTarget(cst.Name(value=name))], value=value):
                if value is call or any(one is call for one in descendants(value)):
                    return name
    return "transformed"
