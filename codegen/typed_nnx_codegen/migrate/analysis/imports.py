"""Import statements: which names they bind, and to what."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Protocol

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import dotted
from typed_nnx_codegen.migrate.analysis.values import (
    NOTHING,
    External,
    ImportBinding,
    Imported,
    ModuleNames,
    ProjectModule,
    Scope,
    Value,
    resolved,
)

# What is called and read like something else.
_ALIKE: Final = {"jax.tree_util.Partial": "functools.partial"}
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

    def has(self, name: str, importer: Path) -> bool:
        """Whether there may be such a module; it is not read."""
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
            spelled = full if local is not None else full.partition(".")[0]
            scope.bind_import(
                ImportBinding(
                    local or spelled,
                    spelled,
                    full,
                    full,
                    has_alias=local is not None,
                    is_from=False,
                    is_apart=self.is_apart,
                    value=self._module(spelled),
                )
            )

    def _bind_from(self, node: cst.ImportFrom, scope: Scope) -> None:
        module = absolute_module(node, self._name, self._path.stem == "__init__")
        source = self._module(module)
        if isinstance(node.names, cst.ImportStar):
            self._bind_star(resolved(source), scope)
            return
        for alias in node.names:
            name = dotted(alias.name)
            local = _alias_of(alias)
            scope.bind_import(
                ImportBinding(
                    local or name,
                    _joined(module, name),
                    module,
                    name,
                    has_alias=local is not None,
                    is_from=True,
                    is_apart=self.is_apart,
                    value=self._named(source, module, name),
                )
            )

    def _bind_star(self, source: Value, scope: Scope) -> None:
        if isinstance(source, ProjectModule):
            for name in source.names.public():
                value = source.names.bound(name)
                if value is not None:
                    scope.bind(name, value)
        elif isinstance(source, External):
            self._stars.append(source.name)

    def _named(self, source: Value, module: str, name: str) -> Value:
        full = _joined(module, name)

        def find() -> Value:
            package = resolved(source)
            if package is NOTHING:
                return NOTHING
            value = package.names.name(name) if isinstance(package, ProjectModule) else None
            # The package itself may have nothing of NNX in it.
            return value if value is not None else resolved(self._module(full))

        return Imported(full, find) if isinstance(source, Imported) else self._module(full)

    def _module(self, name: str) -> Value:
        if name.partition(".")[0] in _KNOWN or not self._project.has(name, self._path):
            return External(_ALIKE.get(name, name))

        def find() -> Value:
            names = self._project.module(name, self._path)
            return ProjectModule(name, names) if names is not None else External(name)

        return Imported(name, find)


def _joined(module: str, name: str) -> str:
    """Return the dotted name of a name in a module; itself for ``from . import name`` outside."""
    return f"{module}.{name}" if module else name


def _alias_of(alias: cst.ImportAlias) -> str | None:
    if alias.asname is None or not isinstance(alias.asname.name, cst.Name):
        return None
    return alias.asname.name.value
