"""Finds the functions of a project that build submodules for the modules that call them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.syntax import descendants
from typed_nnx_codegen.migrate.analysis.values import (
    UNKNOWN,
    External,
    ProjectClass,
    ProjectFunction,
)
from typed_nnx_codegen.migrate.linen.layers import find_layer
from typed_nnx_codegen.migrate.linen.modules.classes import LINEN, LinenClasses, public_linen

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
