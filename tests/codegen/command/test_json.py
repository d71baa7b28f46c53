"""Each command writes with ``--json`` what it says to people, alone on standard output or in a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from typed_nnx_codegen.commands import typed_nnx

MODEL = """\
import typed_nnx as nnx


class Head(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.dense = nnx.Linear(2, 3, rngs=rngs)
        self.many = [nnx.Linear(2, 3, rngs=rngs)]
"""
#: What a command is given, and what in its output tells that it read the file.
COMMANDS: dict[str, tuple[tuple[str, ...], str]] = {
    "migrate": (("model.py",), "model.py"),
    "rules": (("TN101",), "TN101"),
    "stubs": (("model.py",), "model:Head"),
    "check": (("model.py", "--skip", "mypy", "--skip", "stubs"), "migrate"),
    "doctor": (("--no-backend",), "Python"),
    # It reads jax with mypy: no case of a quick run.
    "lint": (("model.py",), "nnx-plain-container"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "model.py").write_text(MODEL)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS)
def test_standard_output_is_json_alone_and_a_file_has_the_same(command: str, folder: Path) -> None:
    arguments, known = COMMANDS[command]
    shown = CliRunner().invoke(typed_nnx, [command, *arguments, "--json"])
    assert known in json.dumps(json.loads(shown.stdout))
    (folder / "typings").mkdir(exist_ok=True)
    (folder / "typings" / "typed_nnx_models.pyi").unlink(missing_ok=True)
    written = CliRunner().invoke(typed_nnx, [command, *arguments, "--json", "out.json"])
    assert written.exit_code == shown.exit_code
    assert shape(json.loads((folder / "out.json").read_text())) == shape(json.loads(shown.stdout))


def shape(value: Any) -> Any:
    """Return a value without its numbers and texts, which have times and paths."""
    if isinstance(value, dict):
        return {key: shape(each) for key, each in value.items()}
    return [shape(each) for each in value] if isinstance(value, list) else None


def test_every_command_that_reports_has_it() -> None:
    without = {"run", "lsp", "sarif", "completion"}  # a program, a server, a log and a script
    context = click.Context(typed_nnx)
    names = typed_nnx.list_commands(context)
    commands = {name: typed_nnx.get_command(context, name) for name in names}
    assert {
        name
        for name, command in commands.items()
        if not any(
            "--json" in each.opts
            for each in (command.params if command else ())
            if isinstance(each, click.Option)
        )
    } == without
    assert COMMANDS.keys() == commands.keys() - without - {"verify"}  # tests/codegen/verify


def test_stubs_says_how_the_overlay_was(folder: Path) -> None:
    def state(*arguments: str) -> Any:
        done = CliRunner().invoke(typed_nnx, ["stubs", "model.py", "--json", *arguments])
        found = json.loads(done.stdout)
        return done.exit_code, found["state"], found["stale"]

    assert state("--check") == (1, "missing", [])
    assert state() == (0, "missing", [])
    assert state("--check") == (0, "current", [])
    (folder / "model.py").write_text(MODEL.replace("dense", "proj"))
    status, kind, stale = state("--check")
    assert (status, kind) == (1, "stale")
    assert any("Head" in name for name in stale)
