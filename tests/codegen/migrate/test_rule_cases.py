"""Each rule does what its case file says, and a second run changes nothing."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal, cast

import pytest

from tests.codegen.migrate.case_files import CASES, Case, case_parameters, read_cases
from typed_nnx_codegen.migrate.engine import migrate_text
from typed_nnx_codegen.migrate.options import FLAX_NNX, Options
from typed_nnx_codegen.migrate.project import Project
from typed_nnx_codegen.migrate.registry import Rule, all_rules

HERE = Path(__file__)
each_rule = pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)


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


@each_rule
def test_each_rule_has_a_case_that_it_does_something_about_and_one_that_it_leaves(
    rule: type[Rule],
) -> None:
    kinds = {case.kind for case in read_cases(CASES / f"{rule.code.lower()}.txt")}

    assert "no-op" in kinds
    assert kinds & {"rewrite", "marker"}


@each_rule
def test_the_example_of_a_rule_is_what_it_does(rule: type[Rule]) -> None:
    assert migrated(rule.before, Options()) == rule.after
    assert rule.__doc__
    # Flax itself is imported by the last release too.
    assert bool(rule.since) == (rule.code != "TN101")


@each_rule
def test_a_rule_knows_the_package_by_another_name(rule: type[Rule]) -> None:
    before, after = (
        "\n".join(
            line if "TODO" in line else re.sub(r"\bnnx\b", "other", line)
            for line in text.splitlines()
        ).replace("import other", "import nnx as other")
        for text in (rule.before, rule.after)
    )
    assert migrated(before, Options()) == after.replace("typed_nnx as nnx as", "typed_nnx as")


@each_rule
def test_a_rule_leaves_another_package_of_the_same_name(rule: type[Rule]) -> None:
    text = re.sub(r"from flax(\.experimental)? import nnx", "from other import nnx", rule.before)
    text = f"from flax import nnx as unused\n{text}"

    after = migrated(text, Options(FLAX_NNX, frozenset({rule.code})))
    # Of something unknown it may say what is to write if it is of NNX.
    assert "".join(line for line in after.splitlines(True) if "TODO" not in line) == text
