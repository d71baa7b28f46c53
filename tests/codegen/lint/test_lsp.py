"""``typed-nnx lsp``: an editor opens, edits and saves files, asks for fixes and hovers, and shuts down."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from lsprotocol.types import CodeAction, Position

from tests.codegen.lint.test_lint import WITHOUT_JAX, WRONG, write
from tests.support.editor import Editor
from tests.support.once import locked
from typed_nnx_codegen.commands import typed_nnx
from typed_nnx_codegen.lint.worker import Job, Worker

MODEL = """\
import typed_nnx as nnx


class Model(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(2, 2, rngs=rngs)
        self.norm = nnx.BatchNorm(2, rngs=rngs)


def use(model: Model) -> None:
    state = nnx.state(model, nnx.Param)
    print(state)
"""
MORE = "        self.more = nnx.Linear(2, 2, rngs=rngs)\n"
OVERLAY = "typings/typed_nnx_models.pyi"
# A bug in a check, as far as the server can tell.
CRASHING = """\
from mypy.plugin import Plugin


class Crashing(Plugin):
    def get_function_hook(self, fullname):
        if fullname == "app.bad.f":
            raise RuntimeError("typed_nnx_mypy has a bug")
        return None


def plugin(version):
    return Crashing
"""


def editor(folder: Path, shared_folder: Path) -> Editor:
    """Return an editor that starts the server; at the end that has to shut down in order."""
    program = (sys.executable, "-c", "from typed_nnx_codegen.cli import main; main()", "lsp")
    return Editor(folder, (*program, "--cache", str(shared_folder / "lint_cache")))


def applied(action: CodeAction, text: str) -> str:
    """Return a text after the edits of an action."""
    assert action.edit is not None
    assert action.edit.changes is not None
    lines = text.splitlines(keepends=True)
    (edits,) = action.edit.changes.values()
    for edit in sorted(edits, key=lambda each: each.range.start, reverse=True):
        start, end = edit.range.start, edit.range.end
        assert start.line == end.line
        line = lines[start.line].encode("utf-16-le")
        before, after = line[: 2 * start.character], line[2 * end.character :]
        lines[start.line] = (before + edit.new_text.encode("utf-16-le") + after).decode("utf-16-le")
    return "".join(lines)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    write(
        tmp_path,
        {
            "pyproject.toml": WITHOUT_JAX,
            ".git/x": "",
            "app/__init__.py": "",
            "app/wrong.py": WRONG,
            "app/model.py": MODEL,
        },
    )
    return tmp_path


@pytest.mark.thorough
def test_reports_appear_and_a_quick_fix_makes_them_go_away(
    project: Path, shared_folder: Path
) -> None:
    with locked(shared_folder / "lint_cache.lock"), editor(project, shared_folder) as seen:
        seen.until(lambda: seen.codes("app/wrong.py") == ["nnx-filter-order"])
        (found,) = seen.shown("app/wrong.py")
        assert (found.range.start.line, found.range.start.character) == (4, 28)
        assert found.range.end.character == 31
        assert found.source == "typed-nnx"
        assert found.message.endswith("\nFix: move it to the end")

        text = seen.open("app/wrong.py")
        (action,) = seen.actions("app/wrong.py")
        assert action.title == "Move ... to the end"
        fixed = applied(action, text)
        assert "nnx.split(model, nnx.Param, ...)" in fixed
        seen.save("app/wrong.py", fixed)
        seen.until(lambda: seen.codes("app/wrong.py") == [])

        seen.save("app/wrong.py", text)
        seen.until(lambda: seen.codes("app/wrong.py") != [])
        seen.show("app/wrong.py", text.replace("nnx.Param)", "nnx.Param, nnx.Cache)"))
        assert seen.actions("app/wrong.py") == []  # another line than the one checked
        assert seen.messages == []


@pytest.mark.thorough
def test_a_state_shows_its_tree_and_the_overlay_follows_the_models(
    project: Path, shared_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    assert CliRunner().invoke(typed_nnx, ["stubs", "app"]).exit_code == 0
    overlay = project / OVERLAY

    with locked(shared_folder / "lint_cache.lock"), editor(project, shared_folder) as seen:
        text = seen.open("app/model.py")
        line = text.splitlines().index("    print(state)")
        shown = ""
        while not shown:
            time.sleep(0.5)
            shown = seen.hover("app/model.py", Position(line, 12))
        tree = (
            "State of Model, Param\n"
            "  linear: Linear\n    kernel: Param\n    bias: Param | None\n"
            "  norm: BatchNorm\n    scale: Param | None\n    bias: Param | None"
        )
        assert shown == f"```text\n{tree}\n```"
        assert seen.hover("app/model.py", Position(0, 0)) == ""
        assert "more" not in overlay.read_text(encoding="utf-8")
        seen.save("app/model.py", text.replace("\n\n\ndef use", f"\n{MORE}\n\ndef use", 1))
        seen.until(lambda: "more" in overlay.read_text(encoding="utf-8"))
        seen.save("app/model.py", "def f(:\n")
        seen.until(lambda: seen.codes("app/model.py") == ["syntax"])
        assert seen.codes("app/wrong.py") == ["nnx-filter-order"]
        assert "more" in overlay.read_text(encoding="utf-8")
        assert seen.messages == []


@pytest.mark.thorough
def test_a_bug_in_a_check_costs_one_file_and_the_server_goes_on(
    project: Path, shared_folder: Path
) -> None:
    settings = f'[tool.mypy]\nplugins = ["crashing.py"]\n{WITHOUT_JAX}'
    bad = "def f() -> None: ...\n\n\nf()\n"
    write(project, {"pyproject.toml": settings, "crashing.py": CRASHING, "app/bad.py": bad})

    with locked(shared_folder / "lint_cache.lock"), editor(project, shared_folder) as seen:
        seen.until(lambda: seen.codes("app/bad.py") == ["crash"])
        seen.until(lambda: seen.codes("app/wrong.py") == ["nnx-filter-order"])
        seen.until(lambda: any("RuntimeError" in each for each in seen.messages))
        seen.open("app/bad.py")
        seen.save("app/bad.py", "x = 1\n")
        seen.until(lambda: seen.codes("app/bad.py") == [])

        write(project, {"pyproject.toml": "[tool.typed_nnx]\nlinter = 1\n"})
        seen.save("app/bad.py", "x = 2\n")
        seen.until(lambda: any("no setting 'linter'" in each for each in seen.messages))
        write(project, {"pyproject.toml": settings})
        seen.save("app/bad.py", bad)
        seen.until(lambda: seen.codes("app/bad.py") == ["crash"])


@pytest.mark.thorough
def test_what_is_open_is_checked_wherever_the_project_has_it(
    project: Path, shared_folder: Path
) -> None:
    named = f'{WITHOUT_JAX}\n[tool.typed_nnx.lint]\nfiles = ["app"]\nexclude = ["^old/"]\n'
    elsewhere = ("old/a.py", ".venv/lib/site-packages/b.py")
    write(project, {"pyproject.toml": named, "train.py": WRONG, **dict.fromkeys(elsewhere, WRONG)})

    with locked(shared_folder / "lint_cache.lock"), editor(project, shared_folder) as seen:
        for file in ("app/model.py", *elsewhere, "train.py"):
            seen.open(file)
        seen.until(lambda: seen.codes("train.py") == ["nnx-filter-order"])
        seen.until(lambda: seen.is_checked("app/model.py"))
        assert not any(seen.is_checked(file) for file in elsewhere)
        seen.save("train.py", WRONG.replace("..., nnx.Param", "nnx.Param, ..."))
        seen.until(lambda: seen.codes("train.py") == [])
        assert seen.messages == []


@pytest.mark.thorough
def test_a_process_that_hangs_or_dies_is_replaced(tmp_path: Path) -> None:
    write(tmp_path, {".git/x": "", "a.py": "x = 1\n"})
    worker = Worker(tmp_path, None, Path(".cache"), 0.01)
    try:
        assert worker.ask(Job("lint")).problem.startswith("the check did not end within 0.01 s")
        worker._limit = 200.0
        first = worker.ask(Job("lint"))
        assert first.linted is not None
        assert first.linted.files == ("a.py",)
        worker.close()
        again = worker.ask(Job("lint"))
        assert again.linted == first.linted
    finally:
        worker.close()
