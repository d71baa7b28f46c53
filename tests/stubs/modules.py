"""Which modules of overloads there are, and which functions of the source get their types from them."""

from __future__ import annotations

import ast
import functools
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.type_checkers import REPOSITORY

STUBS = REPOSITORY / "stubs" / "typed_nnx-stubs"
SOURCE = REPOSITORY / "src"


def module_of(path_in_package: str) -> str:
    """Return the name of the module whose stub has the given path.

    >>> module_of("_graph/split_overloads.pyi"), module_of("nn/__init__.pyi")
    ('typed_nnx._graph.split_overloads', 'typed_nnx.nn')
    """
    name = path_in_package.removesuffix(".pyi").replace("/", ".")
    return f"typed_nnx.{name}".removesuffix(".__init__")


MODULES = {
    module_of(path.relative_to(STUBS).as_posix()): path for path in sorted(STUBS.rglob("*.pyi"))
}


class Typed(NamedTuple):
    """A function of the source whose types are those of overloads.

    Attributes:
        module: Its module.
        name: Its name in the module, with its class.
        overloads: The module of the overloads.
        overload: Their name in it.
    """

    module: str
    name: str
    overloads: str
    overload: str

    def function(self) -> Any:
        """Return the function."""
        found: Any = importlib.import_module(self.module)
        for part in self.name.split("."):
            found = getattr(found, part)
        return found


@functools.cache
def typed_functions() -> tuple[Typed, ...]:
    """Return all functions of the source that `typed_as` decorates."""
    return tuple(each for path in sorted(SOURCE.rglob("*.py")) for each in _in_file(path))


def _in_file(path: Path) -> Iterator[Typed]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    module = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
    aliases = {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    owners: list[ast.Module | ast.ClassDef] = [tree]
    owners += [node for node in tree.body if isinstance(node, ast.ClassDef)]
    for owner in owners:
        prefix = f"{owner.name}." if isinstance(owner, ast.ClassDef) else ""
        for function in owner.body:
            for decorator in getattr(function, "decorator_list", ()):
                match decorator:
                    case ast.Call(
                        func=ast.Name("typed_as"),
                        args=[ast.Lambda(body=ast.Attribute(ast.Name(alias), name))],
                    ):
                        assert isinstance(function, ast.FunctionDef)
                        yield Typed(module, prefix + function.name, aliases[alias], name)
