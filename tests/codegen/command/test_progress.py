"""What is going on: each command that takes its time says it on a terminal, and nowhere else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.codegen.command.running import run, run_on_terminal

PAIR = Path(__file__).parents[1] / "verify" / "pairs"
EXAMPLES = """\
import jax.numpy as jnp
from typed_nnx_codegen.verify.examples import Build, Example

EXAMPLES = [Example(Build("MLP", (3,)), jnp.ones((2, 5)))] * 2
"""
VERIFY = (
    *("verify", str(PAIR / "linen_models.py"), str(PAIR / "nnx_models.py")),
    *("--example", "calls.py"),
)
#: What is run, and what a terminal shows meanwhile.
COMMANDS = {
    "migrate": (("migrate", "models.py"), r"migrating .*1/1"),
    "stubs": (("stubs", "models.py"), "reading models"),
    "check": (("check", "--only", "migrate", "models.py"), "checking: migrate"),
    "doctor": (("doctor", "--no-backend"), "looking at versions"),
    "verify": (VERIFY, r"comparing .*2/2"),
    # It reads jax with mypy: no case of a quick run.
    "lint": (("lint", "models.py"), "checking"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "models.py").write_text("from flax import nnx\n", encoding="utf-8")
    (tmp_path / "calls.py").write_text(EXAMPLES, encoding="utf-8")
    return tmp_path


@pytest.mark.thorough
@pytest.mark.parametrize("command", COMMANDS)
def test_a_terminal_shows_what_is_going_on(command: str, folder: Path) -> None:
    arguments, known = COMMANDS[command]
    _, shown = run_on_terminal(*arguments, folder=folder, more={"NO_COLOR": "1"})
    assert re.search(known, shown), shown


@pytest.mark.thorough
@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "lint"])
def test_a_pipe_does_not(command: str, folder: Path) -> None:
    arguments, known = COMMANDS[command]
    done = run(*arguments, folder=folder)
    assert not re.search(known, done.stdout + done.stderr)
