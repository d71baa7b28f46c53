from __future__ import annotations

import ast
import importlib
import inspect
from pathlib import Path

import pytest

from tests.stubs.modules import MODULES, STUBS, module_of

Function = ast.FunctionDef | ast.AsyncFunctionDef
BY_KEYWORD = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
WITH_STUBS = pytest.mark.parametrize("module", MODULES)


def public_functions(stub: str) -> dict[str, list[ast.FunctionDef]]:
    """Return the public functions of a stub, each with all its overloads."""
    found: dict[str, list[ast.FunctionDef]] = {}
    for node in ast.parse(stub).body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            found.setdefault(node.name, []).append(node)
    return found


def keywords_of(overload: ast.FunctionDef) -> set[str]:
    """Return what may be given by keyword; a name that begins with ``_`` only stands in a place."""
    names = {argument.arg for argument in (*overload.args.args, *overload.args.kwonlyargs)}
    return {name for name in names if not name.startswith("_")}


def before_more(signature: inspect.Signature) -> set[str]:
    """Return the parameters before a ``*args``, if there is one."""
    names = list(signature.parameters)
    kinds = [one.kind for one in signature.parameters.values()]
    more = inspect.Parameter.VAR_POSITIONAL
    return set(names[: kinds.index(more)]) if more in kinds else set()


def test_there_are_stubs_and_each_has_a_module() -> None:
    assert MODULES
    for module in MODULES:
        importlib.import_module(module)


def test_a_stub_of_a_package_has_the_name_of_the_package() -> None:
    assert module_of("_graph/pop.pyi") == "typed_nnx._graph.pop"
    assert module_of("nn/__init__.pyi") == "typed_nnx.nn"


@WITH_STUBS
def test_what_can_be_given_by_keyword_is_the_same_in_the_stub(module: str) -> None:
    source = importlib.import_module(module)
    differing = {}
    for name, overloads in public_functions(MODULES[module].read_text(encoding="utf-8")).items():
        signature = inspect.signature(getattr(source, name))
        expected = {
            one.name
            for one in signature.parameters.values()
            if one.kind in BY_KEYWORD and not one.name.startswith("_")
        }
        found = set().union(*map(keywords_of, overloads))
        # What stands before `*filters` is given by position, as soon as there are filters.
        expected -= before_more(signature) - found
        if expected != found:
            differing[name] = sorted(expected ^ found)
    assert differing == {}


def test_the_stub_package_holds_stubs_only() -> None:
    others = {path.name for path in STUBS.rglob("*") if path.is_file() and path.suffix != ".pyi"}
    assert others == {"py.typed"}
    assert (STUBS / "py.typed").read_text(encoding="utf-8") == "partial\n"


@WITH_STUBS
def test_a_stub_says_that_it_is_generated(module: str) -> None:
    header = Path(MODULES[module]).read_text(encoding="utf-8").splitlines()[0]
    assert "Do not edit." in header
    assert "make stubs" in header
