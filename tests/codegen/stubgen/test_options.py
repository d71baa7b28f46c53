"""stubtest cannot compare these functions: that the first argument may be missing is an overload."""

from __future__ import annotations

import ast
import importlib
import inspect

import pytest

from typed_nnx_codegen.stubgen.families import compiled, mapped
from typed_nnx_codegen.stubgen.families.decorating import Decorating

ROWS = (*compiled.TABLE, *mapped.TABLE, compiled.MAKE_JAXPR)


def _declared(row: Decorating) -> ast.arguments:
    (function,) = ast.parse(f"def f(*, {', '.join(row.options)}): ...").body
    assert isinstance(function, ast.FunctionDef)
    return function.args


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_transform_has_the_options_and_defaults_of_its_stub(row: Decorating) -> None:
    module = importlib.import_module(f"typed_nnx._transforms.{row.name}")
    first, *options = inspect.signature(getattr(module, row.name)).parameters.values()
    declared = _declared(row)
    assert first.name == row.parameter
    assert [option.name for option in options] == [found.arg for found in declared.kwonlyargs]
    for option, default in zip(options, declared.kw_defaults, strict=True):
        if default is None:
            assert option.default is inspect.Parameter.empty
            continue
        text = ast.unparse(default)
        assert option.default is not inspect.Parameter.empty
        assert text == "..." or repr(option.default) == text
