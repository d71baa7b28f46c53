"""The table of the peer's tests that fail here, and how a run is compared with it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.peer import suite

PAGE = Path(__file__).parents[2] / "docs" / "differences.md"
TEXT = """
[[excused]]
kind = "message"
reason = "no path"
tests = ["a.py::f", "a.py::g"]
"""


def test_a_table_gives_the_reason_of_each_test() -> None:
    reason = suite.Reason("message", "no path")
    assert suite.read(TEXT) == {"a.py::f": reason, "a.py::g": reason}


def test_a_test_that_stands_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="a.py::f stands twice"):
        suite.read(TEXT + TEXT)


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="'whim' is no kind"):
        suite.read(TEXT.replace("message", "whim"))


@pytest.mark.parametrize(
    ("outcomes", "lines"),
    [
        ({"a.py::f": "failed", "a.py::g": "failed", "b.py::h": "passed"}, []),
        (
            {"a.py::f": "failed", "a.py::g": "failed", "b.py": "failed"},
            ["fails and is not in excused.toml: b.py"],
        ),
        ({"a.py::f": "failed", "a.py::g": "passed"}, ["passes and is in excused.toml: a.py::g"]),
        ({"a.py::f": "skipped", "a.py::g": "failed"}, ["passes and is in excused.toml: a.py::f"]),
        ({"a.py::g": "failed"}, ["is in excused.toml and did not run: a.py::f"]),
    ],
    ids=["as in the table", "new failure", "new pass", "skipped", "gone"],
)
def test_what_differs_from_the_table_is_told(outcomes: dict[str, str], lines: list[str]) -> None:
    assert suite.compare(outcomes, suite.read(TEXT)).lines() == lines


def test_the_summary_counts_by_kind() -> None:
    outcomes = {"a.py::f": "failed", "a.py::g": "failed", "b.py::h": "failed", "c.py::i": "passed"}
    first, *kinds = suite.summary(outcomes, suite.read(TEXT)).splitlines()
    assert first == "4 tests: 1 passed, 0 skipped, 2 excused, 1 other failures"
    assert kinds == ["     2 a message in other words"]


def test_every_difference_in_the_table_is_a_row_of_the_page() -> None:
    rows = set(re.findall(r"^\| (.*?) \| ", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    reasons = suite.read(suite.TABLE.read_text(encoding="utf-8")).values()
    assert {reason.text for reason in reasons if reason.kind == "difference"} <= rows
