"""docs/command.md: each console block shows what the command says, and the tables are whole."""

from __future__ import annotations

import importlib.metadata
import os
import re
import shlex
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.codegen.command.running import run
from typed_nnx_codegen.commands import COMMANDS
from typed_nnx_codegen.console.statuses import MEANINGS

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "command.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, flags=re.DOTALL | re.MULTILINE)
SHOWN = [
    tuple(text.removeprefix("$ ").partition("\n")[::2])
    for language, text in BLOCKS
    if language == "console"
]
OF_THE_COMMAND = [(line, shown) for line, shown in SHOWN if line.startswith("typed-nnx ")]

# The project that the page speaks of. mypy reads jax for half a minute; here it need not.
PROJECT = {
    "pyproject.toml": """\
[tool.mypy]
files = ["app"]

[[tool.mypy.overrides]]
module = "typed_nnx.*"
follow_imports = "skip"

[tool.typed_nnx.severity]
nnx-deprecated = "note"
""",
    "app/model.py": """\
import typed_nnx as nnx

kind = nnx.VariableState


def width(features: int) -> str:
    return 2 * features
""",
    ".git/x": "",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in PROJECT.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def without_numbers(text: str) -> list[str]:
    """Return the words of lines; times and versions differ from one machine to the next."""
    lines = (re.sub(r"\d+(\.\w+)*", "0", line) for line in text.splitlines())
    return [" ".join(re.sub(r"─+", "-", line).split()) for line in lines if line.strip()]


def test_the_page_shows_every_way_to_run_it_that_it_speaks_of() -> None:
    assert len(SHOWN) == len(OF_THE_COMMAND) + 1
    assert {"typed-nnx --help", "typed-nnx check", "typed-nnx doctor --no-backend"} <= {
        line for line, _ in OF_THE_COMMAND
    }
    assert {language for language, _ in BLOCKS} == {"console", "bash"}


@pytest.mark.thorough
@pytest.mark.parametrize(("line", "shown"), OF_THE_COMMAND, ids=lambda text: text.split("\n")[0])
def test_a_console_block_shows_what_the_command_says(project: Path, line: str, shown: str) -> None:
    more = {"COLUMNS": "100", "HOME": str(project), "XDG_CONFIG_HOME": str(project)}
    done = run(*shlex.split(line)[1:], folder=project, more=more)
    assert done.returncode in (0, 1, 2), done.stderr
    said = done.stdout + done.stderr
    if line.endswith("--help"):
        assert said == shown
    else:
        assert without_numbers(said) == without_numbers(shown)


def test_what_is_installed_first_is_a_part_of_the_package() -> None:
    ((line, shown),) = [each for each in SHOWN if each not in OF_THE_COMMAND]
    assert shown == ""
    requirement = Requirement(shlex.split(line)[-1])
    metadata = importlib.metadata.metadata("typed-nnx")
    assert requirement.name == metadata["Name"]
    assert requirement.extras <= set(metadata.get_all("Provides-Extra") or ())


def test_the_lines_for_shells_are_those_of_the_help() -> None:
    (text,) = [text for language, text in BLOCKS if language == "bash"]
    lines = [line.partition("  #")[0].strip() for line in text.splitlines()]
    help_text = run("completion", "--help").stdout
    assert len(lines) == 3
    assert all(f"  $ {line}\n" in help_text for line in lines)


def rows_below(heading: str) -> dict[str, str]:
    """Return the first and second cells of the table below a heading."""
    section = PAGE.partition(f"\n{heading}\n")[2].partition("\n## ")[0]
    rows = [line.split(" | ") for line in section.splitlines() if line.startswith("| ")]
    return {row[0].removeprefix("| "): row[1] for row in rows[1:]}


def test_the_tables_name_every_command_and_every_exit_code() -> None:
    listed = re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)
    assert listed[: len(COMMANDS)] == list(COMMANDS)
    assert {int(code) for code in rows_below("## Exit codes")} == set(MEANINGS)


def test_the_variables_of_the_page_are_those_that_the_source_reads() -> None:
    named = set(re.findall(r"[A-Z][A-Z_]{3,}", " ".join(rows_below("## Environment"))))
    source = "\n".join(
        path.read_text(encoding="utf-8")
        for folder in ("codegen/typed_nnx_codegen", "src/typed_nnx")
        for path in (ROOT / folder).rglob("*.py")
    )
    # Of rich and click, and of the operating system.
    others = {"COLUMNS", "HOME"}
    assert [name for name in named - others if f'"{name}"' not in source] == []
    ours = set(re.findall(r'"(TYPED_NNX_[A-Z]+)"', source))
    assert ours <= named, ours - named
    assert os.environ.get("TYPED_NNX_DEBUG") is None
