"""Statements are laid out as ruff does; ruff is the oracle."""

from __future__ import annotations

import sys
from pathlib import Path

import libcst as cst
import pytest

from tests.support.processes import run_process
from typed_nnx_codegen.migrate.linen.write.layout import Fitter, Quoted, line_width, simple

STATEMENTS = {
    "a call that fits": "x = nnx.Linear(in_features, features, rngs=rngs)",
    "arguments on one line": "self.first_layer = nnx.Linear(in_features, self.features, rngs=rngs)",
    "arguments on a line each": (
        "self.first_layer = nnx.Linear(in_features, self.features, kernel_init=kernel_init, rngs=rngs)"
    ),
    "a call of a call": (
        "self.critics = nnx.vmap(lambda rngs: Critic(widths, action_features=action_features,"
        " rngs=rngs))(rngs.split(self.n_critics))"
    ),
    "an operation": (
        "self.x = nnx.Linear(64 * (in_shape[-2] // 2 // 2) * (in_shape[-3] // 2 // 2)"
        " * math.prod(in_shape[:-3]), 512, rngs=rngs)"
    ),
    "a value that is chosen": (
        "self.layers = Layers(in_features=self.hidden_layer_sizes[-1] if self.hidden_layer_sizes"
        " else in_features, rngs=rngs)"
    ),
    "a comprehension": (
        "self.blocks = nnx.List([Block(width, in_features=in_features, rngs=rngs)"
        " for width in self.widths if width])"
    ),
    "a dict and a list": (
        "table = {'first': [some_long_name, another_long_name, yet_another_name], 'second': None}"
    ),
    "a function as an argument": (
        "apply = wrapped(lambda variables, obs, **options: apply_with(partial(critic,"
        " in_features=obs.shape[-1]), variables, obs, **options))"
    ),
}


@pytest.mark.parametrize("width", [60, 72, 88])
@pytest.mark.parametrize("statement", STATEMENTS.values(), ids=list(STATEMENTS))
def test_a_statement_has_the_lines_that_ruff_gives_it(statement: str, width: int) -> None:
    module = cst.parse_module(statement)
    (line,) = module.body
    assert isinstance(line, cst.SimpleStatementLine)
    quoted = line.visit(Quoted('"'))
    assert isinstance(quoted, cst.SimpleStatementLine)
    written = module.with_changes(body=[Fitter(width, 0).statement(quoted)]).code
    assert written.strip() == by_ruff(written, width).strip()


def by_ruff(text: str, width: int) -> str:
    """Return a text as ruff formats it."""
    command = (sys.executable, "-m", "ruff", "format", "--isolated", f"--line-length={width}", "-")
    return run_process(
        command, timeout=60, input=text, capture_output=True, text=True, check=True
    ).stdout


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
    node = cst.parse_expression(before)
    assert cst.Module([]).code_for_node(simple(node, frozenset({"in_shape"}), '"')) == after


def test_the_line_length_is_that_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.ruff]\nline-length = 120\n")
    inner = tmp_path / "package"
    inner.mkdir()
    assert line_width(inner) == 120
    (inner / "ruff.toml").write_text("line-length = 70\n")
    line_width.cache_clear()
    assert line_width(inner) == 70
