"""What docs/differences.md says of layers and all above them is what both libraries do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import flax.nnx
import flax.nnx.bridge
import flax.nnx.spmd
import jax
import pytest

import typed_nnx
from tests.docs import (
    differing_layers,
    differing_linen,
    differing_parts,
    differing_training,
    differing_values,
)
from tests.docs.differing import Case

PAGE = Path(__file__).parents[2] / "docs" / "differences.md"
CASES = [
    *differing_layers.CASES,
    *differing_training.CASES,
    *differing_parts.CASES,
    *differing_values.CASES,
    *differing_linen.CASES,
]
IDS = [f"{number}-{case.row[:40]}" for number, case in enumerate(CASES)]


def rows_of(page: str) -> set[str]:
    """Return the first cells of the tables from the heading "Layers" on."""
    lines = page[page.index("\n## Layers\n") :].splitlines()
    cells = {line.split(" | ")[0].removeprefix("| ") for line in lines if line.startswith("| ")}
    return cells - {"|", ""}


def outcome(case: Case, library: Any) -> Any:
    # As jax is by default, which is what the page is about; the tests are stricter.
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        try:
            return case.run(library)
        except (ValueError, TypeError, AttributeError, KeyError) as error:
            return type(error)


def test_every_row_is_run() -> None:
    assert rows_of(PAGE.read_text(encoding="utf-8")) == {case.row for case in CASES}


@pytest.mark.parametrize("case", CASES, ids=IDS)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # flax announces its own changes
def test_flax_does_what_the_row_says(case: Case) -> None:
    found = outcome(case, flax.nnx)
    if isinstance(found, type) and issubclass(found, Exception):
        assert issubclass(found, case.flax)
    else:
        assert found == case.flax


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_typed_nnx_does_what_the_row_says(case: Case) -> None:
    expected = getattr(typed_nnx.errors, case.ours) if isinstance(case.ours, str) else case.ours
    assert outcome(case, typed_nnx) == expected
