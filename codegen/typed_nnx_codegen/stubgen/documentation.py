"""Documentation of overloads: editors show it, and search long for that of an overload without any."""

from __future__ import annotations

import ast
import importlib.util
import textwrap
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

_BODY = ": ..."


def documented(module: str, text: str) -> str:
    """Return the text of a module of overloads with documentation in each.

    The first overload of a function has the whole docstring of the function in the source, which
    editors show for its name; the others have its first line.

    Args:
        module: The full name of the module.
        text: Its text, with each definition in a line.
    """
    docstrings = dict(_docstrings()[module])
    lines = []
    for line in text.split("\n"):
        head = line.lstrip()
        name = head.removeprefix("def ").partition("(")[0]
        if head.startswith("def ") and line.endswith(_BODY) and name in docstrings:
            docstring = docstrings[name]
            docstrings[name] = docstring.partition("\n")[0]
            margin = line.removesuffix(head)
            line = textwrap.indent(head.removesuffix(_BODY) + _body(docstring), margin)
        lines.append(line)
    return "\n".join(lines)


def _body(docstring: str) -> str:
    if "\n" not in docstring:
        return f': """{docstring}"""'
    return ":\n" + textwrap.indent(f'"""{docstring}\n"""', "    ")


@cache
def _docstrings() -> Mapping[str, Mapping[str, str]]:
    """Return the docstrings of the runtime by module of overloads and name of function."""
    runtime = importlib.util.find_spec("typed_nnx")
    assert runtime is not None
    assert runtime.origin is not None
    found: dict[str, dict[str, str]] = {}
    for path in sorted(Path(runtime.origin).parent.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        modules = {
            alias.asname or alias.name: f"{node.module}.{alias.name}"
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
            if alias.name.endswith("_overloads")
        }
        for function, docstring in _functions(tree):
            for decorator in function.decorator_list:
                match decorator:
                    case ast.Call(
                        func=ast.Name(id="typed_as"),
                        args=[ast.Lambda(body=ast.Attribute(value=ast.Name(id=alias), attr=name))],
                    ):
                        found.setdefault(modules[alias], {})[name] = docstring
    return found


def _functions(tree: ast.AST) -> Iterator[tuple[ast.FunctionDef, str]]:
    """Yield functions with their docstrings; a constructor without one has that of its class."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef):
            for child in node.body:
                if isinstance(child, ast.FunctionDef):
                    yield child, ast.get_docstring(child) or ast.get_docstring(node) or ""
