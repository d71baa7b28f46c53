"""The names that a function needs where it is copied to another file."""

from __future__ import annotations

import builtins
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.syntax import descendants
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN
from typed_nnx_codegen.migrate.linen.names.bound_names import bound_in

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
    if not package or package[0] != there[0]:
        return home.module
    common = 0
    while common < min(len(package), len(there) - 1) and package[common] == there[common]:
        common += 1
    return "." * (len(package) - common + 1) + ".".join(there[common:])
