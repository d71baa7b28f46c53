"""After random edits the daemon of mypy, and a run from its cache, say what a run from nothing says."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.mypy_plugin.daemon_fuzz import differences
from tests.mypy_plugin.edits import edit, first_program

# Each report that is too many goes with the next edit of its file; there are four in 85 edits.
_NO_DEPENDENCIES = pytest.mark.xfail(
    reason="the daemon drops what a plugin says a function depends on when it checks it alone"
)


@pytest.mark.parametrize(
    ("edits", "seed"),
    [
        pytest.param(3, 1, marks=[pytest.mark.thorough, pytest.mark.timeout(600)], id="a-few"),
        pytest.param(
            200, 6, marks=[pytest.mark.slow, pytest.mark.timeout(3600), _NO_DEPENDENCIES], id="many"
        ),
    ],
)
def test_each_way_says_the_same_after_each_edit(edits: int, seed: int, tmp_path: Path) -> None:
    log: list[str] = []
    found = [str(each) for each in differences(edits, seed, tmp_path, log)]
    assert not found, "\n".join(found)
    assert len(log) == edits + 1


def test_a_seed_decides_the_edits_and_most_of_them_change_a_file() -> None:
    def programs(seed: int) -> list[dict[str, str]]:
        random = Random(seed)
        program = first_program(random)
        found = [program.files()]
        for _ in range(100):
            _, program = edit(program, random)
            found.append(program.files())
        return found

    assert programs(1) == programs(1)
    changed = [one != other for one, other in zip(programs(1), programs(1)[1:], strict=False)]
    assert sum(changed) > 50
