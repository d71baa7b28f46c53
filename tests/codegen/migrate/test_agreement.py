"""The rules of the codemod and those of the plugin for mypy are the same."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from flax import nnx

import typed_nnx.compat
from tests.codegen.migrate.older_spellings import GONE, WORKING, program_of
from typed_nnx_codegen.migrate import registry
from typed_nnx_codegen.migrate.engine import migrate_text
from typed_nnx_codegen.migrate.findings import Finding
from typed_nnx_codegen.migrate.options import Options
from typed_nnx_codegen.migrate.project import Project
from typed_nnx_codegen.migrate.registry import all_rules
from typed_nnx_codegen.migrate.rule_info import known_rules
from typed_nnx_codegen.migrate.selection import release_of, selected

HERE = Path(__file__)


def findings_of(text: str) -> Sequence[Finding]:
    found = migrate_text(text, HERE.parent / "case.py", Project((HERE,)), Options())
    return found.findings


@pytest.mark.parametrize("code", sorted({*GONE, *WORKING}))
def test_an_older_spelling_the_rule_of_its_number_rewrites_or_marks(code: str) -> None:
    text, lines = program_of([*GONE.get(code, ()), *WORKING.get(code, ())])
    found = {finding.line for finding in findings_of(text) if finding.code == code}

    assert [lines[line] for line in lines.keys() - found] == []


def test_every_older_name_of_the_runtimes_has_a_rule() -> None:
    older = {*typed_nnx.compat._OLDER, *_deprecated_functions()}

    assert {"ModuleDef", "VariableState", "pure"} <= older
    for name in sorted(older):
        findings = findings_of(f"from flax import nnx\n\nx = nnx.{name}\n")
        assert {finding.line for finding in findings} >= {3}, name


@pytest.mark.parametrize(
    "rule", [rule for rule in all_rules() if rule.since], ids=lambda rule: rule.code
)
def test_what_does_not_work_any_more_is_gone_from_a_minor_release_on(
    rule: type[registry.Rule],
) -> None:
    # Of older releases not every patch was run: a spelling may be gone earlier than it says.
    assert (0, 8, 0) < rule.since <= (0, 12, 8)
    assert rule.still_works or rule.since[2] == 0 or rule.since[:2] >= (0, 11)


@pytest.mark.parametrize(
    ("release", "there", "left_out"),
    [
        ("0.8", {"TN101", "TN102", "TN118", "TN120"}, set()),
        ("0.10", {"TN101", "TN118", "TN120"}, {"TN102", "TN115"}),
        ("0.12", {"TN101", "TN103", "TN120", "TN126"}, {"TN102", "TN118", "TN110"}),
        ("0.12.8", {"TN101", "TN120", "TN130"}, {"TN110", "TN126"}),
    ],
)
def test_a_version_step_has_what_code_for_that_release_may_have(
    release: str, there: set[str], left_out: set[str]
) -> None:
    codes = {rule.code for rule in selected(known_rules(), version=release_of(release))}

    assert there <= codes
    assert not codes & left_out


def _deprecated_functions() -> set[str]:
    """Return the functions of flax that are wrapped in a warning."""
    codes = {name: getattr(getattr(nnx, name, None), "__code__", None) for name in dir(nnx)}
    return {
        name
        for name, code in codes.items()
        if code is not None and Path(code.co_filename).name == "deprecations.py"
    }
