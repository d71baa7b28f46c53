"""The help of the group and of each command."""

from __future__ import annotations

import difflib
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from tests.codegen.command.running import run
from tests.support.processes import run_process
from tests.support.type_checkers import REPOSITORY
from typed_nnx_codegen.commands import COMMANDS, typed_nnx
from typed_nnx_codegen.console.help_pages import TaughtCommand
from typed_nnx_codegen.console.statuses import MEANINGS

NAMES = list(COMMANDS)
# One writes a folder, the other a file.
OF_THEIR_OWN = {"--out", "--only"}
# What examples may name, so that they can be parsed.
FILES = ("src/app/a.py", "tests/a.py", "model.py", "linen/model.py", "model_example.py")
MORE_FILES = (".venv/bin/python", "old.py", "new.py", "examples.py", "mypy.json")


def command_of(name: str) -> TaughtCommand:
    found = typed_nnx.get_command(click.Context(typed_nnx), name)
    assert isinstance(found, TaughtCommand)
    return found


def help_of(*words: str) -> str:
    result = CliRunner().invoke(typed_nnx, [*words, "--help"])
    assert result.exit_code == 0
    return result.output


def test_the_commands_are_listed_in_the_order_of_their_use() -> None:
    listed = re.findall(r"^  ([a-z]+)  +[A-Z]", help_of(), re.MULTILINE)
    assert listed == [
        "migrate",
        "verify",
        "stubs",
        "rules",
        "lint",
        "check",
        "doctor",
        "run",
        "lsp",
        "sarif",
        "completion",
    ]


def test_the_help_of_the_group_names_every_exit_code() -> None:
    section = help_of().partition("Exit codes:")[2]
    assert {int(each) for each in re.findall(r"^  (\d+) ", section, re.MULTILINE)} == set(MEANINGS)


def test_the_help_of_the_group_imports_no_command_and_no_library_of_theirs() -> None:
    program = (
        "import sys; from typed_nnx_codegen.commands import typed_nnx\n"
        "typed_nnx(['--help'], standalone_mode=False)\n"
        "heavy = {'jax', 'mypy', 'libcst', 'rich', 'numpy'} & set(sys.modules)\n"
        "heavy |= {each for each in sys.modules if each.endswith('.command')}\n"
        "assert not heavy, heavy"
    )
    done = run_process([sys.executable, "-c", program])
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["verify", "completion", "sarif", "check", "lint", "lsp"])
def test_the_help_of_a_command_does_without_the_packages_that_it_runs_with(name: str) -> None:
    program = (
        "import sys; from typed_nnx_codegen.commands import typed_nnx\n"
        f"typed_nnx([{name!r}, '--help'], standalone_mode=False)\n"
        "heavy = {'jax', 'mypy', 'libcst', 'numpy'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    done = run_process([sys.executable, "-c", program])
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", NAMES)
def test_a_command_says_what_it_is_for_shows_examples_and_names_its_exit_codes(name: str) -> None:
    command = command_of(name)
    text = help_of(name)
    assert (command.help or "").partition("\n\n")[0].strip()
    assert len(command.examples) >= 2
    for line, _ in command.examples:
        # Whole, so that it can be copied.
        assert f"  $ {line}\n" in text
    assert {0, 2} <= command.statuses.keys() <= {0, 1, 2}
    for status in command.statuses:
        assert re.search(rf"^  {status}  \S", text.partition("Exit codes:")[2], re.MULTILINE)
    assert COMMANDS[name].summary.endswith(".")


@pytest.mark.parametrize(
    ("name", "line"), [(name, line) for name in NAMES for line, _ in command_of(name).examples]
)
def test_each_example_is_a_command_line_that_the_command_takes(
    name: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for each in (*FILES, *MORE_FILES):
        path = tmp_path / "here" / each
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("", encoding="utf-8")
    monkeypatch.chdir(tmp_path / "here")
    mine = re.search(r"typed-nnx [^|>)]*", line)
    assert mine is not None
    words = shlex.split(mine[0])
    assert words[:2] == ["typed-nnx", name]
    with command_of(name).make_context(name, words[2:]):
        pass


def test_commands_on_the_pages_name_options_and_values_that_exist() -> None:
    pages = [REPOSITORY / "README.md", *(REPOSITORY / "docs").rglob("*.md")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in pages)
    lines = re.findall(r"`(typed-nnx [^`]+)`|^(?:\$ )?(typed-nnx .+)$", text, re.MULTILINE)
    for line in (" ".join((span or row).split()) for span, row in lines):
        _, name, *words = shlex.split(re.sub(r" \\?[|>] .*", "", line), comments=True)
        if name not in NAMES:
            continue
        command = command_of(name)
        context = click.Context(command, **command.context_settings)
        values, _, params = command.make_parser(context).parse_args(words)
        for param in {each for each in params if isinstance(each.type, click.Choice)}:
            param.type_cast_value(context, values[param.name])


@pytest.mark.parametrize("name", NAMES)
def test_options_of_one_name_mean_and_read_the_same_in_all_commands(name: str) -> None:
    def options(of: str) -> dict[str, Any]:
        return {
            spelling: each
            for each in command_of(of).params
            if isinstance(each, click.Option)
            for spelling in each.opts
        }

    for other in NAMES:
        mine, theirs = options(name), options(other)
        for spelling in mine.keys() & theirs.keys() - OF_THEIR_OWN:
            assert mine[spelling].is_flag == theirs[spelling].is_flag, spelling
            assert mine[spelling].metavar == theirs[spelling].metavar, spelling
    for spelling, each in options(name).items():
        assert each.help, spelling
        assert each.help.rstrip(")").endswith("."), each.help
        assert ("--quiet" in each.opts) == ("-q" in each.opts)


@pytest.mark.parametrize(
    ("word", "near"),
    [("migrat", "migrate"), ("docter", "doctor"), ("chek", "check"), ("stub", "stubs")],
)
def test_an_unknown_command_suggests_the_nearest(word: str, near: str) -> None:
    assert difflib.get_close_matches(word, NAMES)[0] == near
    result = CliRunner().invoke(typed_nnx, [word])
    assert result.exit_code == 2
    assert f"No such command '{word}'." in result.stderr
    assert f"'{near}'" in result.stderr


def test_an_unknown_command_like_no_other_suggests_none() -> None:
    result = CliRunner().invoke(typed_nnx, ["zzz"])
    assert result.exit_code == 2
    assert "Did you mean" not in result.stderr


def test_the_command_alone_shows_what_there_is() -> None:
    result = CliRunner().invoke(typed_nnx, [])
    assert result.exit_code == 2
    assert "Commands:" in result.output


@pytest.mark.parametrize("width", ["60", "80", "120"])
@pytest.mark.parametrize("name", ["", "verify", "check"])
def test_no_line_of_the_help_is_wider_than_the_terminal_but_examples(name: str, width: str) -> None:
    done = run(*filter(None, [name]), "--help", more={"COLUMNS": width})
    lines = [line for line in done.stdout.splitlines() if not line.startswith("  $ ")]
    assert max(map(len, lines)) <= int(width)
    if name:
        # Room is used, up to where lines are hard to read.
        assert max(map(len, lines)) >= min(int(width), 100) - 14
