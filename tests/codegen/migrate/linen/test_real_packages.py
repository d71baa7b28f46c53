"""Linen code of PyPI: no class that is migrated without a marker computes something else."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.linen_checks import Ran, judged
from benchmarks.linen_packages import EXAMPLES, FOLDER, PACKAGES, examples_of
from benchmarks.linen_sweep import migrate, verify
from benchmarks.packages import Package, Unreachable
from tests.support.once import locked

# Small ones, whose modules can be imported with what the tests have, and stand-ins.
SMALL = [one for one in PACKAGES if one.name in ("brax", "evojax")]
DIFFERS = {"kind": "output", "path": "", "state": "differs", "note": "1 of 4"}


def row(class_name: str, *, error: str = "", differs: bool = False, extra: str = "") -> Any:
    """Return what the command writes of an example."""
    return {
        "class": class_name,
        "example": class_name,
        "error": error,
        "equal": not (error or differs or extra),
        "items": [DIFFERS] if differs else [],
        "weights": {"extra": [extra] if extra else []},
    }


def verdicts(rows: list[Any], marks: dict[str, list[str]]) -> dict[str, str]:
    """Return the verdicts by class."""
    return {name: one.verdict for name, one in judged(Ran(rows), marks).items()}


def test_other_numbers_are_forgiven_only_where_a_marker_is() -> None:
    rows = [row("A", differs=True), row("B", differs=True)]

    assert verdicts(rows, {"A": [], "B": ["TN201"]}) == {"A": "other numbers", "B": "marked"}


def test_an_example_that_differs_weighs_more_than_those_that_are_equal_or_fail() -> None:
    rows = [row("A"), row("A", error="TypeError"), row("A", differs=True), row("A")]

    assert verdicts(rows, {"A": []}) == {"A": "other numbers"}


def test_an_error_or_a_weight_that_goes_nowhere_is_no_other_number() -> None:
    rows = [row("A", error="TypeError: missing"), row("B", extra="params/Dense_0/kernel")]

    assert verdicts(rows, {"A": [], "B": []}) == {"A": "fails", "B": "fails"}


def test_a_class_at_which_linen_fails_is_not_counted() -> None:
    rows = [row("A", error="the Linen side failed: Linen side failed"), row("B")]

    assert verdicts(rows, {}) == {"A": "not run", "B": "equal"}


@pytest.mark.parametrize(
    ("is_new", "expected"),
    [(True, {"A": "fails", "B": "marked"}), (False, {"A": "not run", "B": "not run"})],
)
def test_a_file_that_cannot_be_imported_counts_where_it_is_the_migrated_one(
    is_new: bool, expected: dict[str, str]
) -> None:
    ran = Ran(said="importing it failed", is_new=is_new)
    found = judged(ran, {"A": [], "B": ["TN209"]})

    assert {name: one.verdict for name, one in found.items()} == expected


def test_each_file_with_examples_belongs_to_a_package() -> None:
    found = {f"{one.key}.py" for one in PACKAGES if examples_of(one)}

    assert found == {path.name for path in EXAMPLES.glob("*.py")}


@pytest.mark.slow
@pytest.mark.parametrize("package", SMALL, ids=lambda package: package.name)
def test_no_class_without_a_marker_computes_something_else(package: Package) -> None:
    try:
        with locked(FOLDER / "lock"):  # one folder for all
            swept = migrate(package)
            verify(swept, Path(sys.executable))
    except Unreachable as error:
        pytest.skip(f"PyPI does not answer: {error}")

    assert not swept.crash
    assert list(swept.judged("other numbers", "not run")) == []
    assert list(swept.judged("equal"))
