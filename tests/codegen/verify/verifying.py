"""Runs `typed-nnx verify` on the hand-migrated models, changed as a test says."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from typed_nnx_codegen.verify.command import verify

PAIRS = Path(__file__).parent / "pairs"
HEAD = """\
import jax
import jax.numpy as jnp
from typed_nnx_codegen.verify.examples import Build, Example

ROWS = jax.random.normal(jax.random.key(0), (2, 5))
IMAGES = jax.random.normal(jax.random.key(1), (2, 6, 6, 3))
"""


@dataclass(frozen=True)
class Run:
    """What a run of the command gave.

    Attributes:
        status: The exit status.
        output: All that it printed.
        examples: What `--json` has, by the names of the examples.
    """

    status: int
    output: str
    examples: dict[str, Any]

    def differing(self, example: str) -> dict[str, str]:
        """Return the kinds in which an example differs, by the paths of the values."""
        items = self.examples[example]["items"]
        return {each["path"]: each["kind"] for each in items if each["state"] == "differs"}


def run(
    folder: Path,
    examples: str,
    *changes: tuple[str, str],
    old_changes: tuple[tuple[str, str], ...] = (),
    map_changes: tuple[tuple[str, str], ...] = (),
    options: tuple[str, ...] = (),
) -> Run:
    """Verify examples of the hand-migrated models.

    Args:
        folder: A folder for the files.
        examples: The items of EXAMPLES.
        *changes: What is replaced in the migrated file, each of which must be there.
        old_changes: What is replaced in the Linen file.
        map_changes: What is replaced in the map.
        options: More arguments of the command.
    """
    old, new = folder / "old_models.py", folder / "new_models.py"
    old.write_text(_replaced((PAIRS / "linen_models.py").read_text(), old_changes))
    new.write_text(_replaced((PAIRS / "nnx_models.py").read_text(), changes))
    text = (PAIRS / "nnx_models.migration.json").read_text()
    (folder / "new_models.migration.json").write_text(_replaced(text, map_changes))
    return run_files(folder, old, new, f"{HEAD}\nEXAMPLES = [{examples}]\n", options)


def run_files(
    folder: Path, old: Path, new: Path, examples: str, options: tuple[str, ...] = ()
) -> Run:
    """Verify two files with the text of an example file."""
    example_file, report = folder / "calls.py", folder / "report.json"
    example_file.write_text(examples)
    arguments = [str(old), str(new), "--example", str(example_file), "--json", str(report)]
    result = CliRunner().invoke(verify, [*arguments, *options])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.output
    said = json.loads(report.read_text())["examples"] if report.exists() else []
    return Run(result.exit_code, result.output, {each["example"]: each for each in said})


def _replaced(text: str, changes: tuple[tuple[str, str], ...]) -> str:
    for before, after in changes:
        assert before in text, before
        text = text.replace(before, after)
    return text
