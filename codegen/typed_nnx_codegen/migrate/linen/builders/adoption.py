"""Decides which functions become methods of a module, and how its code refers to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.syntax import children, descendants
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN, External
from typed_nnx_codegen.migrate.linen.builders.finding import (
    Builder,
    Function,
    first_parameter,
    positional,
    references_in,
)
from typed_nnx_codegen.migrate.linen.modules.classes import LINEN, LinenClass
from typed_nnx_codegen.migrate.linen.names.bound_names import bound_in

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
