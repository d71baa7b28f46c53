"""Random programs give the same numbers when they are migrated, and get no marker.

`python -m tests.codegen.migrate.linen.callers.test_random_programs plain 100 20` goes through twenty
more of `plain.txt`.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import pytest

from tests.codegen.migrate.linen.callers.programs_run import same_numbers
from tests.codegen.migrate.linen.random_programs.programs import RandomPrograms

_PARTS = 3


def _check(name: str, seed: int, folder: Path) -> None:
    path = folder / f"random_{name}_{seed}.py"
    path.write_text(RandomPrograms(name, seed).program(_PARTS))
    assert "TODO[typed-nnx]" not in same_numbers(path, "typed_nnx", folder / "migrated.py")


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", ["plain", "modes", "composed"])
def test_a_random_program_gives_the_numbers_of_the_linen_program(
    name: str, seed: int, tmp_path: Path
) -> None:
    _check(name, seed, tmp_path)


def _main(name: str, first: int, count: int) -> None:
    for seed in range(first, first + count):
        with tempfile.TemporaryDirectory() as folder:
            print(name, seed, flush=True)
            _check(name, seed, Path(folder))


if __name__ == "__main__":
    _main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
