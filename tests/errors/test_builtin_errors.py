"""The package raises its own exceptions; a builtin one has a reason beside it."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from pathlib import Path

import typed_nnx

SOURCE = Path(typed_nnx.__file__).parent
BUILTIN = frozenset(
    name
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, Exception)
)


def builtin_raises(node: ast.AST, function: str = "") -> Iterator[tuple[str, ast.Raise]]:
    """Yield every ``raise`` of a builtin exception with the name of the function it is in."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Raise):
            raised = child.exc.func if isinstance(child.exc, ast.Call) else child.exc
            if isinstance(raised, ast.Name) and raised.id in BUILTIN:
                yield function, child
        name = child.name if isinstance(child, ast.FunctionDef) else function
        yield from builtin_raises(child, name)


def unexplained(text: str) -> list[int]:
    """Return the lines that raise a builtin exception without need and without a comment."""
    lines = text.splitlines()
    return [
        found.lineno
        for function, found in builtin_raises(ast.parse(text))
        if function not in ("__getattr__", "__getattribute__")
        and not isinstance(found.exc, ast.Name)  # NotImplementedError of abstract methods
        and "  # " not in lines[found.lineno - 1]
    ]


def test_builtin_exceptions_have_a_reason() -> None:
    places = [
        f"{file.relative_to(SOURCE)}:{line}"
        for file in sorted(SOURCE.rglob("*.py"))
        if file.parent.name != "errors"
        for line in unexplained(file.read_text(encoding="utf-8"))
    ]
    assert places == []


def test_a_builtin_exception_without_a_reason_is_found() -> None:
    text = (
        "def f(x):\n    if x:\n        raise KeyError(x)  # as dicts do\n    raise TypeError('x')\n"
    )
    assert unexplained(text) == [4]
