"""The public names of the packages, read from their source: what exists and where it is defined."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
_FOLDERS = {
    "typed_nnx": REPOSITORY / "src",
    "typed_nnx_codegen": REPOSITORY / "codegen",
    "typed_nnx_mypy": REPOSITORY / "mypy_plugin",
}
_TYPE_VARIABLES = ("TypeVar", "ParamSpec", "TypeVarTuple")


@dataclass(frozen=True)
class Module:
    """A module as its source says.

    Attributes:
        summary: The first line of its docstring.
        own: The names that it defines.
        imported: By name: the module and the name that it is imported from; the name is "" where
            the module itself is.
        listed: The names in its ``__all__``; none where it has none.
    """

    summary: str
    own: tuple[str, ...]
    imported: dict[str, tuple[str, str]]
    listed: tuple[str, ...]


def file_of(module: str) -> Path | None:
    """Return the source file of a module; None where it is not of this repository."""
    folder = _FOLDERS.get(module.split(".")[0])
    if folder is None:
        return None
    place = folder.joinpath(*module.split("."))
    files = (place / "__init__.py", place.with_suffix(".py"))
    return next((file for file in files if file.is_file()), None)


@functools.cache
def read_module(module: str) -> Module:
    """Read a module of this repository."""
    file = file_of(module)
    assert file is not None, module
    tree = ast.parse(file.read_text(encoding="utf-8"))
    own: list[str] = []
    imported: dict[str, tuple[str, str]] = {}
    listed: list[str] = []
    for node in _statements(tree.body):
        match node:
            case ast.ImportFrom(module=str(origin)):
                imported |= {each.asname or each.name: (origin, each.name) for each in node.names}
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                own.append(name)
            case ast.Assign(targets=[ast.Name(id="__all__")], value=ast.List() as value):
                listed = ast.literal_eval(value)
            case ast.Assign(value=ast.Call(func=ast.Name(id=call))) if call in _TYPE_VARIABLES:
                pass
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name(id=other)) if (
                other in imported
            ):
                own.append(name)
                imported[name] = imported[other]  # an older name of it
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                own.append(name)
    summary = (ast.get_docstring(tree) or "").partition("\n")[0]
    return Module(summary, tuple(dict.fromkeys(own)), imported, tuple(listed))


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements that a type checker reads."""
    for node in body:
        if isinstance(node, ast.If):
            checked = isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
            yield from _statements(node.body if checked else [])
        else:
            yield node


def _reexported(module: str) -> Iterator[str]:
    """Yield what a module imports in order to have it: ``from a import x as x``."""
    file = file_of(module)
    assert file is not None, module
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for node in _statements(tree.body):
        if isinstance(node, ast.ImportFrom):
            yield from (each.asname for each in node.names if each.asname)


def names_of(module: str) -> list[str]:
    """Return the public names of a module: those that it defines or imports under a name again.

    Type variables are for annotations, and nothing to describe.
    """
    names = read_module(module).listed or [*_reexported(module), *read_module(module).own]
    return [
        name
        for name in dict.fromkeys(names)
        if not name.startswith("_") and not _is_type_variable(f"{module}.{name}")
    ]


def _is_type_variable(path: str) -> bool:
    module, _, name = definition_of(path).rpartition(".")
    if file_of(module) is None or file_of(f"{module}.{name}") is not None:
        return False
    return name not in read_module(module).own


def public_modules(package: str = "typed_nnx") -> list[str]:
    """Return the modules of a package without an underscore in their names."""
    folder = _FOLDERS[package]
    found: list[str] = []
    for file in sorted((folder / package).rglob("*.py")):
        parts = file.relative_to(folder).with_suffix("").parts
        names = [part for part in parts if part != "__init__"]
        if not any(name.startswith("_") for name in names):
            found.append(".".join(names))
    return found


def definition_of(path: str) -> str:
    """Follow imports from a public path to where it is defined, maybe in another package."""
    module, _, name = path.rpartition(".")
    if file_of(path) is not None or file_of(module) is None:
        return path
    origin = read_module(module).imported.get(name)
    return path if origin is None else definition_of(".".join(origin))
