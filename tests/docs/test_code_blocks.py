"""The code in the README and the documentation runs and prints what stands under it."""

from __future__ import annotations

from pathlib import Path

import jax
import pytest

from tests.support.code_blocks import blocks_of, run_blocks

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
WITH_CODE = [page for page in PAGES if blocks_of(page.read_text(encoding="utf-8"))]


def test_the_readme_and_every_guide_have_code() -> None:
    guides = set((ROOT / "docs" / "guides").glob("*.md"))
    assert guides
    assert {ROOT / "README.md", *guides} <= set(WITH_CODE)


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_code_of_a_page_runs_and_prints_what_it_says(page: Path) -> None:
    # As jax is by default: a page shows what layers promote to, and adam of optax is not strict.
    with jax.numpy_dtype_promotion("standard"):
        for place, expected, found in run_blocks(page):
            assert found == expected, place
