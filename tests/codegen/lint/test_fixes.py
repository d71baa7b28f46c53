"""Quick fixes: what a text is after one, and where there is none."""

from __future__ import annotations

import pytest

from typed_nnx_codegen.lint.fixes import fixes_of
from typed_nnx_codegen.sarif.reports import Report

HEAD = "import typed_nnx as nnx\n"


def after_fixes(source: str, part: str, code: str, fix: str) -> list[str]:
    """Return the second and later lines after each fix of a report about a part of them."""
    text = HEAD + source
    before, _, _ = text.partition(part)
    line, column = before.count("\n") + 1, len(before.rpartition("\n")[2])
    end_line = line + part.count("\n")
    end_column = len(part.rpartition("\n")[2]) + (0 if "\n" in part else column)
    report = Report(
        "a.py", line, column, end_line, end_column, f"Is wrong. Fix: {fix}", "", code, "error"
    )
    found = []
    for each in fixes_of(report, text):
        lines = text.splitlines(keepends=True)
        for edit in sorted(each.edits, key=lambda edit: edit.start, reverse=True):
            at = [
                sum(map(len, lines[: row - 1])) + column for row, column in (edit.start, edit.end)
            ]
            whole = "".join(lines)
            lines = (whole[: at[0]] + edit.text + whole[at[1] :]).splitlines(keepends=True)
        found.append("".join(lines).removeprefix(HEAD))
    return found


LIST_OR_DATA = "assign `nnx.List(...)` or `nnx.data(...)`"


@pytest.mark.parametrize(
    ("source", "part", "code", "fix", "expected"),
    [
        pytest.param(
            "m.x = [a for a in b]\n",
            "m.x = [a for a in b]",
            "nnx-plain-container",
            LIST_OR_DATA,
            ["m.x = nnx.List([a for a in b])\n", "m.x = nnx.data([a for a in b])\n"],
            id="list",
        ),
        pytest.param(
            "m.x = a, b\n", "m.x = a, b", "nnx-plain-container", "assign `nnx.data(...)`",
            ["m.x = nnx.data((a, b))\n"], id="tuple without parentheses",
        ),
        pytest.param(
            "m.x: list[A] = [\n    a,  # é\n]\n", "m.x: list[A] = [\n    a,  # é\n]", "nnx-plain-container",
            "assign `nnx.List(...)`", ["m.x: list[A] = nnx.List([\n    a,  # é\n])\n"], id="lines",
        ),
        pytest.param(
            "é = 1; m.x = [a]\n", "m.x = [a]", "nnx-plain-container", "assign `nnx.List(...)`",
            ["é = 1; m.x = nnx.List([a])\n"], id="not ASCII",
        ),
        pytest.param(
            "class B:\n    x: list[A]\n", "x: list[A]", "nnx-plain-container", "write `x: ... = nnx.data()`",
            ["class B:\n    x: list[A] = nnx.data()\n"], id="field",
        ),
        pytest.param(
            "m.x = nnx.static(ones(3))\n", "ones(3)", "nnx-static-data",
            "write `nnx.data(...)`, or no mark where it is assigned alone", ["m.x = nnx.data(ones(3))\n"], id="static",
        ),
        pytest.param(
            "nnx.split(m, ..., P,  # one\n  Q)\n", "...", "nnx-filter-order", "move it to the end",
            ["nnx.split(m, P, Q,  # one\n  ...)\n"], id="order",
        ),
        pytest.param(
            "s.linaer.kernel\n", "s.linaer", "nnx-state-key", "did you mean 'linear'?",
            ["s.linear.kernel\n"], id="attribute",
        ),
        pytest.param(
            "s['linaer']\n", "s['linaer']", "nnx-state-key", "did you mean 'linear'?", ['s["linear"]\n'], id="key",
        ),
        pytest.param(
            "s.x['0'].y\n", "s.x['0']", "nnx-state-key", "index it with 0", ["s.x[0].y\n"], id="index",
        ),
        pytest.param(
            "jnp.exp(m.x)\n", "m.x", "nnx-variable-array", "m.x[...]", ["jnp.exp(m.x[...])\n"], id="array",
        ),
        pytest.param(
            "nnx.grad(f, argnum=(0, 1))\n", "nnx.grad(f, argnum=(0, 1))", "nnx-call",
            "write argnums= for argnum=", ["nnx.grad(f, argnums=(0, 1))\n"], id="argument",
        ),
    ],
)  # fmt: skip
def test_a_fix_writes_what_the_report_asks_for(
    source: str, part: str, code: str, fix: str, expected: list[str]
) -> None:
    assert after_fixes(source, part, code, fix) == expected


@pytest.mark.parametrize(
    ("source", "part", "code", "fix"),
    [
        ("f(x)\n", "f(x)", "nnx-state-mismatch", "give it a State of Model"),
        ("s.lin\n", "s.lin", "nnx-state-key", "use one of them"),
        ("s.first\n", "s.first", "nnx-state-key", "index it with a number"),
        ("nnx.split(m, *f, ..., P)\n", "...", "nnx-filter-order", "move it to the end"),
        ("jnp.where(c, m.x, 0)\n", "jnp.where(c, m.x, 0)", "nnx-variable-array", "m.x[...]"),
        ("nnx.split()\n", "nnx.split()", "nnx-call", "give it"),
        ("nnx.split(m, P, Q)\n", "Q", "nnx-filter-order", "put Q before P"),
        ("m.x = [a]\n(\n", "m.x = [a]", "nnx-plain-container", LIST_OR_DATA),
        ("x = f(\n    a)\n", "a", "nnx-plain-container", LIST_OR_DATA),
    ],
)
def test_there_is_none_where_what_to_write_is_not_certain(
    source: str, part: str, code: str, fix: str
) -> None:
    assert after_fixes(source, part, code, fix) == []


def test_there_is_none_where_the_file_has_no_name_for_the_runtime() -> None:
    report = Report(
        "a.py", 1, 0, 1, 9, f"No. Fix: {LIST_OR_DATA}", "", "nnx-plain-container", "error"
    )
    assert fixes_of(report, "m.x = [a]\n") == []
    (first, _) = fixes_of(report, "m.x = [a]\nfrom flax import nnx as n\n")
    assert first.edits[0].text == "n.List([a])"
