"""The code of README, docs and examples is right for mypy and pyright, with the installed stubs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.docs.typed_pages import PAGES, PLANTED, PROGRAMS, check_examples, module_of
from tests.docs.untyped_lines import REFUSED
from tests.support.type_checkers import CHECKERS, REPOSITORY, Finding, Findings, findings_once

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

with_each_checker = pytest.mark.parametrize("checker", CHECKERS)


@pytest.fixture(scope="session")
def findings(shared_folder: Path) -> Findings:
    """The errors of each checker in each example; the workers of a run share one run of each."""
    return findings_once("typed_examples", shared_folder, check_examples)


def refused_in(findings: Findings, checker: str, page: str) -> Iterator[tuple[str, Finding]]:
    """Yield the errors in a page, each with the text of its line."""
    lines = (REPOSITORY / page).read_text(encoding="utf-8").splitlines()
    for finding in findings[checker][page]:
        yield lines[finding.line - 1].strip(), finding


@pytest.mark.thorough
@pytest.mark.parametrize("page", PAGES)
@with_each_checker
def test_the_code_of_a_page_has_no_type_error_without_a_reason(
    findings: Findings, checker: str, page: str
) -> None:
    allowed = {one.line for one in REFUSED if one.page == page}
    refused = refused_in(findings, checker, page)
    assert [(f"{page}:{one.line}", one.message) for at, one in refused if at not in allowed] == []


@pytest.mark.thorough
@pytest.mark.parametrize("program", PROGRAMS)
@with_each_checker
def test_a_program_of_the_examples_has_no_type_error(
    findings: Findings, checker: str, program: str
) -> None:
    assert findings[checker][program] == []


@pytest.mark.thorough
def test_every_line_with_a_reason_is_one_that_a_checker_refuses(findings: Findings) -> None:
    found = {
        (page, at)
        for checker in CHECKERS
        for page in PAGES
        for at, _ in refused_in(findings, checker, page)
    }
    assert {(one.page, one.line) for one in REFUSED} - found == set()


@pytest.mark.thorough
@with_each_checker
def test_an_error_on_a_page_is_found_also_in_a_function_without_annotations(
    findings: Findings, checker: str
) -> None:
    lines = PLANTED.splitlines()
    found = {lines[one.line - 1].strip() for one in findings[checker]["planted"]}
    assert found == {"return model.nothing", 'model.norm = nnx.BatchNorm("4", rngs=nnx.Rngs(0))'}


def test_the_lines_of_a_page_keep_their_places() -> None:
    page = "words\n```python\nx = 1\n```\nmore\n\n```text\n1\n```\n```python\ny = x\n```\n"
    lines = module_of(page).splitlines()
    assert {number: line for number, line in enumerate(lines, start=1) if line} == {
        3: "x = 1",
        11: "y = x",
    }
