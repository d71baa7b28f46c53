"""Types in quotes are rewritten as code is; other strings and comments stay."""

from __future__ import annotations

from pathlib import Path

import pytest

from typed_nnx_codegen.migrate.engine import migrate_text
from typed_nnx_codegen.migrate.findings import CHANGED, DECIDE, Migrated
from typed_nnx_codegen.migrate.options import FLAX_NNX, Options
from typed_nnx_codegen.migrate.project import Project

HERE = Path(__file__)
HEAD = """\
from typing import Annotated, Literal, Optional, TypeVar, cast
from flax import nnx
"""


def migrated(text: str) -> Migrated:
    options = Options(FLAX_NNX)
    found = migrate_text(HEAD + text, HERE.parent / "case.py", Project((HERE,)), options)
    assert migrate_text(found.text, HERE, Project((HERE,)), options).text == found.text
    return found


def body(text: str) -> str:
    return migrated(text).text.removeprefix(HEAD)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            'def f(v: "nnx.VariableState"): ...', 'def f(v: "nnx.Variable"): ...', id="parameter"
        ),
        pytest.param(
            'def f() -> "list[nnx.VariableState]": ...',
            'def f() -> "list[nnx.Variable]": ...',
            id="result",
        ),
        pytest.param(
            "x: 'nnx.VariableState | None' = None", "x: 'nnx.Variable | None' = None", id="quotes"
        ),
        pytest.param(
            'x: Optional["nnx.VariableState"]', 'x: Optional["nnx.Variable"]', id="generic"
        ),
        pytest.param(
            'A = dict[str, "nnx.VariableState"]', 'A = dict[str, "nnx.Variable"]', id="alias"
        ),
        pytest.param(
            "x: \"Optional['nnx.VariableState']\"", "x: \"Optional['nnx.Variable']\"", id="nested"
        ),
        pytest.param(
            'x: Annotated["nnx.VariableState", "nnx.VariableState"]',
            'x: Annotated["nnx.Variable", "nnx.VariableState"]',
            id="annotated",
        ),
        pytest.param('x: """nnx.VariableState"""', 'x: """nnx.Variable"""', id="three_quotes"),
        pytest.param('x: r"nnx.VariableState"', 'x: r"nnx.Variable"', id="prefix"),
        pytest.param('y = cast("nnx.VariableState", 1)', 'y = cast("nnx.Variable", 1)', id="cast"),
        pytest.param(
            'T = TypeVar("T", bound="nnx.VariableState")',
            'T = TypeVar("T", bound="nnx.Variable")',
            id="bound",
        ),
    ],
)
def test_a_type_in_quotes_is_rewritten_in_its_quotes(before: str, after: str) -> None:
    assert body(before + "\n") == after + "\n"


@pytest.mark.parametrize(
    "text",
    [
        'x = "nnx.VariableState"',
        'x: Literal["nnx.VariableState"]',
        'x: str = "nnx.VariableState"',
        'print("nnx.VariableState")',
        'y = cast(str, "nnx.VariableState")',
        'd = {}\ne = d["nnx.VariableState"]',
        "def f(x):\n    # type: (nnx.VariableState) -> None\n    return x",
        "x = []  # type: list[nnx.VariableState]",
        'x: "nnx.VariableState of what"',
        'x: "nnx.\\x56ariableState"',
        'x: "other.VariableState"',
        'def f(nnx):\n    y: "nnx.VariableState"',
        'x: dict[str, int] = dict(name="nnx.VariableState")',
    ],
    ids=lambda text: text.replace(" ", "_").replace("\n", "/"),
)
def test_other_strings_and_comments_stay(text: str) -> None:
    assert body(text + "\n") == text + "\n"


def test_a_name_that_only_quotes_use_is_renamed_with_its_import() -> None:
    found = migrated('from flax.nnx import VariableState\ndef f(v: "VariableState"): ...\n')

    assert found.text == HEAD + 'from flax.nnx import Variable\ndef f(v: "Variable"): ...\n'


def test_what_changed_in_quotes_is_reported_at_the_string() -> None:
    found = migrated('def f(v: "nnx.VariableState"): ...\n')

    assert [(one.line, one.column, one.kind, one.before, one.after) for one in found.findings] == [
        (3, 9, CHANGED, '"nnx.VariableState"', '"nnx.Variable"')
    ]


def test_what_a_person_decides_in_quotes_is_marked_above_the_statement() -> None:
    found = migrated('x: "nnx.ForkStates"\n')

    assert [(one.code, one.kind, one.before) for one in found.findings] == [
        ("TN124", DECIDE, '"nnx.ForkStates"')
    ]
    twice = migrated('x: "nnx.ForkStates"\ny: "nnx.ForkStates"\n')
    assert [(one.line, one.kind) for one in twice.findings] == [(3, DECIDE), (4, DECIDE)]
    lines = found.text.removeprefix(HEAD).splitlines()
    assert lines[0].startswith("# TODO[typed-nnx] TN124")
    assert lines[1] == 'x: "nnx.ForkStates"'


def test_a_parameter_does_not_hide_the_package_from_its_own_annotation() -> None:
    text = "def f(nnx: 'nnx.VariableState', a: 'nnx.VariableState') -> 'nnx.VariableState': ...\n"

    assert body(text) == text.replace("VariableState", "Variable")


def test_the_same_text_in_another_scope_is_another_type() -> None:
    text = """\
def f(a: "VariableState"):
    from flax.nnx import VariableState
    b: "VariableState"
def g(a: "nnx.VariableState"):
    nnx = a
    b: "nnx.VariableState"
"""
    after = text.replace(
        'import VariableState\n    b: "VariableState', 'import Variable\n    b: "Variable'
    )

    assert body(text) == after.replace('g(a: "nnx.VariableState"', 'g(a: "nnx.Variable"')


def test_a_spelled_out_package_in_quotes_is_imported() -> None:
    text = 'import flax\n\nx: "flax.nnx.VariableState"\n'
    found = migrate_text(text, HERE.parent / "case.py", Project((HERE,)), Options())

    assert found.text == 'import typed_nnx\n\nx: "typed_nnx.Variable"\n'
