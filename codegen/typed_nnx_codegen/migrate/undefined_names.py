"""Names that a module reads and nothing defines, as ruff finds them, and names that modules give each other."""

from __future__ import annotations

import ast
import json
import re
import symtable
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, TypeVar

from typed_nnx_codegen.migrate.ruff import run_ruff

_OPTIONS: Final = ("--isolated", "--no-cache", "--ignore-noqa", "--target-version=py313")
# Undefined names, also in `__all__`.
_RULES: Final = "--select=F821,F822"
_NAME: Final = re.compile(r"[Uu]ndefined name `(\w+)`")

_STAR: Final = re.compile(r"\bimport[\s\\]*\*")
K = TypeVar("K")


@dataclass(frozen=True, order=True)
class Undefined:
    """A name that nothing defines.

    Attributes:
        line: The line that reads it, from 1.
        name: The name.
    """

    line: int
    name: str


def undefined_names(texts: Mapping[K, str]) -> dict[K, tuple[Undefined, ...]]:
    """Return the names that modules read and nothing defines, by line; none where ruff is missing."""
    found: dict[K, set[Undefined]] = {key: set() for key in texts}
    with TemporaryDirectory() as folder:
        # The true path: ruff says where files are without links.
        files = {Path(folder, f"{number}.py").resolve(): key for number, key in enumerate(texts)}
        for file, key in files.items():
            file.write_bytes(texts[key].encode())
        options = (*_OPTIONS, _RULES, "--output-format=json")
        told = run_ruff("check", *options, ".", folder=Path(folder)) if texts else ""
        for one in json.loads(told or "[]"):
            name = _NAME.search(one["message"])
            if name is not None:
                line: int = one["location"]["row"]
                found[files[Path(one["filename"])]].add(Undefined(line, name[1]))
    return {key: tuple(sorted(names)) for key, names in found.items()}


def newly_undefined(texts: Mapping[K, tuple[str, str]]) -> dict[K, tuple[Undefined, ...]]:
    """Return the names that nothing defines in new texts, and that were defined in the old ones.

    Args:
        texts: The old and the new text of each module.

    Returns:
        The names of each module that has some.
    """
    changed = {key: after for key, (before, after) in texts.items() if before != after}
    found = {key: names for key, names in undefined_names(changed).items() if names}
    before = undefined_names({key: texts[key][0] for key in found})
    known = {key: {one.name for one in names} for key, names in before.items()}
    new = {
        key: tuple(one for one in names if one.name not in known[key])
        for key, names in found.items()
    }
    return {key: names for key, names in new.items() if names}


def defined_names(text: str) -> frozenset[str] | None:
    """Return the names that a module has for those who import it.

    Returns:
        The names; None where that is not known, or the syntax is that of a newer Python.
    """
    try:
        symbols = symtable.symtable(text, "", "exec").get_symbols()
    except SyntaxError:
        return None
    for node in ast.walk(ast.parse(text)) if _STAR.search(text) else ():
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            return None
    return frozenset(one.get_name() for one in symbols if one.is_assigned() or one.is_imported())


def imported_names(tree: ast.Module, module: str, is_package: bool) -> Iterator[tuple[str, str]]:
    """Yield what a module takes from others: the other module, and the name in it, if it is one.

    Args:
        tree: The module.
        module: Its dotted name.
        is_package: Whether it is a package.
    """
    nodes = list(ast.walk(tree))
    modules: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                modules[alias.asname or alias.name] = alias.name
                yield alias.name, ""
        elif isinstance(node, ast.ImportFrom):
            package = _absolute(node, module, is_package)
            for alias in node.names:
                modules[alias.asname or alias.name] = f"{package}.{alias.name}".strip(".")
                yield package, alias.name
    for node in nodes:
        if isinstance(node, ast.Attribute):
            owner = modules.get(dotted(node.value))
            if owner is not None:
                yield owner, node.attr


def dotted(node: ast.expr) -> str:
    """Return `a.b` for a name or an attribute; empty for anything else."""
    match node:
        case ast.Attribute(value=inner, attr=name):
            around = dotted(inner)
            return around and f"{around}.{name}"
        case ast.Name(id=name):
            return name
    return ""


def _absolute(node: ast.ImportFrom, module: str, is_package: bool) -> str:
    """Return the dotted name of the module that ``from ... import`` names."""
    if not node.level:
        return node.module or ""
    around = module.split(".")
    around = around[: len(around) - node.level + is_package]
    return ".".join([*around, *([node.module] if node.module else [])])
