"""Makes functions that build submodules methods of the modules that call them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.syntax import children, descendants
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN, External
from typed_nnx_codegen.migrate.linen.builders.finding import (
    Builder,
    Edits,
    Function,
    NotBorrowed,
    Rewriting,
    find_builders,
    first_parameter,
    imports_for,
    not_read,
    positional,
    references_in,
    rewritten,
)
from typed_nnx_codegen.migrate.linen.domain.classes import LINEN, LinenClass, LinenClasses
from typed_nnx_codegen.migrate.linen.domain.names import bound_in

SELF: Final = "self"


@dataclass(eq=False)
class Adopted:
    """A function that becomes a method.

    Attributes:
        builder: The function.
        name: The name of the method.
        is_given: Whether callers give the object as the first argument already.
    """

    builder: Builder
    name: str
    is_given: bool


@dataclass(eq=False)
class Reference:
    """A place that refers to a function.

    Attributes:
        node: The expression.
        owner: The name of the object there.
        call: The call that calls it; None where it is used in another way.
    """

    node: cst.BaseExpression
    owner: str
    call: cst.Call | None


@dataclass(eq=False)
class Adoption:
    """What one module takes over.

    Attributes:
        cls: The module.
        functions: The functions by definition.
        references: The places in the methods of the module, by function.
        inner: The places in the functions themselves: in which, and by which function.
    """

    cls: LinenClass
    functions: dict[cst.CSTNode, Adopted] = field(default_factory=dict)
    references: list[tuple[Reference, cst.CSTNode]] = field(default_factory=list)
    inner: dict[cst.CSTNode, list[tuple[Reference, cst.CSTNode]]] = field(default_factory=dict)


def adoption_of(
    cls: LinenClass, builders: Mapping[cst.CSTNode, Builder], taken: set[str]
) -> Adoption | None:
    """Return what a module takes over; None where it calls no such function.

    Args:
        cls: The module.
        builders: The functions that build submodules.
        taken: The names that objects of the module have already.
    """
    adoption = Adoption(cls)
    refused: set[cst.CSTNode] = set()
    while True:
        clash = _follow(adoption, builders, taken, refused)
        if clash is None:
            break
        refused.add(clash)
        adoption = Adoption(cls)
    return adoption if adoption.functions else None


def _follow(
    adoption: Adoption,
    builders: Mapping[cst.CSTNode, Builder],
    taken: set[str],
    refused: set[cst.CSTNode],
) -> cst.CSTNode | None:
    """Follow calls from the methods of a module; return a function that cannot be a method.

    It is given the object in some places only, or its object cannot be `self`.
    """
    cls = adoption.cls
    known = {node: one for node, one in builders.items() if node not in refused}
    waiting: list[tuple[Reference, cst.CSTNode]] = []
    for method in cls.own_methods.values():
        owner = first_parameter(method.node)
        if method.is_bound and owner:
            waiting += _references(method.node, owner, cls.analysis, known)
    adoption.references = list(waiting)
    names = set(taken)
    while waiting:
        reference, node = waiting.pop(0)
        is_given = _gives_owner(reference)
        before = adoption.functions.get(node)
        if before is not None:
            if before.is_given != is_given:
                return node
            continue
        builder = known[node]
        given = builder.parameters[0] if is_given and builder.parameters else ""
        if not _may_have_self(builder.node, given):
            return node
        name = _free(builder.name, names)
        names.add(name)
        adoption.functions[node] = Adopted(builder, name, is_given)
        inner = _references(builder.node, given or SELF, builder.analysis, known)
        adoption.inner[node] = inner
        waiting += inner
    return None


def _references(
    function: Function, owner: str, analysis: Analysis, known: Mapping[cst.CSTNode, Builder]
) -> list[tuple[Reference, cst.CSTNode]]:
    """Return the places in a function that refer to functions which build submodules."""
    parents: dict[cst.CSTNode, cst.CSTNode] = {}
    for node in (function, *descendants(function)):
        for child in children(node):
            parents[child] = node
    found: list[tuple[Reference, cst.CSTNode]] = []
    for node, target in references_in(function.body, analysis, dict(known)):
        around = parents.get(node)
        call = around if isinstance(around, cst.Call) and around.func is node else None
        if isinstance(around, cst.Arg) and _is_of_linen(parents.get(around), analysis):
            continue  # a function under a transform is given the module
        name = _owner_at(node, function, owner, parents, analysis)
        found.append((Reference(node, name, call), target))
    return found


def _owner_at(
    node: cst.CSTNode,
    function: Function,
    owner: str,
    parents: Mapping[cst.CSTNode, cst.CSTNode],
    analysis: Analysis,
) -> str:
    """Return the name of the module at a place: functions under transforms are given it."""
    current: cst.CSTNode | None = node
    while current is not None and current is not function:
        if isinstance(current, cst.FunctionDef | cst.Lambda):
            names = positional(current)
            if names and owner not in names and _is_lifted(current, function, parents, analysis):
                return names[0]
        current = parents.get(current)
    return owner


def _is_lifted(
    inner: Function,
    function: Function,
    parents: Mapping[cst.CSTNode, cst.CSTNode],
    analysis: Analysis,
) -> bool:
    """Whether a function within another one is given to a transform of Linen."""
    if isinstance(inner, cst.Lambda):
        arg = parents.get(inner)
        return arg is not None and _is_of_linen(parents.get(arg), analysis)
    if inner.decorators:
        return any(_name_of(one.decorator, analysis).startswith(LINEN) for one in inner.decorators)
    for node in descendants(function):
        if isinstance(node, cst.Call) and _is_of_linen(node, analysis):
            for arg in node.args:
                if isinstance(arg.value, cst.Name) and arg.value.value == inner.name.value:
                    return True
    return False


def _is_of_linen(node: cst.CSTNode | None, analysis: Analysis) -> bool:
    return isinstance(node, cst.Call) and _name_of(node.func, analysis).startswith(LINEN)


def _name_of(node: cst.BaseExpression, analysis: Analysis) -> str:
    if isinstance(node, cst.Call):
        return _name_of(node.func, analysis)
    value = analysis.values.get(node, UNKNOWN)
    return value.name if isinstance(value, External) else ""


def _gives_owner(reference: Reference) -> bool:
    """Whether a call gives the module as its first argument."""
    match reference.call:
        case cst.Call(args=[cst.Arg(keyword=None, star="", value=cst.Name(value=name)), *_]):
            return name == reference.owner
    return False


def _may_have_self(function: Function, given: str) -> bool:
    """Whether the object of a function may be called `self`: nothing else has that name.

    Args:
        function: The function.
        given: The parameter that has the object; empty where it has none.
    """
    bound = list(_bound(function))
    return given == SELF or (SELF not in bound and bound.count(given) <= 1)


def _bound(function: Function) -> list[str]:
    if isinstance(function, cst.FunctionDef):
        return list(bound_in(function))
    return [node.name.value for node in descendants(function) if isinstance(node, cst.Param)]


def _free(name: str, taken: set[str]) -> str:
    for candidate in _candidates(name):
        if candidate not in taken:
            return candidate
    raise AssertionError


def _candidates(name: str) -> Iterator[str]:
    yield name
    yield f"_{name}" if not name.startswith("_") else f"{name}_block"
    number = 2
    while True:
        yield f"{name}_{number}"
        number += 1


def drop_unused(
    candidates: set[cst.CSTNode],
    builders: Mapping[cst.CSTNode, Builder],
    analyses: Mapping[Path, Analysis],
    edits: Mapping[Path, Edits],
) -> None:
    """Drop the functions that nothing else uses, and the imports of them.

    Args:
        candidates: The functions that may go.
        builders: The functions that build submodules.
        analyses: The files.
        edits: What changes in each file.
    """
    used: dict[cst.CSTNode, set[cst.CSTNode | None]] = {node: set() for node in builders}
    imported: dict[cst.CSTNode, list[tuple[Path, str]]] = {node: [] for node in builders}
    for path, analysis in analyses.items():
        _note_uses(analysis, builders, edits[path], used)
        exported = set(analysis.exported() or ())
        for name, value in analysis.scope.seen.items():
            target: object = getattr(value, "node", None)
            if not isinstance(target, cst.CSTNode) or target not in builders:
                continue
            is_import = name in analysis.scope.imports
            if name in exported or (is_import and analysis.is_package):
                used[target].add(None)
            elif is_import:
                imported[target].append((path, name))
    paths = {id(one): path for path, one in analyses.items()}
    for node in candidates:
        path = paths[id(builders[node].analysis)]
        if _is_mentioned(builders[node].name, path, analyses):
            used[node].add(None)
    dropped = set(candidates)
    while True:
        kept = {node for node in dropped if used[node] - dropped - {node}}
        if not kept:
            break
        dropped -= kept
    for node in dropped:
        builder = builders[node]
        edits[paths[id(builder.analysis)]].dropped.add(builder.statement)
        for path, name in imported[node]:
            edits[path].unimported.add(name)


def _is_mentioned(name: str, home: Path, analyses: Mapping[Path, Analysis]) -> bool:
    """Whether a file of the same package that is not migrated has the name of a function.

    An `__init__.py` that passes it on imports nothing of flax, and is not read otherwise.
    """
    if not (home.parent / "__init__.py").is_file():
        return False
    top = home.parent
    while (top.parent / "__init__.py").is_file():
        top = top.parent
    word = re.compile(rf"\b{re.escape(name)}\b".encode())
    known = {path.resolve() for path in analyses}
    others = (path for path in top.rglob("*.py") if path.resolve() not in known)
    return any(word.search(path.read_bytes()) for path in others if path.is_file())


def _note_uses(
    analysis: Analysis,
    builders: Mapping[cst.CSTNode, Builder],
    edits: Edits,
    used: dict[cst.CSTNode, set[cst.CSTNode | None]],
) -> None:
    """Note where a file uses functions: in another function, or elsewhere."""
    written = edits.calls_written()
    homes = {one.statement: one.node for one in builders.values() if one.analysis is analysis}
    for statement in analysis.tree.body:
        around = homes.get(statement)
        for node, target in references_in(statement, analysis, dict(builders)):
            if node not in edits.names and node not in written:
                used[target].add(around)


def with_methods(analyses: Mapping[Path, Analysis]) -> dict[Path, cst.Module]:
    """Return the files that change when functions which build submodules become methods.

    Args:
        analyses: The files that are migrated.
    """
    classes = LinenClasses(analyses.values())
    builders = find_builders(analyses.values(), classes)
    if not builders:
        return {}
    edits = {path: Edits() for path in analyses}
    by_analysis = {id(one): path for path, one in analyses.items()}
    every = [cls for one in analyses.values() for cls in classes.all_in(one)]
    for cls in every:
        if not isinstance(cls.node.body, cst.IndentedBlock):
            continue
        adoption = adoption_of(cls, builders, _names_of(cls, every))
        if adoption is not None:
            _adopt(adoption, edits[by_analysis[id(cls.analysis)]])
    if not any(one.methods for one in edits.values()):
        return {}
    adopted = {node for one in edits.values() for node in one.adopted}
    drop_unused(adopted, builders, analyses, edits)
    return {
        path: rewritten(analyses[path].tree, one) for path, one in edits.items() if not one.is_empty
    }


def _names_of(cls: LinenClass, every: Iterable[LinenClass]) -> set[str]:
    """Return the names that objects of a class, or of one that inherits from it, may have."""
    related = [one for one in every if cls in one.ancestry()]
    found: set[str] = set()
    owners = {first_parameter(method.node) for one in related for method in one.methods().values()}
    for one in {each for relative in related for each in relative.ancestry()}:
        found |= {each.name for each in one.own_fields} | set(one.own_methods) | set(one.constants)
        for node in descendants(one.node):
            match node:
                case cst.Attribute(value=cst.Name(value=owner), attr=attr) if owner in owners:
                    found.add(attr.value)
                case cst.SimpleString(value=text):
                    found.add(text.strip("'\""))
    return found


def _adopt(adoption: Adoption, edits: Edits) -> None:
    """Let a class take functions over."""
    target = adoption.cls.analysis
    imports: list[str] = []
    try:
        for one in adoption.functions.values():
            imports += imports_for(one.builder.node, one.builder.analysis, target)
    except NotBorrowed:
        return
    methods = [_method(one, adoption) for one in adoption.functions.values()]
    edits.methods[adoption.cls.node] = methods
    edits.adopted |= set(adoption.functions)
    edits.imports += [one for one in imports if one not in edits.imports]
    names, given = _written(adoption.references, adoption.functions)
    edits.names |= names
    edits.given |= given


def _written(
    references: Iterable[tuple[Reference, cst.CSTNode]],
    functions: Mapping[cst.CSTNode, Adopted],
) -> tuple[dict[cst.CSTNode, cst.Attribute | cst.Name], set[cst.CSTNode]]:
    """Return how places refer to methods, and the calls that gave the object."""
    names: dict[cst.CSTNode, cst.Attribute | cst.Name] = {}
    given: set[cst.CSTNode] = set()
    for reference, node in references:
        one = functions[node]
        names[reference.node] = cst.Attribute(cst.Name(reference.owner), cst.Name(one.name))
        if one.is_given and reference.call is not None:
            given.add(reference.call)
    return names, given


def _method(one: Adopted, adoption: Adoption) -> cst.FunctionDef:
    """Return a function as a method."""
    node = one.builder.node
    names, given = _written(adoption.inner[node], adoption.functions)
    if one.is_given:
        old = one.builder.parameters[0]
        names = _renamed(node, old) | {
            place: code.with_changes(value=cst.Name(SELF)) if _is_of(code, old) else code
            for place, code in names.items()
        }
    after = node.visit(Rewriting(Edits(names, given)))
    if isinstance(after, cst.Lambda):
        body = cst.SimpleStatementLine([cst.Return(after.body)])
        after = cst.FunctionDef(cst.Name(one.name), after.params, cst.IndentedBlock([body]))
    assert isinstance(after, cst.FunctionDef)
    if not one.is_given:
        after = after.with_changes(params=_with_self(after.params))
    comments = [line for line in after.leading_lines if line.comment is not None]
    return after.with_changes(
        name=cst.Name(one.name), leading_lines=[cst.EmptyLine(indent=False), *comments]
    ).deep_clone()


def _renamed(node: cst.CSTNode, old: str) -> dict[cst.CSTNode, cst.Attribute | cst.Name]:
    """Return the places in a function that name its object."""
    aside = {id(part) for below in descendants(node) for part in not_read(below)}
    return {
        below: cst.Name(SELF)
        for below in descendants(node)
        if isinstance(below, cst.Name) and below.value == old and id(below) not in aside
    }


def _is_of(code: cst.Attribute | cst.Name, owner: str) -> bool:
    return (
        isinstance(code, cst.Attribute)
        and isinstance(code.value, cst.Name)
        and code.value.value == owner
    )


def _with_self(params: cst.Parameters) -> cst.Parameters:
    first = cst.Param(cst.Name(SELF))
    if params.posonly_params:
        return params.with_changes(posonly_params=[first, *params.posonly_params])
    return params.with_changes(params=[first, *params.params])
