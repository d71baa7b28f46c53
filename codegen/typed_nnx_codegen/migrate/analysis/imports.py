"""Import statements: which names they bind, and to what."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final, Protocol

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import dotted
from typed_nnx_codegen.migrate.analysis.values import (
    External,
    ImportBinding,
    ModuleNames,
    ProjectModule,
    Scope,
    Value,
)

# Packages whose names mean what they always mean, even where a copy of them lies in the project.
_KNOWN: Final = frozenset({"flax", "jax", "numpy", "typed_nnx"})


def absolute_module(node: cst.ImportFrom, module: str, is_package: bool) -> str:
    """Return the dotted name of the module that ``from ... import`` names.

    Args:
        node: The statement.
        module: The dotted name of the module that it is in.
        is_package: Whether that module is a package.
    """
    named = dotted(node.module) if node.module is not None else ""
    if not node.relative:
        return named
    parts = module.split(".") if module else []
    up = len(node.relative) - (1 if is_package else 0)
    kept = parts[: len(parts) - up] if up <= len(parts) else []
    return ".".join([*kept, *([named] if named else [])])


class Modules(Protocol):
    """The modules of a project."""

    def module(self, name: str, importer: Path) -> ModuleNames | None:
        """Return the names of a module that a file imports; None where the project has none."""
        ...


class Imports:
    """Binds the names of import statements.

    Args:
        module: The dotted name of the module.
        path: Its file.
        project: The modules around it.
        stars: The packages that it imports ``*`` from are added here.

    Attributes:
        is_apart: Whether the statements here are for type checkers, or for the main module only.
    """

    def __init__(self, module: str, path: Path, project: Modules, stars: list[str]) -> None:
        self._name = module
        self._path = path
        self._project = project
        self._stars = stars
        self.is_apart = False

    def bind(self, node: cst.Import | cst.ImportFrom, scope: Scope) -> None:
        """Bind what an import statement imports."""
        if isinstance(node, cst.ImportFrom):
            self._bind_from(node, scope)
            return
        for alias in node.names:
            full = dotted(alias.name)
            local = _alias_of(alias)
            if local is None:
                first = full.partition(".")[0]
                self._bind_module(ImportBinding(first, first, full, full, False, False), scope)
            else:
                self._bind_module(ImportBinding(local, full, full, full, True, False), scope)

    def _bind_module(self, binding: ImportBinding, scope: Scope) -> None:
        if self.is_apart:
            binding = replace(binding, is_apart=True)
        scope.bind_import(binding, self._module(binding.full))

    def _bind_from(self, node: cst.ImportFrom, scope: Scope) -> None:
        module = absolute_module(node, self._name, self._path.stem == "__init__")
        source = self._module(module)
        if isinstance(node.names, cst.ImportStar):
            self._bind_star(source, scope)
            return
        for alias in node.names:
            name = dotted(alias.name)
            local = _alias_of(alias)
            value = self._imported(source, module, name)
            full = value.name if isinstance(value, External) else _joined(module, name)
            scope.bind_import(
                ImportBinding(
                    local or name,
                    full,
                    module,
                    name,
                    has_alias=local is not None,
                    is_from=True,
                    is_apart=self.is_apart,
                ),
                value,
            )

    def _bind_star(self, source: Value, scope: Scope) -> None:
        if isinstance(source, ProjectModule):
            for name in source.names.public():
                value = source.names.name(name)
                if value is not None:
                    scope.bind(name, value)
        elif isinstance(source, External):
            self._stars.append(source.name)

    def _imported(self, source: Value, module: str, name: str) -> Value:
        if isinstance(source, ProjectModule):
            value = source.names.name(name)
            if value is not None:
                return value
            return self._module(_joined(module, name))
        # The package itself may have nothing of NNX in it.
        return self._module(_joined(module, name))

    def _module(self, name: str) -> Value:
        if name.partition(".")[0] in _KNOWN:
            return External(name)
        names = self._project.module(name, self._path)
        return ProjectModule(name, names) if names is not None else External(name)


def _joined(module: str, name: str) -> str:
    """Return the dotted name of a name in a module; itself for ``from . import name`` outside."""
    return f"{module}.{name}" if module else name


def _alias_of(alias: cst.ImportAlias) -> str | None:
    if alias.asname is None or not isinstance(alias.asname.name, cst.Name):
        return None
    return alias.asname.name.value
