"""Symbolic shapes agree with what jax makes of real arrays."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.codegen.migrate.linen.shapes.expression_cases import CASES, Case
from tests.codegen.migrate.linen.shapes.expressions import executed, symbolic
from tests.codegen.migrate.linen.shapes.knowledge import (
    KINDS,
    array,
    disagreements,
    is_complete,
    known_last,
    real_names,
)

every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.code)
LETTERS = "bcdhkstw"
SIZES = st.fixed_dictionaries({letter: st.integers(2, 5) for letter in LETTERS})
KNOWN = st.fixed_dictionaries(
    {name: st.sampled_from(KINDS) for name in ("x", "y", "z", "w", "v", "c", "m", "ids")}
)
DEFAULT = dict(zip(LETTERS, (2, 3, 4, 5, 3, 2, 5, 4), strict=True))


def shapes_of(case: Case, sizes: dict[str, int]) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the arrays of a case."""
    arrays = [part.split(":") for part in case.shapes.split(";")]
    return {
        name.strip(): tuple(eval(size, dict(sizes)) for size in dims.split())
        for name, dims in arrays
    }


def ran(
    case: Case, sizes: dict[str, int]
) -> tuple[Any, dict[str, tuple[int, ...]], dict[str, Any]]:
    """Return the real result, the real shapes, and the fields."""
    shapes = shapes_of(case, sizes)
    others = {"self": SimpleNamespace(**sizes)}
    return executed(case.real or case.code, shapes, others), shapes, others


@every_case
@settings(max_examples=8, deadline=None)
@given(sizes=SIZES, kinds=KNOWN)
def test_no_size_that_is_said_to_be_known_is_wrong(
    case: Case, sizes: dict[str, int], kinds: dict[str, str]
) -> None:
    real, shapes, others = ran(case, sizes)
    kinds |= {name: "rank" for name in case.ranked.split() if kinds[name] in ("open", "width")}
    arrays = {name: array(name, shape, kinds[name]) for name, shape in shapes.items()}
    found = symbolic(case.code, arrays)
    assert not disagreements(found, real, real_names(shapes, others)), found


@every_case
def test_the_last_sizes_are_known_without_the_rank(case: Case) -> None:
    shapes = shapes_of(case, DEFAULT)
    arrays = {
        name: array(name, shape, "rank" if name in case.ranked.split() else "open")
        for name, shape in shapes.items()
    }
    found = symbolic(case.code, arrays)
    assert known_last(found) >= case.last, found


@pytest.mark.parametrize("kind", ["rank", "pieces", "numbers"])
@pytest.mark.parametrize(
    "case", [case for case in CASES if case.complete], ids=lambda case: case.code
)
def test_all_sizes_are_known_with_the_ranks(case: Case, kind: str) -> None:
    shapes = shapes_of(case, DEFAULT)
    found = symbolic(case.code, {name: array(name, shape, kind) for name, shape in shapes.items()})
    assert is_complete(found), found
