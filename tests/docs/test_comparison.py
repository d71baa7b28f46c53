"""The table that compares libraries shows the kept figures, and its planted mistakes are mistakes."""

from __future__ import annotations

from typing import Any

import jax
import pytest

from benchmarks.comparison_page import BEGIN, END, PAGES, Comparison, with_table
from benchmarks.mistakes.counting import SETUPS, checked, lines_of, program_of


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_shows_the_figures_that_were_measured(page: Any) -> None:
    text = page.read_text(encoding="utf-8")
    assert with_table(text, Comparison.read().table()) == text


def test_a_table_takes_the_place_of_the_one_before_and_of_nothing_else() -> None:
    page = f"before\n{BEGIN}\nold\n{END}\nafter\n"
    found = with_table(page, "| new |")
    assert found == f"before\n{BEGIN}\n\n| new |\n\n{END}\nafter\n"
    assert with_table(found, "| new |") == found


@pytest.mark.parametrize("page", [f"no marks\n{END}", f"{BEGIN}\nno end", ""])
def test_a_page_without_both_marks_is_refused(page: str) -> None:
    with pytest.raises(ValueError, match="lacks the lines"):
        with_table(page, "| new |")


@pytest.mark.thorough
@pytest.mark.parametrize("library", SETUPS)
def test_every_planted_mistake_fails_when_it_runs_and_the_program_around_it_does_not(
    library: str,
) -> None:
    with jax.numpy_dtype_promotion("standard"):
        program: dict[str, Any] = {"__name__": "program"}
        exec(compile(SETUPS[library], library, "exec"), program)
        for line in lines_of(library):
            with pytest.raises(Exception):  # noqa: B017, PT011  # each library raises its own
                exec(line, dict(program))


def test_an_error_counts_for_the_mistake_of_its_line_and_else_as_a_complaint() -> None:
    lines = program_of("equinox").splitlines()
    wrong = lines.index(f"    {lines_of('equinox')[2]}") + 1
    found = checked("equinox", [(wrong, "no such layer"), (1, "no such module")])
    assert found.reported == tuple(number == 2 for number in range(len(lines_of("equinox"))))
    assert found.complaints == ("1: no such module",)
