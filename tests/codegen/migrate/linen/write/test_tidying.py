"""Generated code has no parentheses that nothing needs, and no locals that nothing reads."""

from __future__ import annotations

import libcst as cst
import pytest

from typed_nnx_codegen.migrate.linen.write.tidying import simple, without_unread


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


@pytest.mark.parametrize(
    ("added", "is_kept"), [("len(each)", False), ("count_of(each)", True)], ids=["pure", "effect"]
)
def test_a_local_that_only_a_sum_reads_goes_with_the_sum_or_stays_with_it(
    added: str, is_kept: bool
) -> None:
    code = f"def f(xs):\n    n = 0\n    for each in xs:\n        n += {added}\n    return xs\n"
    node = cst.parse_statement(code)
    assert isinstance(node, cst.FunctionDef)
    after = without_unread(
        node, ["n", "each"], lambda one: "count_of" not in cst.Module([]).code_for_node(one)
    )
    assert cst.Module([after]).code == (code if is_kept else "def f(xs):\n    return xs\n")
