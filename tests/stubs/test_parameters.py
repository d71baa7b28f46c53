from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

from tests.stubs.modules import MODULES, SOURCE, STUBS, Typed, module_of, typed_functions

Function = ast.FunctionDef | ast.AsyncFunctionDef
BY_KEYWORD = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
WITH_STUBS = pytest.mark.parametrize("module", MODULES)
TYPED = typed_functions()
TRANSFORMS = sorted((SOURCE / "typed_nnx" / "_transforms").glob("*.py"))


def functions_of(stub: str) -> dict[str, list[ast.FunctionDef]]:
    """Return the functions of a stub, each with all its overloads."""
    found: dict[str, list[ast.FunctionDef]] = {}
    for node in ast.parse(stub).body:
        if isinstance(node, ast.FunctionDef):
            found.setdefault(node.name, []).append(node)
    return found


def keywords_of(overload: ast.FunctionDef) -> set[str]:
    """Return what may be given by keyword; a name that begins with ``_`` only stands in a place."""
    names = {argument.arg for argument in (*overload.args.args, *overload.args.kwonlyargs)}
    return {name for name in names if not name.startswith("_") and name != "self"}


def before_more(signature: inspect.Signature) -> set[str]:
    """Return the parameters before a ``*args``, if there is one."""
    names = list(signature.parameters)
    kinds = [one.kind for one in signature.parameters.values()]
    more = inspect.Parameter.VAR_POSITIONAL
    return set(names[: kinds.index(more)]) if more in kinds else set()


def test_every_overload_gives_its_types_to_one_function_of_the_source() -> None:
    declared = {
        (module, name)
        for module, path in MODULES.items()
        for name in functions_of(path.read_text(encoding="utf-8"))
    }
    used = [(each.overloads, each.overload) for each in TYPED]
    assert sorted(used) == sorted(declared)


def test_no_program_can_import_a_module_of_overloads() -> None:
    assert MODULES
    assert [name for name in MODULES if (SOURCE / f"{name.replace('.', '/')}.py").exists()] == []


def test_a_stub_of_a_package_has_the_name_of_the_package() -> None:
    assert module_of("_graph/split_overloads.pyi") == "typed_nnx._graph.split_overloads"
    assert module_of("nn/__init__.pyi") == "typed_nnx.nn"


@pytest.mark.parametrize("typed", TYPED, ids=lambda typed: typed.name)
def test_what_can_be_given_by_keyword_is_the_same_in_the_stub(typed: Typed) -> None:
    overloads = functions_of(MODULES[typed.overloads].read_text(encoding="utf-8"))[typed.overload]
    signature = inspect.signature(typed.function())
    expected = {
        one.name
        for one in signature.parameters.values()
        if one.kind in BY_KEYWORD and not one.name.startswith("_") and one.name != "self"
    }
    found = set().union(*map(keywords_of, overloads))
    # What stands before `*filters` is given by position, as soon as there are filters.
    expected -= before_more(signature) - found
    assert found == expected


@pytest.mark.parametrize("path", TRANSFORMS, ids=lambda path: path.stem)
def test_an_overload_of_a_transform_has_its_options_and_their_defaults(path: Path) -> None:
    functions: dict[str, list[ast.FunctionDef]] = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            functions.setdefault(node.name, []).append(node)
    for *overloads, implementation in functions.values():
        known = defaults_of(implementation)
        for found in map(defaults_of, overloads):
            assert found.keys() == known.keys()
            assert all(default in (None, "...", known[name]) for name, default in found.items())


def defaults_of(function: ast.FunctionDef) -> dict[str, str | None]:
    """Return the defaults of the parameters that are given by name only."""
    parameters = zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
    return {one.arg: ast.unparse(default) if default else None for one, default in parameters}


def test_the_stub_package_holds_stubs_only() -> None:
    others = {path.name for path in STUBS.rglob("*") if path.is_file() and path.suffix != ".pyi"}
    assert others == {"py.typed"}
    assert (STUBS / "py.typed").read_text(encoding="utf-8") == "partial\n"


@WITH_STUBS
def test_a_stub_says_that_it_is_generated(module: str) -> None:
    header = Path(MODULES[module]).read_text(encoding="utf-8").splitlines()[0]
    assert "Do not edit." in header
    assert "make stubs" in header
