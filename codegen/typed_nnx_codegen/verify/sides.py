"""A Python file imported apart: the file before the migration and the one after share no module."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import pkgutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from typed_nnx_codegen.verify.errors import BadUse
from typed_nnx_codegen.verify.reasons import reason_of

_INSTALLED: Final = ("site-packages", "dist-packages")
# Packages whose types both sides have to share.
_COMMON: Final = frozenset({"jax", "jaxlib", "numpy", "flax", "typed_nnx", "typed_nnx_codegen"})


@dataclass
class Side:
    """A file, its module, and the modules that it shares with nobody.

    Attributes:
        path: The file.
        name: The name of its module.
        search: The folders that are searched for modules, before all others.
        own: The first parts of the names of modules that are this side's own.
        modules: Those modules, as far as they were imported.
        module: The module of the file.
    """

    path: Path
    name: str
    search: tuple[str, ...]
    own: frozenset[str]
    modules: dict[str, ModuleType] = field(default_factory=dict)
    module: ModuleType = field(default_factory=lambda: ModuleType("not_imported"))

    @contextmanager
    def active(self) -> Iterator[None]:
        """Make this side's modules those that imports find, for as long as the context lasts."""
        others = {name: sys.modules.pop(name) for name in list(sys.modules) if self._owns(name)}
        path = list(sys.path)
        sys.modules.update(self.modules)
        sys.path[:0] = self.search
        importlib.invalidate_caches()
        try:
            yield
        finally:
            self.modules = {
                name: sys.modules.pop(name) for name in list(sys.modules) if self._owns(name)
            }
            sys.modules.update(others)
            sys.path[:] = path

    def _owns(self, name: str) -> bool:
        return name.partition(".")[0] in self.own

    def named(self, name: str) -> Any:
        """Return what has a name in the module of the file, or a full name anywhere.

        Raises:
            BadUse: Nothing has it.
        """
        found: Any = self.module
        try:
            for part in name.split("."):
                found = getattr(found, part)
        except AttributeError:
            return self._imported(name)
        return found

    def _imported(self, name: str) -> Any:
        try:
            return pkgutil.resolve_name(name)
        except (ImportError, AttributeError, ValueError) as error:
            missing = getattr(error, "name", None) if isinstance(error, ImportError) else None
            if missing and not f"{name}.".startswith(f"{missing}."):
                raise BadUse(f"{name}: importing it failed: {reason_of(error, [])}") from error
            raise BadUse(
                f"{self.path}: nothing there is named {name!r}.\n"
                "  Fix: the name of something in the file, or a full name like flax.linen.Dense"
            ) from error


def import_side(path: Path, other: Side | None = None) -> Side:
    """Import a file apart from everything else.

    Args:
        path: The file. In a package it is imported as a part of it.
        other: The side before the migration: its package is that of a file which has relative
            imports and is in none.

    Raises:
        BadUse: There is no such file, or importing it fails.
    """
    path = path.absolute()
    side, tree = _found(path)
    if "." not in side.name and _has_relative_imports(tree):
        if other is None or "." not in other.name:
            raise BadUse(
                f"{path}: it has relative imports and is in no package.\n"
                "  Fix: put it into the folder of its package"
            )
        side = Side(path, f"{other.name}_migrated", other.search, other.own)
    try:
        _run(side)
    # Importing runs the file: anything may go wrong.
    except Exception as error:
        again = _with_own_copy(side, error) if other is not None else None
        if again is None:
            raise BadUse(f"{path}: importing it failed: {reason_of(error, [path])}") from error
        return again
    return side


def side_of(path: Path) -> Side:
    """Return a side whose file is not imported yet.

    Raises:
        BadUse: There is no such file, or it is not Python.
    """
    return _found(path.absolute())[0]


def _found(path: Path) -> tuple[Side, ast.Module]:
    if not path.is_file():
        raise BadUse(f"{path}: there is no such file.\n  Fix: the path of a Python file")
    tree = _parsed(path)
    return _side_of(path, tree), tree


def _run(side: Side) -> None:
    with side.active():
        side.module = _imported(side)


def _with_own_copy(side: Side, error: Exception) -> Side | None:
    """Return a side with a copy of its own of the package that refused it; None if that fails.

    A package may keep what modules register by name: it refuses the same names of this side.

    Args:
        side: The side whose import failed.
        error: What it failed with.
    """
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    name = "" if trace is None else str(trace.tb_frame.f_globals.get("__name__", ""))
    package = name.partition(".")[0]
    if package in {"", *side.own, *_COMMON, *sys.stdlib_module_names}:
        return None
    again = Side(side.path, side.name, side.search, side.own | {package})
    with suppress(Exception):  # whatever it is, the first error is what is told
        _run(again)
        return again
    return None


def _imported(side: Side) -> ModuleType:
    parent, _, _ = side.name.rpartition(".")
    if parent:
        importlib.import_module(parent)
        if side.name in sys.modules:
            return sys.modules[side.name]
    spec = importlib.util.spec_from_file_location(side.name, side.path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[side.name] = module
    spec.loader.exec_module(module)
    return module


def _parsed(path: Path) -> ast.Module:
    try:
        return ast.parse(path.read_bytes(), str(path))
    except (OSError, SyntaxError, ValueError) as error:
        raise BadUse(f"{path}: it cannot be read: {error}\n  Fix: a file of Python code") from error


def _side_of(path: Path, tree: ast.Module) -> Side:
    packages: list[str] = []
    folder = path.parent
    while (folder / "__init__.py").is_file() and folder.name.isidentifier():
        packages.insert(0, folder.name)
        folder = folder.parent
    stem = path.stem if path.stem.isidentifier() else "verified_module"
    names = packages if path.stem == "__init__" and packages else [*packages, stem]
    search: list[str] = []
    own = {names[0]}
    if not _is_installed(folder):
        search.append(str(folder))
        if not packages:
            own |= _siblings(folder)
    for name in sorted(_imported_names(tree) - own):
        home = _home_of(name, folder)
        if home is not None:
            own.add(name)
            if str(home) not in search:
                search.append(str(home))
    return Side(path, ".".join(names), tuple(search), frozenset(own))


def _is_installed(folder: Path) -> bool:
    return any(part in _INSTALLED for part in folder.parts)


def _siblings(folder: Path) -> set[str]:
    found = {each.stem for each in folder.glob("*.py")}
    found |= {each.parent.name for each in folder.glob("*/__init__.py")}
    return {name for name in found if name.isidentifier()} - _shared()


def _home_of(name: str, folder: Path) -> Path | None:
    """Return the next folder upwards that has a module of this name, None where it is not ours."""
    if name in _shared() or _is_installed_package(name):
        return None
    for each in [folder, *folder.parents][:6]:
        if _is_installed(each):
            return None
        if (each / f"{name}.py").is_file() or any((each / name).glob("**/*.py")):
            return each
    return None


def _is_installed_package(name: str) -> bool:
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return False
    return spec is not None and spec.origin is not None and _is_installed(Path(spec.origin))


def _shared() -> frozenset[str]:
    return frozenset(sys.stdlib_module_names) | {"typed_nnx", "typed_nnx_codegen", "flax", "jax"}


def _imported_names(tree: ast.Module) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            found.add(node.module.partition(".")[0])
    return found


def _has_relative_imports(tree: ast.Module) -> bool:
    return any(isinstance(node, ast.ImportFrom) and node.level for node in ast.walk(tree))
