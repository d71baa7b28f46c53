from __future__ import annotations

import ast

import pytest

from benchmarks.type_probe import MISTAKES, REVEALED
from benchmarks.types import LIBRARIES, plain, probe, seen_by, source_of
from tests.support.type_checkers import CHECKERS, Finding


@pytest.mark.parametrize(
    ("revealed", "expected"),
    [
        ("builtins.int", "int"),
        ("tuple[a.b.GraphDef[m.Model], a.State[Any, Any]]", "tuple[GraphDef[Model], State]"),
        ("a.State[Any, tuple[int, a.State[str]]]", "State"),
        ("a.FlatState[Any] | a.Other", "FlatState[Any] | Other"),
    ],
)
def test_types_are_compared_without_modules_and_parameters_of_states(
    revealed: str, expected: str
) -> None:
    assert plain(revealed) == expected


def test_reports_are_told_apart_by_line() -> None:
    lines = source_of("ours").splitlines()
    first = next(i for i, line in enumerate(lines, start=1) if "reveal_type" in line)
    wrong = len(lines)
    assert MISTAKES[-1] in lines[wrong - 1]
    seen = seen_by(
        [
            Finding("x.py", first, "", 'Revealed type is "a.Model"', False),
            Finding("x.py", wrong, "call-arg", "Missing", True),
        ]
    )
    assert seen.types == ("Model", *["nothing"] * (len(REVEALED) - 1))
    assert seen.reported == (*[False] * (len(MISTAKES) - 1), True)


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_probe_is_a_program(library: str) -> None:
    ast.parse(source_of(library))


@pytest.mark.slow
def test_both_checkers_see_every_type_and_every_mistake() -> None:
    seen = probe()
    for checker in CHECKERS:
        ours = seen[checker, "ours"]
        assert ours.types == tuple(one.precise for one in REVEALED)
        assert all(ours.reported), [
            m for m, r in zip(MISTAKES, ours.reported, strict=True) if not r
        ]
