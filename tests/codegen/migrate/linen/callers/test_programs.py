"""Programs that use Linen modules give the same numbers when they are migrated."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.codegen.migrate.linen.callers.programs_run import (
    migrated,
    programs,
    same_numbers,
)

# For flax.nnx their texts that name variables, and their modules in fields, have a marker.
OF_TYPED_NNX = {"names_in_paths", "modules_in_fields"}


# Flax says it of each `sow`, also of those that its own guide shows.
@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore:Using 'Module.sow:DeprecationWarning")
@pytest.mark.parametrize(
    ("path", "target"),
    [
        (path, target)
        for path in programs()
        for target in ("typed_nnx", "flax.nnx")
        if target == "typed_nnx" or path.stem not in OF_TYPED_NNX
    ],
    ids=lambda one: one if isinstance(one, str) else one.stem,
)
def test_a_migrated_program_gives_the_numbers_of_the_linen_program(
    path: Path, target: str, tmp_path: Path
) -> None:
    same_numbers(path, target, tmp_path / path.name)


# What is given to a function of Linen, or to a module, may be of any module of the file.
NOTHING_MIGRATES = {"modules_by_name", "names_of_axes"}


@pytest.mark.thorough
@pytest.mark.parametrize("path", programs("gradual_programs"), ids=lambda path: path.stem)
def test_with_gradual_a_program_that_needs_a_person_runs_and_gives_its_numbers(
    path: Path, tmp_path: Path
) -> None:
    assert _codes(migrated(path, "typed_nnx").after) - {"TN208"}
    after = same_numbers(path, "typed_nnx", tmp_path / path.name, gradual=True)
    assert ("(nnx.Module):" in after) is (path.stem not in NOTHING_MIGRATES)
    assert _codes(after) == {"TN208"}


def _codes(text: str) -> set[str]:
    """Return the codes of the markers in a file."""
    return set(re.findall(r"TODO\[typed-nnx\] (TN\d+)", text))


@pytest.mark.parametrize("path", programs(), ids=lambda path: path.stem)
def test_a_program_of_frequent_patterns_gets_no_marker(path: Path) -> None:
    assert "TODO[typed-nnx]" not in migrated(path, "typed_nnx").after
