"""Programs that use Linen modules give the same numbers when they are migrated."""

from __future__ import annotations

from pathlib import Path

import jax
import pytest

from tests.codegen.migrate.linen.callers.programs_run import (
    close,
    imported,
    migrated,
    programs,
    recorded,
    transplant,
)
from typed_nnx_codegen.migrate.linen.migration import map_path, map_text


# Flax says it of each `sow`, also of those that its own guide shows.
@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore:Using 'Module.sow:DeprecationWarning")
@pytest.mark.parametrize("target", ["typed_nnx", "flax.nnx"])
@pytest.mark.parametrize("path", programs(), ids=lambda path: path.stem)
def test_a_migrated_program_gives_the_numbers_of_the_linen_program(
    path: Path, target: str, tmp_path: Path
) -> None:
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        with recorded() as variables:
            expected = imported(path, f"linen_{path.stem}").run()
        result = migrated(path, target)
        new = tmp_path / path.name
        new.write_text(result.after)
        map_path(new).write_text(map_text(result.map, None))
        module = imported(new, f"migrated_{path.stem}_{target.replace('.', '_')}")
        transplant(module, variables, map_path(new))

        close(module.run(), expected)


@pytest.mark.parametrize("path", programs(), ids=lambda path: path.stem)
def test_a_program_of_frequent_patterns_gets_no_marker(path: Path) -> None:
    assert "TODO[typed-nnx]" not in migrated(path, "typed_nnx").after
