"""Generated code has no parentheses that nothing needs, and no locals that nothing reads."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import libcst as cst
import pytest

from typed_nnx_codegen.migrate.linen.write.tidying import renumbered, simple, without_unread


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


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("x_features_4 = a", "self.b = g(x_features_4)"), {"x_features"}),
        (("x_features_4 = a", "x_features_7 = x_features_4 + 1"), {"x_features", "x_features_2"}),
        (("x_features = a", "x_features_7 = x_features + 1"), {"x_features", "x_features_2"}),
        (("self.x_features = a", "x_features_2 = g(x_features=a)"), {"x_features"}),
        (("x_features_3 = given_features_2",), {"x_features"}),
        (("first_2 = a", "h_sizes_2 = [first_2]"), {"first_2", "h_sizes"}),
    ],
)
def test_locals_for_sizes_have_the_first_numbers_and_mean_the_same(
    lines: tuple[str, ...], expected: set[str]
) -> None:
    head = "def f(self, a, g, given_features_2=5):\n    "
    node = cst.parse_statement(head + "\n    ".join((*lines, "self.all = locals()", "return self")))
    assert isinstance(node, cst.FunctionDef)

    def run(function: cst.FunctionDef) -> tuple[set[str], list[object], dict[str, object]]:
        names: dict[str, Any] = {}
        exec(cst.Module([function]).code, names)
        held = names["f"](SimpleNamespace(), 3, lambda *args, **kwargs: (args, kwargs)).__dict__
        made = {name: each for name, each in held.pop("all").items() if name not in _GIVEN}
        return {*made}, [*made.values()], held

    names, values, held = run(renumbered(node))

    assert names == expected
    assert (values, held) == run(node)[1:]


_GIVEN = {"self", "a", "g", "given_features_2"}
