from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.assert_type.checked import CASES, MISTAKES, PLANTED, check_cases
from tests.assert_type.marks import BadMark, Mark, complaints, marks_of
from tests.support.type_checkers import CHECKERS, Finding, Findings, findings_once

if TYPE_CHECKING:
    from pathlib import Path

with_each_checker = pytest.mark.parametrize("checker", CHECKERS)


@pytest.fixture(scope="session")
def findings(shared_folder: Path) -> Findings:
    """The errors of each checker in each file; the workers of a test run share one run of each."""
    return findings_once("assert_type", shared_folder, lambda: check_cases(CASES))


@pytest.mark.thorough
@pytest.mark.parametrize("case", CASES)
@with_each_checker
def test_types_and_errors_are_as_the_case_file_says(
    findings: Findings, checker: str, case: str
) -> None:
    assert complaints(checker, CASES[case], findings[checker].get(case, [])) == []


@pytest.mark.thorough
@with_each_checker
def test_the_models_of_the_case_files_have_no_error(findings: Findings, checker: str) -> None:
    assert findings[checker].get("models", []) == []


@pytest.mark.thorough
@with_each_checker
def test_mistakes_in_a_case_file_are_found(findings: Findings, checker: str) -> None:
    found = complaints(checker, PLANTED, findings[checker]["planted"])
    assert len(found) == len(MISTAKES)
    for complaint, (line, says) in zip(found, MISTAKES.items(), strict=True):
        assert complaint.startswith(f"line {line}: {checker} {says}")


def test_a_mark_names_both_checkers_or_one_with_a_reason() -> None:
    source = (
        "a  # E\n"
        "b  # E: [call-arg|reportCallIssue]\n"
        "c  # E mypy: pyright has no plugin\n"
        "d  # E pyright: mypy gives Any\n"
        "e  # Each of these is no mark\n"
        "f = '# E'\n"
    )
    assert marks_of(source) == [
        Mark(1, {"mypy": "", "pyright": ""}),
        Mark(2, {"mypy": "call-arg", "pyright": "reportCallIssue"}),
        Mark(3, {"mypy": ""}),
        Mark(4, {"pyright": ""}),
    ]


@pytest.mark.parametrize(
    "comment", ["# E mypy", "# E pyright:", "# E: arg-type", "# E: [arg-type]", "#E", "# E flax: x"]
)
def test_a_mark_that_cannot_be_read_is_an_error(comment: str) -> None:
    with pytest.raises(BadMark, match="line 2: .*is no mark(.|\n)*Fix: "):
        marks_of(f"\nx  {comment}\n")


def test_a_mark_for_one_checker_says_nothing_of_the_other() -> None:
    finding = Finding("a.py", 1, "misc", "wrong")
    source = "x  # E mypy: pyright does not know\n"
    assert complaints("mypy", source, [finding]) == []
    assert complaints("pyright", source, []) == []
    assert complaints("pyright", source, [finding]) == [
        "line 1: pyright reports an error that is not marked: wrong [misc]"
    ]
