"""``typed-nnx migrate``, run as users run it; the rules are stand-ins."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.codegen.migrate.fake_migration import MARKER, install
from tests.support.git import git
from tests.support.processes import run_process
from typed_nnx_codegen.commands import typed_nnx
from typed_nnx_codegen.console import terminal as terminal_of_console
from typed_nnx_codegen.migrate import session
from typed_nnx_codegen.migrate.writing import WriteError, write_atomically

OLD = b"import nnx\nx = nnx.VariableState\n"
NEW = b"import nnx\nx = nnx.Variable\n"
OPEN = b"import nnx\nx = LIST\n"
MARKED = b"import nnx\n" + MARKER + b"\nx = LIST\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with files to change, to decide and to leave; migrated by stand-ins."""
    install(monkeypatch)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    for name, data in (("old.py", OLD), ("open.py", OPEN), ("fine.py", b"import nnx\n")):
        path = tmp_path / "app" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def migrate(*arguments: str) -> Result:
    """Run ``typed-nnx migrate``; a traceback fails the test."""
    result = CliRunner().invoke(typed_nnx, ["migrate", *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


def texts(project: Path) -> dict[str, bytes]:
    """Return the files of the project."""
    return {path.name: path.read_bytes() for path in sorted((project / "app").iterdir())}


# -- what is shown and written ------------------------------------------------------------------


def test_a_dry_run_shows_the_diff_and_the_summary_apart_and_writes_nothing(project: Path) -> None:
    before = texts(project)
    result = migrate("app")
    assert result.exit_code == 0
    assert result.stdout.startswith("--- a/app/old.py\n+++ b/app/old.py\n@@ -1,2 +1,2 @@\n")
    assert "-x = nnx.VariableState\n+x = nnx.Variable\n" in result.stdout
    assert "\x1b" not in result.output
    assert "1 place in 2 files would change; 1 place to decide (3 files checked)" in result.stderr
    assert "app/open.py:2:1 TN110 what `x` holds: <it> is made elsewhere\n" in result.stderr
    (row,) = [line.split() for line in result.stderr.splitlines() if line[1:6] == "TN103"]
    assert row[-3:] == ["1", "0", "1"]
    assert texts(project) == before


def test_write_writes_what_the_diff_shows_and_a_second_run_has_nothing_to_do(project: Path) -> None:
    result = migrate("app", "--write")
    assert result.exit_code == 0
    assert texts(project) == {"fine.py": b"import nnx\n", "old.py": NEW, "open.py": MARKED}
    assert "--- a/" not in result.output
    assert "1 place in 2 files changed; 1 place to decide" in result.stdout
    # The line of the file as it is now, below the marker.
    assert "app/open.py:3:1 TN110" in result.stdout
    again = migrate("app", "--write")
    assert "nothing to change; 1 place to decide" in again.stdout
    assert texts(project)["open.py"] == MARKED


def test_what_a_pipe_gets_is_applied_by_git_and_gives_what_write_writes(project: Path) -> None:
    odd = b"\xef\xbb\xbfx = nnx.VariableState  # \xe9\r\ny = LIST\r\nz = VariableState"
    (project / "app" / "odd name.py").write_bytes(odd)
    before = texts(project)
    patch = migrate("app").stdout_bytes
    assert migrate("app", "--write").exit_code == 0
    written = texts(project)
    assert written["odd name.py"] == (
        b"\xef\xbb\xbfx = nnx.Variable  # \xe9\r\n" + MARKER + b"\ny = LIST\r\nz = Variable"
    )
    for name, data in before.items():
        (project / "app" / name).write_bytes(data)
    run_process(["git", "apply", "--quiet"], input=patch, check=True, text=False)
    assert texts(project) == written


def test_check_fails_where_a_file_would_change_and_not_for_what_a_person_must_decide(
    project: Path,
) -> None:
    assert migrate("app", "--check").exit_code == 1
    assert texts(project)["old.py"] == OLD
    migrate("app", "--write")
    result = migrate("app", "--check")
    assert result.exit_code == 0
    assert "app/open.py:3:1 TN110" in result.output


@pytest.mark.parametrize(
    ("arguments", "changed"),
    [
        pytest.param(("--select", "TN103"), {"old.py"}, id="select"),
        pytest.param(("--select", "TN110, tn103"), {"old.py", "open.py"}, id="list"),
        pytest.param(("--select", "TN110", "--select", "TN103"), {"old.py", "open.py"}, id="twice"),
        pytest.param(("--select", "TN1", "--ignore", "TN10"), {"open.py"}, id="prefixes"),
        pytest.param(("--ignore", "TN103"), {"open.py"}, id="ignore"),
        pytest.param(("--from", "0.8"), {"old.py", "open.py"}, id="from-before-both"),
        pytest.param(("--from", "0.10.6"), {"old.py", "open.py"}, id="from-before-by-numbers"),
        pytest.param(("--from", "0.11"), {"open.py"}, id="from-the-release-itself"),
    ],
)
def test_rules_can_be_chosen(project: Path, arguments: tuple[str, ...], changed: set[str]) -> None:
    before = texts(project)
    assert migrate("app", "--write", *arguments).exit_code == 0
    assert {name for name, data in texts(project).items() if data != before[name]} == changed


@pytest.mark.parametrize(
    ("arguments", "on_output"),
    [
        pytest.param(("--no-diff",), "would change", id="no-diff"),
        pytest.param(("--write", "--diff"), "+x = nnx.Variable", id="write-with-diff"),
        pytest.param(("--quiet",), "", id="quiet"),
        pytest.param(("--report", "json", "--report-file", "-"), '"form"', id="report"),
    ],
)
@pytest.mark.usefixtures("project")
def test_standard_output_has_one_thing_only(arguments: tuple[str, ...], on_output: str) -> None:
    result = migrate("app", *arguments)
    assert result.exit_code == 0
    assert on_output in result.stdout
    assert bool(result.stdout) == bool(on_output)
    kinds = ("would change", "changed;", "--- a/", '"form"')
    assert sum(kind in result.stdout for kind in kinds) == bool(on_output)


@pytest.mark.usefixtures("project")
def test_a_folder_without_anything_to_migrate_is_no_error() -> None:
    Path("empty").mkdir()
    result = migrate("empty", "--check")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "nothing to change (0 files checked)" in result.stderr


@pytest.fixture
def terminal(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the command believe that it writes to a terminal."""
    del project
    monkeypatch.setattr(terminal_of_console, "is_terminal", lambda name: True)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "80")


@pytest.mark.usefixtures("terminal")
def test_a_terminal_gets_colours_and_a_bar_and_no_line_is_wider_than_it() -> None:
    result = migrate("app")
    assert "\x1b[31m-x = nnx.VariableState" in result.stdout
    assert "\x1b[32m+x = nnx.Variable" in result.stdout
    assert "3/3" in result.stderr
    assert "\x1b[36m`nnx.Variable`" in result.stderr
    summary = re.sub(r"\x1b\[[^a-zA-Z]*[a-zA-Z]", "", result.stderr.rpartition("3/3")[2])
    assert max(map(len, summary.splitlines())) <= 80


@pytest.mark.usefixtures("terminal")
def test_no_color_is_obeyed_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    result = migrate("app", "--quiet", "--diff")
    assert result.output == ""
    result = migrate("app")
    colours = re.findall(r"\x1b\[(?:\d+;)*(?:3|4|9|10)\d(?:;\d+)*m", result.output)
    assert colours == []
    assert "+x = nnx.Variable\n" in result.stdout


# -- what goes wrong ----------------------------------------------------------------------------


def test_a_file_that_cannot_be_migrated_is_named_and_the_others_are_done(project: Path) -> None:
    (project / "app" / "bad.py").write_bytes(b"import nnx\nBROKEN(\n")
    result = migrate("app", "--write", "--quiet")
    assert result.exit_code == 1
    assert result.output == "app/bad.py: line 1: it does not parse\n"
    assert texts(project)["old.py"] == NEW


def test_a_file_that_cannot_be_written_is_named_and_the_others_are_written(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write_but_one(path: Path, before: bytes, data: bytes) -> None:
        if path.name == "old.py":
            raise WriteError(f"{path}: it is read-only.\n  Fix: chmod u+w {path}")
        write_atomically(path, before, data)

    monkeypatch.setattr(session, "write_atomically", write_but_one)
    result = migrate("app", "--write")
    assert result.exit_code == 1
    assert result.stderr == "app/old.py: it is read-only.\n  Fix: chmod u+w app/old.py\n"
    assert "0 places in 1 file changed" in result.stdout
    assert texts(project)["old.py"] == OLD
    assert texts(project)["open.py"] == MARKED


def test_what_was_asked_for_and_is_not_looked_at_is_named_with_status_1(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "link.py").symlink_to(project / "app" / "old.py")
    result = migrate("link.py", "--quiet")
    assert result.exit_code == 1
    assert result.output == "link.py: a symbolic link, which is not followed\n"

    def refuse(folder: str) -> None:
        raise PermissionError(13, "Permission denied", folder)

    monkeypatch.setattr("os.scandir", refuse)
    result = migrate("app", "--quiet")
    assert result.exit_code == 1
    assert result.output == "app: it cannot be read: Permission denied\n"


@pytest.mark.usefixtures("project")
def test_what_is_left_out_is_counted() -> None:
    for name in ("a_pb2.py", "b_pb2.py", ".venv/pyvenv.cfg"):
        path = Path("app") / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(OLD)
    assert "skipped: a virtual environment (1), generated (2)\n" in migrate("app").stderr
    assert "left out" not in migrate("app/old.py").stderr


def test_files_with_changes_that_are_not_committed_stop_the_run_before_it_writes(
    project: Path,
) -> None:
    git(Path(), "init", "--quiet")
    git(Path(), "add", ".")
    git(Path(), "commit", "--quiet", "--message", "All")
    (project / "app" / "old.py").write_bytes(OLD + b"y = 1\n")
    # A file that is not to change may have changes.
    (project / "app" / "fine.py").write_bytes(b"import nnx  # mine\n")
    before = texts(project)
    result = migrate("app", "--write")
    assert result.exit_code == 2
    assert "app/old.py" in result.stderr
    assert "fine.py" not in result.stderr
    assert "Fix: commit them first, or give --allow-dirty" in result.stderr
    assert texts(project) == before
    assert migrate("app").exit_code == 0
    assert migrate("app", "--write", "--allow-dirty").exit_code == 0
    assert texts(project)["old.py"] == NEW + b"y = 1\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param(("missing",), "'missing' does not exist", id="path"),
        pytest.param((), "Missing argument 'PATH...'", id="no-path"),
        pytest.param(("app", "--write", "--check"), "give one of them", id="write-and-check"),
        pytest.param(("app", "--select", "TN1O3"), "did you mean TN103", id="code"),
        pytest.param(("app", "--ignore", "x"), "there is no rule 'x'", id="no-code"),
        pytest.param(("app", "--select", ","), "a list of rules is empty", id="empty-list"),
        pytest.param(("app", "--ignore", "TN"), "no rule is left", id="all-ignored"),
        pytest.param(("app", "--from", "0.12.9"), "no rule is left", id="from-today"),
        pytest.param(("app", "--from", "new"), "'new' is not a release", id="release"),
        pytest.param(("app", "--target", "jax"), "'jax' is not one of", id="target"),
        pytest.param(("app", "--jobs", "0"), "0 is not in the range", id="jobs"),
        pytest.param(("app", "--report-file", "x"), "has no --report", id="file-alone"),
        pytest.param(("app", "--report", "pdf"), "'pdf' is not one of", id="form"),
        pytest.param(
            ("app", "--report", "md", "--report-file", "no/x.md"), "does not exist", id="folder"
        ),
        pytest.param(
            ("app", "--report", "md", "--report-file", "app"), "is a folder", id="is-a-folder"
        ),
        pytest.param(("app", "--report", "md", "--report", "md"), "the same file", id="same"),
        pytest.param(
            ("app", *("--report", "md", "--report-file", "-") * 2),
            "two reports go to standard output",
            id="two-to-output",
        ),
    ],
)
def test_wrong_use_is_refused_with_status_2_before_anything_is_written(
    project: Path, arguments: tuple[str, ...], says: str
) -> None:
    before = texts(project)
    result = migrate(*arguments)
    assert result.exit_code == 2
    assert says in result.stderr
    assert result.stdout == ""
    assert texts(project) == before


# -- reports ------------------------------------------------------------------------------------


@pytest.mark.usefixtures("project")
def test_reports_go_to_files_of_their_own_or_to_those_that_are_named() -> None:
    result = migrate("app", "--report", "html", "--report-file", "a.html", "--report", "md")
    assert result.exit_code == 0
    assert Path("a.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert Path("typed-nnx-migration.md").read_text(encoding="utf-8").startswith("# Migration")
    assert "a.html written\ntyped-nnx-migration.md written\n" in result.stderr
    assert Path("a.html").stat().st_mode == Path("app/old.py").stat().st_mode


@pytest.mark.usefixtures("project")
def test_a_report_that_cannot_be_written_is_named_with_status_1(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", refuse)
    result = migrate("app", "--report", "json")
    assert result.exit_code == 1
    assert "typed-nnx-migration.json: the report was not written: No space" in result.stderr
