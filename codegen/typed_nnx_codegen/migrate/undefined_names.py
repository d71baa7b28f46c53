"""Names that a module reads and nothing defines, as ruff finds them, and names that modules give each other."""

from __future__ import annotations

import ast
import json
import re
import symtable
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from typed_nnx_codegen.migrate.ruff import run_ruff

_OPTIONS: Final = ("--isolated", "--no-cache", "--ignore-noqa", "--target-version=py313")
# Undefined names, also in `__all__`.
_RULES: Final = "--select=F821,F822"
_NAME: Final = re.compile(r"[Uu]ndefined name `(\w+)`")


@dataclass(frozen=True, order=True)
class Undefined:
    """A name that nothing defines.

    Attributes:
        line: The line that reads it, from 1.
        name: The name.
    """

    line: int
    name: str


def undefined_names(text: str) -> tuple[Undefined, ...]:
    """Return the names that a module reads and nothing defines, by line; none where ruff is missing."""
    told = run_ruff("check", *_OPTIONS, _RULES, "--output-format=json", "-", text=text)
    every = (
        (one["location"]["row"], _NAME.search(one["message"])) for one in json.loads(told or "[]")
    )
    return tuple(sorted({Undefined(line, name[1]) for line, name in every if name is not None}))


def newly_undefined(before: str, after: str) -> tuple[Undefined, ...]:
    """Return the names that nothing defines in a new text, and that were defined in the old one."""
    found = undefined_names(after) if after != before else ()
    known = {one.name for one in undefined_names(before)} if found else set()
    return tuple(one for one in found if one.name not in known)


def defined_names(text: str) -> frozenset[str] | None:
    """Return the names that a module has for those who import it; None where that is not known.

    Raises:
        SyntaxError: The text is not valid Python.
    """
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            return None
    symbols = symtable.symtable(text, "", "exec").get_symbols()
    return frozenset(one.get_name() for one in symbols if one.is_assigned() or one.is_imported())


def imported_names(text: str, module: str, is_package: bool) -> Iterator[tuple[str, str]]:
    """Yield the names that a module takes from others: the other module, and the name in it.

    Args:
        text: The module.
        module: Its dotted name.
        is_package: Whether it is a package.

    Raises:
        SyntaxError: The text is not valid Python.
    """
    tree = ast.parse(text)
    modules: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                modules[alias.asname or alias.name] = alias.name
        elif isinstance(node, ast.ImportFrom):
            package = _absolute(node, module, is_package)
            for alias in node.names:
                modules[alias.asname or alias.name] = f"{package}.{alias.name}".strip(".")
                yield package, alias.name
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, (ast.Name, ast.Attribute)):
            owner = modules.get(ast.unparse(node.value))
            if owner is not None:
                yield owner, node.attr


def _absolute(node: ast.ImportFrom, module: str, is_package: bool) -> str:
    """Return the dotted name of the module that ``from ... import`` names."""
    if not node.level:
        return node.module or ""
    around = module.split(".")
    around = around[: len(around) - node.level + is_package]
    return ".".join([*around, *([node.module] if node.module else [])])
