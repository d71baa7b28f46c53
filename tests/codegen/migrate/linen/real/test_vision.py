"""Modules as image models have them are migrated whole, and compute what they computed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.codegen.migrate.linen.corpus_cases import as_users_run
from tests.codegen.migrate.linen.migrated_files import migrated, problems, verified

_CASES = Path(__file__).with_name("cases_vision.py")
_EXAMPLES = Path(__file__).with_name("cases_vision_example.py")


@pytest.mark.slow
def test_image_models_compute_what_they_computed_in_linen(tmp_path: Path) -> None:
    one = migrated([_CASES], tmp_path)[_CASES]

    with as_users_run():
        found = problems(verified(one, _EXAMPLES))

    assert found == []


def test_nothing_of_the_image_models_is_left_to_a_person(tmp_path: Path) -> None:
    one = migrated([_CASES], tmp_path)[_CASES]

    assert one.marked == {}
