"""Gives functions the types that type checkers know: of their overloads, in the source and the stubs."""

from __future__ import annotations

import ast
import functools
from pathlib import Path
from typing import Any, Final

import griffe

from docs._site.griffe_objects import functions_in

_STUBS: Final = Path(__file__).parents[2] / "stubs" / "typed_nnx-stubs"
# Below this name the templates find what is added here.
_EXTRA: Final = "typed_nnx_stubs"
# Some hundreds of overloads are for programs, not for readers.
_READABLE: Final = 48


class StubOverloads(griffe.Extension):
    """Adds overloads from the stubs, and types where the implementation has none to show."""

    def on_package(self, *, pkg: griffe.Module, **kwargs: Any) -> None:
        """Look at all functions of a package that has been read."""
        del kwargs
        for function in functions_in(pkg):
            for overload in function.overloads or ():
                _take_defaults(overload, function)
                _take_types(function, overload)
            _add_stubs(function)


def _take_defaults(overload: griffe.Function, function: griffe.Function) -> None:
    for parameter in overload.parameters:
        if str(parameter.default) == "..." and parameter.name in function.parameters:
            parameter.default = function.parameters[parameter.name].default


def _take_types(function: griffe.Function, overload: griffe.Function) -> None:
    """Show the types of an overload where a function says Any; those of the last one count."""
    marks = function.extra[_EXTRA]
    if marks.setdefault("any_result", str(function.returns) == "Any"):
        function.returns = overload.returns
    untyped = marks.setdefault(
        "untyped", {each.name for each in function.parameters if str(each.annotation) == "Any"}
    )
    for parameter in overload.parameters:
        if parameter.name in untyped:
            function.parameters[parameter.name].annotation = parameter.annotation


def _add_stubs(function: griffe.Function) -> None:
    module, name = _named_by(function)
    found = overloads_of(module).get(name, ())
    if found:
        shown = "\n".join(found) if len(found) <= _READABLE else ""
        file = f"stubs/typed_nnx-stubs/{_path(module)}"
        function.extra[_EXTRA] |= {"count": len(found), "code": shown, "file": file}


def _named_by(function: griffe.Function) -> tuple[str, str]:
    """Return the module and the name of the overloads that a decorator names, if one does."""
    for decorator in function.decorators:
        match ast.parse(str(decorator.value), mode="eval").body:
            case ast.Call(
                func=ast.Name("typed_as"),
                args=[ast.Lambda(body=ast.Attribute(ast.Name(alias), name))],
            ):
                return function.module.imports[alias], name
    return "", ""


def _path(module: str) -> str:
    return f"{module.partition('.')[2].replace('.', '/')}.pyi"


@functools.cache
def overloads_of(module: str) -> dict[str, tuple[str, ...]]:
    """Return the overloads in a module of the stub package, by the name of the function."""
    file = _STUBS / _path(module)
    if not file.is_file():
        return {}
    found: dict[str, list[str]] = {}
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            node.decorator_list = []
            found.setdefault(node.name, []).append(ast.unparse(node))
    return {name: tuple(texts) for name, texts in found.items()}
