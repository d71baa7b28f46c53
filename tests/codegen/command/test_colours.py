"""Colours: on a terminal that can show them, unless the environment says otherwise."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.codegen.command.running import run, run_on_terminal

COLOUR = re.compile(r"\x1b\[(?:\d+;)*(?:3|4|9|10)[0-9](?:;\d+)*m")
FLAX = "from flax import nnx\n\nx = nnx.VariableState\n"
COMMANDS = {
    "migrate": ("migrate", "app"),
    "rules": ("rules", "TN103"),
    "check": ("check", "--only", "migrate", "app"),
    "stubs": ("stubs", "app/nothing.py"),
}
# Paths that are longer than a terminal is wide.
DEEP = "app/a_folder_with_quite_a_long_name/another_folder_with_a_long_name/and_a_file_with_one.py"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / DEEP).parent.mkdir(parents=True)
    (tmp_path / DEEP).write_text(FLAX, encoding="utf-8")
    (tmp_path / "app" / "nothing.py").write_text("", encoding="utf-8")
    return tmp_path


@pytest.mark.thorough
@pytest.mark.parametrize("name", COMMANDS)
def test_a_terminal_gets_colours(project: Path, name: str) -> None:
    _, shown = run_on_terminal(*COMMANDS[name], folder=project)
    assert COLOUR.search(shown)


@pytest.mark.thorough
@pytest.mark.parametrize("more", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=str)
@pytest.mark.parametrize("name", COMMANDS)
def test_a_terminal_gets_none_where_nobody_wants_or_can_show_them(
    project: Path, name: str, more: dict[str, str]
) -> None:
    _, shown = run_on_terminal(*COMMANDS[name], folder=project, more=more)
    assert shown.strip()
    assert not COLOUR.search(shown)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "more", [{}, {"NO_COLOR": "1", "FORCE_COLOR": "1"}, {"NO_COLOR": ""}], ids=str
)
@pytest.mark.parametrize("name", COMMANDS)
def test_a_pipe_gets_no_escape_sequences(project: Path, name: str, more: dict[str, str]) -> None:
    done = run(*COMMANDS[name], folder=project, more=more)
    assert done.stdout + done.stderr
    assert "\x1b" not in done.stdout + done.stderr


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["migrate", "check", "stubs"])
def test_a_log_gets_colours_where_they_are_forced_but_a_patch_never(
    project: Path, name: str
) -> None:
    done = run(*COMMANDS[name], folder=project, more={"FORCE_COLOR": "1"})
    if name == "migrate":
        assert COLOUR.search(done.stderr)
        assert "\x1b" not in done.stdout
    else:
        assert COLOUR.search(done.stdout + done.stderr)


@pytest.mark.thorough
@pytest.mark.parametrize("columns", ["40", "80"])
def test_what_is_piped_has_whole_lines_whatever_the_width(project: Path, columns: str) -> None:
    more = {"COLUMNS": columns}
    checked = run(*COMMANDS["check"], folder=project, more=more)
    assert any(line.startswith(f"{DEEP}:3:5: TN103 ") for line in checked.stdout.splitlines())
    shown = run("migrate", "app", "--write", "--allow-dirty", folder=project, more=more)
    assert shown.returncode == 0
    (row,) = [line for line in shown.stdout.splitlines() if line.strip().startswith("TN103")]
    assert row.split()[-3:] == ["1", "0", "1"]
