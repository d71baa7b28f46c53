"""Generated code has no parentheses that nothing needs."""

from __future__ import annotations

import libcst as cst
import pytest

from typed_nnx_codegen.migrate.linen.write.tidying import simple


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f(size=(a + b), other=((x)))", "f(size=a + b, other=x)"),
        ("f(size=((2 * a),), x=(yield))", "f(size=(2 * a,), x=(yield))"),
        ("f(shape=(*in_shape,), own=(*given,))", "f(shape=in_shape, own=(*given,))"),
        ("(len(in_shape[:])) * 2 - (a - b)", "len(in_shape) * 2 - (a - b)"),
    ],
)
def test_generated_code_has_no_parentheses_that_nothing_needs(before: str, after: str) -> None:
    header = "def f(in_shape: tuple[int, ...]):\n    "
    node = cst.parse_statement(header + before)
    assert isinstance(node, cst.FunctionDef)
    assert cst.Module([simple(node)]).code == f"{header}{after}\n"
