"""Migrates files of Linen code and compares what they compute with what they computed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from typed_nnx_codegen.migrate.linen.migration import LinenResult, migrate_linen
from typed_nnx_codegen.migrate.options import Options
from typed_nnx_codegen.migrate.weight_map import map_path
from typed_nnx_codegen.migrate.weights.class_maps import class_maps
from typed_nnx_codegen.verify.differences import Tolerance
from typed_nnx_codegen.verify.example_files import read_examples
from typed_nnx_codegen.verify.examples import Example
from typed_nnx_codegen.verify.results import Result
from typed_nnx_codegen.verify.running import Verifier
from typed_nnx_codegen.verify.sides import import_side

_TOLERANCE = Tolerance(1e-5, 1e-5)


@dataclass(frozen=True)
class Migrated:
    """A file before and after the migration.

    Attributes:
        old: The file with Linen code.
        new: The migrated file; its map is beside it.
        result: What became of it.
    """

    old: Path
    new: Path
    result: LinenResult

    @property
    def marked(self) -> dict[str, list[str]]:
        """The classes with markers, and what these say."""
        return {
            plan.cls.name: [mark.message for mark in plan.marks]
            for plan in self.result.plans
            if plan.marks
        }


def migrated(
    files: Sequence[Path],
    folder: Path,
    target: Literal["typed_nnx", "flax.nnx"] = "typed_nnx",
    root: Path | None = None,
) -> dict[Path, Migrated]:
    """Migrate files into a folder, all of them together.

    Args:
        files: The files.
        folder: Where the migrated files go, as they lie below the root.
        target: The runtime.
        root: The folder that imports lead into; that of the first file if absent.
    """
    root = root or files[0].parent
    found: dict[Path, Migrated] = {}
    for result in migrate_linen(files, [root] if len(files) > 1 else files, Options(target)):
        new = folder / result.path.relative_to(root)
        new.parent.mkdir(parents=True, exist_ok=True)
        new.write_text(result.after)
        map_path(new).write_text(json.dumps(result.map))
        found[result.path] = Migrated(result.path, new, result)
    return found


def verified(
    one: Migrated, example_file: Path, examples: Sequence[Example] | None = None
) -> list[Result]:
    """Run examples on both sides and compare outputs, collections and gradients."""
    old = import_side(one.old)
    new = import_side(one.new, old)
    chosen = examples if examples is not None else read_examples(example_file, old)
    verifier = Verifier(old, new, class_maps([map_path(one.new)]), example_file, _TOLERANCE)
    return [verifier.verified(example) for example in chosen]


def problems(results: Sequence[Result]) -> list[str]:
    """Return what is not equal, in words."""
    return [
        f"{one.name}: {one.error or [str(item) for item in one.differing] or one.extra}"
        for one in results
        if not one.is_equal
    ]
