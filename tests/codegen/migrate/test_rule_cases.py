"""Each rule does what its case file says, and a second run changes nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, cast

import pytest

from tests.codegen.migrate.case_files import CASES, KINDS, Case, case_parameters, read_cases
from typed_nnx_codegen.migrate.engine import migrate_text
from typed_nnx_codegen.migrate.options import Options
from typed_nnx_codegen.migrate.project import Project
from typed_nnx_codegen.migrate.registry import Rule, all_rules

HERE = Path(__file__)


def migrated(text: str, options: Options) -> str:
    return migrate_text(text, HERE.parent / "case.py", Project((HERE,)), options).text


def options_of(case: Case) -> Options:
    codes = None if case.runs_all else frozenset({case.code})
    return Options(cast("Literal['typed_nnx', 'flax.nnx']", case.target), codes)


@pytest.mark.parametrize("case", case_parameters())
def test_a_rule_gives_what_its_case_says(case: Case) -> None:
    after = migrated(case.before, options_of(case))

    assert after == case.after
    assert migrated(after, options_of(case)) == after


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_each_rule_has_cases_of_each_kind(rule: type[Rule]) -> None:
    kinds = {case.kind for case in read_cases(CASES / f"{rule.code.lower()}.txt")}

    assert set(KINDS) <= kinds


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_the_example_of_a_rule_is_what_it_does(rule: type[Rule]) -> None:
    assert migrated(rule.before, Options()) == rule.after
    assert rule.__doc__
    # Flax itself is imported by the last release too.
    assert bool(rule.since) == (rule.code != "TN101")
