"""docs/mypy-plugin.md: a section for each error code, whose examples are what they say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.mypy_plugin.page_examples import (
    PAGE,
    UNDERSTOOD,
    codes,
    revealed,
    said_of_page,
    sections,
)
from typed_nnx_mypy.errorcodes import ALL

CODES = [code.code for code in ALL]
with_each_code = pytest.mark.parametrize("code", CODES)


def test_the_page_has_a_section_for_each_code_in_order() -> None:
    assert codes() == CODES


def test_the_table_of_the_page_has_each_code_with_its_description() -> None:
    rows = re.findall(r"^\| \[`(nnx-[\w-]+)`\]\(#(.+?)\) \| (.+) \|$", PAGE.read_text(), flags=re.M)
    assert rows == [(code.code, code.code, code.description) for code in ALL]


@with_each_code
def test_a_section_says_why_how_to_fix_it_and_what_is_not_reported(code: str) -> None:
    text = sections()[code].text
    parts = [text.find(f"**{part}") for part in ("Why", "How to fix", "Not reported")]
    assert -1 not in parts
    assert parts == sorted(parts)


@with_each_code
def test_the_wrong_example_of_a_section_is_reported(code: str, shared_folder: Path) -> None:
    said = said_of_page(shared_folder)[f"{code} wrong"]
    assert code in {report.code for report in said}
    assert [report for report in said if report.code == "name-defined"] == []


@with_each_code
def test_the_right_example_of_a_section_is_not_reported(code: str, shared_folder: Path) -> None:
    said = said_of_page(shared_folder)[f"{code} right"]
    assert [report for report in said if report.line > 0] == []


def test_the_types_on_the_page_are_those_that_mypy_infers(shared_folder: Path) -> None:
    section = sections()[UNDERSTOOD]
    said = said_of_page(shared_folder)[UNDERSTOOD]
    assert revealed(said) == re.findall(r"reveal_type\(.*\) +# (.+)", section.blocks[0])
    marked = [
        number
        for number, line in enumerate(section.blocks[0].splitlines(), start=1)
        if "# error" in line
    ]
    assert [report.line for report in said if report.kind == "E"] == marked
