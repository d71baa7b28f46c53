"""The code in the README and the documentation runs and prints what stands under it."""

from __future__ import annotations

from pathlib import Path

import jax
import pytest

from tests.support.code_blocks import Printed, blocks_of, run_blocks
from tests.support.page_processes import printed_by_processes, sets_up_process

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
WITH_CODE = [page for page in PAGES if blocks_of(page.read_text(encoding="utf-8"))]


def test_the_readme_and_every_guide_have_code() -> None:
    guides = set((ROOT / "docs" / "guides").glob("*.md"))
    assert guides
    assert {ROOT / "README.md", *guides} <= set(WITH_CODE)


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_code_of_a_page_runs_and_prints_what_it_says(page: Path, tmp_path: Path) -> None:
    for place, expected, found in printed_by(page, tmp_path):
        assert found == expected, place


def printed_by(page: Path, folder: Path) -> list[Printed]:
    if sets_up_process(page.read_text(encoding="utf-8")):
        return printed_by_processes(page, 1, folder)
    # As jax is by default: a page shows what layers promote to, and adam of optax is not strict.
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        return run_blocks(page)


@pytest.mark.thorough
def test_the_page_on_many_processes_prints_the_same_in_two(tmp_path: Path) -> None:
    found = printed_by_processes(ROOT / "docs" / "guides" / "multi-host.md", 2, tmp_path)
    assert len(found) > 4
    for place, expected, printed in found:
        assert printed == expected, place
