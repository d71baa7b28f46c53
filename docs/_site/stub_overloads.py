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
    module = function.module.path
    local = function.path.removeprefix(f"{module}.")
    found = overloads_of(module.removeprefix("typed_nnx.")).get(local, ())
    if len(found) > len(function.overloads or ()) and not _says_the_same(function, found):
        shown = "\n".join(found) if len(found) <= _READABLE else ""
        file = f"stubs/typed_nnx-stubs/{'/'.join(module.split('.')[1:])}.pyi"
        function.extra[_EXTRA] |= {"count": len(found), "code": shown, "file": file}


def _says_the_same(function: griffe.Function, stubs: tuple[str, ...]) -> bool:
    """Whether there is one stub, with the types that the function has."""
    (node,) = ast.parse(stubs[0]).body
    assert isinstance(node, ast.FunctionDef)
    arguments = node.args
    parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    types = {each.arg: each.annotation for each in parameters if each.annotation is not None}
    return len(stubs) == 1 and (
        ast.unparse(node.returns or ast.Constant(None)) == str(function.returns)
        and all(
            name in function.parameters
            and str(function.parameters[name].annotation) == ast.unparse(annotation)
            for name, annotation in types.items()
        )
    )


@functools.cache
def overloads_of(module: str) -> dict[str, tuple[str, ...]]:
    """Return the signatures in the stubs of a module, by the name of the function."""
    file = _STUBS.joinpath(*module.split(".")).with_suffix(".pyi")
    if not file.is_file():
        return {}
    found: dict[str, list[str]] = {}
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        prefix = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
        for function in node.body if isinstance(node, ast.ClassDef) else [node]:
            if isinstance(function, ast.FunctionDef):
                function.decorator_list = []
                found.setdefault(prefix + function.name, []).append(ast.unparse(function))
    return {name: tuple(texts) for name, texts in found.items()}
