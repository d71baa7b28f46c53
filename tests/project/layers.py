"""A checker of the layers: which module of the package may import which.

It reads source and runs nothing. An import under ``TYPE_CHECKING`` counts like any other: a layer
that needs a higher layer's types is as entangled as one that needs its code.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# Lowest first. A module may import from its own layer and from those before it.
LAYERS = (
    "errors",
    "_core",
    "_graph",
    "_transforms",
    "summary",
    "nn",
    "training",
    "bridge",
    "compat",
    "",
    "migrated",
)

# Public modules that only gather names under the module name that NNX code knows.
FACADES = (
    "filterlib",
    "graph",
    "graphlib",
    "helpers",
    "module",
    "pytreelib",
    "rnglib",
    "spmd",
    "statelib",
    "transforms",
    "traversals",
    "variablelib",
    "visualization",
)

# What any module may import at its top. Everything else is optional and imported where it is used.
ALWAYS_THERE = frozenset(
    {"jax", "jaxlib", "numpy", "optax", "typing_extensions", "typed_nnx_models"}
    | set(sys.stdlib_module_names)
)


@dataclass(frozen=True)
class Import:
    """One imported module, as the source of one module names it.

    Attributes:
      target: full dotted name of the imported module.
      line: line number in the importing file.
      in_function: whether the import runs only when a function is called.
      typing_only: whether the import stands under ``if TYPE_CHECKING:``.
    """

    target: str
    line: int
    in_function: bool
    typing_only: bool


class _Collector(ast.NodeVisitor):
    """Collects the imports of one module, with relative ones resolved."""

    def __init__(self, package: str, modules: frozenset[str]) -> None:
        self.package = package
        self.modules = modules
        self.found: list[Import] = []
        self._function_depth = 0
        self._typing_depth = 0

    def _add(self, target: str, line: int) -> None:
        self.found.append(Import(target, line, self._function_depth > 0, self._typing_depth > 0))

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._add(alias.name, node.lineno)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        base = self._base(node)
        for alias in node.names:
            submodule = f"{base}.{alias.name}"
            self._add(submodule if submodule in self.modules else base, node.lineno)

    def _base(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        parts = self.package.split(".")
        parents = parts[: len(parts) - node.level + 1]
        return ".".join([*parents, node.module] if node.module else parents)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._visit_in_function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._visit_in_function(node)

    def _visit_in_function(self, node: ast.AST) -> None:
        self._function_depth += 1
        self.generic_visit(node)
        self._function_depth -= 1

    def visit_If(self, node: ast.If) -> None:
        if ast.unparse(node.test) not in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            self.generic_visit(node)
            return
        self._typing_depth += 1
        for child in node.body:
            self.visit(child)
        self._typing_depth -= 1
        for child in node.orelse:
            self.visit(child)


def imports_of_package(folder: Path) -> dict[str, list[Import]]:
    """Return the imports of every module of the package in ``folder``, by full module name."""
    files = {_module_name(folder, path): path for path in sorted(folder.rglob("*.py"))}
    modules = frozenset(files)
    imports: dict[str, list[Import]] = {}
    for module, path in files.items():
        package = module if path.name == "__init__.py" else module.rpartition(".")[0]
        collector = _Collector(package, modules)
        collector.visit(ast.parse(path.read_text(encoding="utf-8"), str(path)))
        imports[module] = collector.found
    return imports


def _module_name(folder: Path, path: Path) -> str:
    parts = [folder.name, *path.relative_to(folder).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def violations(folder: Path) -> list[str]:
    """Return every breach of the layers in the package at ``folder``, one readable line each."""
    root = folder.name
    imports = imports_of_package(folder)
    found: list[str] = []
    for module, of_module in imports.items():
        if layer_of(module, root) not in LAYERS:
            found.append(f"{module}: belongs to no known layer")
            continue
        for one in of_module:
            found.extend(_breaches(module, one, root))
    return found + cycles(folder)


def cycles(folder: Path) -> list[str]:
    """Return the import cycles of the package at ``folder``, one readable line each."""
    return [f"cycle: {' -> '.join(cycle)}" for cycle in _cycles(imports_of_package(folder))]


def layer_of(module: str, root: str) -> str:
    """Return the layer of a module: the first name below the root, ``""`` for the root itself."""
    first = module.removeprefix(root).lstrip(".").split(".")[0]
    return "compat" if first in FACADES else first


def _breaches(module: str, one: Import, root: str) -> Iterator[str]:
    where = f"{module}:{one.line}: imports {one.target}"
    if one.target != root and not one.target.startswith(root + "."):
        yield from _outside_breaches(where, one)
        return
    if one.in_function:
        yield f"{where} inside a function"
    theirs = layer_of(one.target, root)
    if one.target == root and LAYERS.index(layer_of(module, root)) <= LAYERS.index(theirs):
        yield f"{where}, the package root"
        return
    if theirs not in LAYERS:
        yield f"{where}, which belongs to no known layer"
    elif LAYERS.index(theirs) > LAYERS.index(layer_of(module, root)):
        yield f"{where}, which is in a higher layer"


def _outside_breaches(where: str, one: Import) -> Iterator[str]:
    optional = one.target.split(".")[0] not in ALWAYS_THERE
    if optional and not one.in_function and not one.typing_only:
        yield f"{where} at the top, which is no run-time dependency"


def _cycles(imports: dict[str, list[Import]]) -> Iterator[list[str]]:
    """Yield one import cycle per group of modules that import each other."""
    edges = {
        module: sorted({one.target for one in of_module if one.target in imports} - {module})
        for module, of_module in imports.items()
    }
    for group in _mutual_groups(edges):
        if len(group) > 1:
            yield _one_cycle(edges, group)


def _mutual_groups(edges: dict[str, list[str]]) -> list[set[str]]:
    reachable = {module: _reachable(edges, module) for module in edges}
    groups: list[set[str]] = []
    placed: set[str] = set()
    for module in edges:
        if module not in placed:
            group = {other for other in reachable[module] if module in reachable[other]} | {module}
            groups.append(group)
            placed |= group
    return groups


def _reachable(edges: dict[str, list[str]], start: str) -> set[str]:
    seen: set[str] = set()
    todo = list(edges[start])
    while todo:
        module = todo.pop()
        if module not in seen:
            seen.add(module)
            todo.extend(edges[module])
    return seen


def _one_cycle(edges: dict[str, list[str]], group: set[str]) -> list[str]:
    """Walk inside a mutual group until a module repeats; every member has a successor in it."""
    walk = [min(group)]
    while walk.count(walk[-1]) == 1:
        walk.append(next(target for target in edges[walk[-1]] if target in group))
    return walk[walk.index(walk[-1]) :]
