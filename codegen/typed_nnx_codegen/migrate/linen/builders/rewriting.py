"""Rewrites files so that functions which build submodules are methods of the modules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.syntax import descendants
from typed_nnx_codegen.migrate.linen.builders.adoption import (
    SELF,
    Adopted,
    Adoption,
    Reference,
    adoption_of,
)
from typed_nnx_codegen.migrate.linen.builders.borrowed_names import (
    NotBorrowed,
    imports_for,
    not_read,
)
from typed_nnx_codegen.migrate.linen.builders.edits import Edits, Rewriting, rewritten
from typed_nnx_codegen.migrate.linen.builders.finding import find_builders, first_parameter
from typed_nnx_codegen.migrate.linen.builders.unused import drop_unused
from typed_nnx_codegen.migrate.linen.modules.classes import LinenClass, LinenClasses


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
