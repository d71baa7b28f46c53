"""The case files: mypy says what they say, and notices of each check when it is switched off."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.mypy_plugin.case_files import CASES, RUNTIMES, SECTIONS, CaseFile, Mark, case_files
from tests.mypy_plugin.checked_cases import said_of_cases, said_when_switched_off
from tests.mypy_plugin.run import PLUGIN, Report, differences
from tests.mypy_plugin.switched_off import case_files_of, parts
from typed_nnx_mypy import errorcodes

ALL_FILES = [file for runtime in RUNTIMES for file in case_files(runtime)]
PARTS = parts()

with_each_file = pytest.mark.parametrize(
    "file", ALL_FILES, ids=lambda file: f"{file.name}-{file.runtime}"
)


def codes_in(part: str) -> set[str]:
    """Return the error codes that a module of the plugin reports, by what it imports."""
    path = PLUGIN.parent.joinpath(*part.split(".")).with_suffix(".py")
    return {
        getattr(errorcodes, name.name).code
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module == errorcodes.__name__
        for name in node.names
        if name.name.isupper()
    }


@pytest.mark.thorough
@with_each_file
def test_mypy_says_of_each_line_what_the_case_file_says(
    file: CaseFile, shared_folder: Path
) -> None:
    said = said_of_cases(file.runtime, shared_folder)
    assert differences(file, said.get(file.path.name, [])) == []


@with_each_file
def test_a_case_file_has_its_sections_and_reports_in_one_only(file: CaseFile) -> None:
    lines = file.path.read_text(encoding="utf-8").splitlines()
    sections = [line.removeprefix("# -- ") for line in lines if line.startswith("# -- ")]
    assert [section.split()[0] for section in sections] == list(SECTIONS)
    # What is correct for one check may be a matter of another one.
    own = {code for part in PARTS if file.name in case_files_of(part) for code in codes_in(part)}
    elsewhere = [
        mark
        for mark in file.marks()
        if mark.code in own and file.section_of(mark.line) in ("correct", "unsure")
    ]
    assert elsewhere == []


@pytest.mark.parametrize("part", PARTS)
def test_each_check_and_each_inference_has_a_case_file(part: str) -> None:
    assert [name for name in case_files_of(part) if not (CASES / f"{name}.py").is_file()] == []


def test_each_case_file_is_of_a_check_or_an_inference() -> None:
    known = {name for part in PARTS for name in case_files_of(part)}
    assert {path.stem for path in CASES.glob("*.py")} == known


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("code", [code.code for code in errorcodes.ALL])
def test_each_error_code_is_reported_by_a_case(code: str, runtime: str) -> None:
    assert code in {mark.code for file in case_files(runtime) for mark in file.marks()}


# -- checks that are switched off ---------------------------------------------------------------


PARTS_OF_FILES = [
    (part, file) for file in ALL_FILES for part in PARTS if file.name in case_files_of(part)
]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("part", "file"),
    PARTS_OF_FILES,
    ids=[f"{part.rpartition('.')[2]}-{file.name}-{file.runtime}" for part, file in PARTS_OF_FILES],
)
def test_the_cases_of_a_part_fail_when_it_is_switched_off(
    part: str, file: CaseFile, shared_folder: Path
) -> None:
    said = said_when_switched_off(file.runtime, shared_folder).get(file.path.name, [])
    missing = [each for each in differences(file, said) if "missing: " in each]
    assert missing
    assert [report for report in said if report.code in codes_in(part)] == []


# -- the comparison itself ----------------------------------------------------------------------

SOURCE = """\
import typed_nnx as nnx

# -- reports
a  # E: is wrong  [nnx-axes]
# N: is odd
b
c  # R: State[str]
d  # E flax: is wrong  [nnx-axes]
# -- correct
e
# -- unsure
"""
RIGHT = [
    Report(4, "E", "a is wrong", "nnx-axes"),
    Report(6, "N", "b is odd", ""),
    Report(7, "R", "State[str]", ""),
]


@pytest.fixture
def planted(tmp_path: Path) -> CaseFile:
    """A case file whose cases are known."""
    path = tmp_path / "planted.py"
    path.write_text(SOURCE, encoding="utf-8")
    return CaseFile(path, "typed_nnx")


def test_reports_as_the_marks_say_are_no_difference(planted: CaseFile) -> None:
    assert differences(planted, RIGHT) == []
    assert planted.marks()[1] == Mark(6, "N", "is odd", "")


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        pytest.param(RIGHT[1:], "planted.py:4: missing: E: is wrong [nnx-axes]", id="missing"),
        pytest.param(
            [*RIGHT, Report(10, "E", "so", "misc")],
            "planted.py:10: not expected: E: so [misc]",
            id="more",
        ),
        pytest.param(
            [*RIGHT, RIGHT[0]], "planted.py:4: not expected: E: a is wrong [nnx-axes]", id="twice"
        ),
    ],
)
def test_a_report_too_few_or_too_many_is_a_difference(
    planted: CaseFile, said: list[Report], expected: str
) -> None:
    assert differences(planted, said) == [expected]


@pytest.mark.parametrize(
    "wrong",
    [
        Report(5, "E", "a is wrong", "nnx-axes"),
        Report(4, "N", "a is wrong", "nnx-axes"),
        Report(4, "E", "a is right", "nnx-axes"),
        Report(4, "E", "a is wrong", "nnx-carry"),
    ],
    ids=["line", "kind", "text", "code"],
)
def test_a_report_that_is_another_one_is_two_differences(planted: CaseFile, wrong: Report) -> None:
    assert len(differences(planted, [wrong, *RIGHT[1:]])) == 2


def test_what_flax_itself_has_wrong_is_no_difference(planted: CaseFile) -> None:
    flax = CaseFile(planted.path, "flax")
    marked = [*RIGHT, Report(8, "E", "d is wrong", "nnx-axes")]
    assert differences(flax, [*marked, Report(10, "E", "no attribute", "attr-defined")]) == []
    assert len(differences(flax, [*marked, Report(10, "E", "no field", "nnx-state-key")])) == 1


def test_the_copy_for_flax_imports_flax(planted: CaseFile) -> None:
    assert CaseFile(planted.path, "flax").source().startswith("from flax import nnx\n")
