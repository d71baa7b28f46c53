"""Exit codes and messages where something goes wrong: no traceback for what is no bug of ours."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.codegen.command.running import PROGRAM, environment, run, run_on_terminal
from tests.support.processes import run_process, started_process
from typed_nnx_codegen import commands
from typed_nnx_codegen.check import command as check_command
from typed_nnx_codegen.check.outcome import Outcome
from typed_nnx_codegen.commands import COMMANDS, typed_nnx
from typed_nnx_codegen.doctor import command as doctor_command
from typed_nnx_codegen.lint import linter, server
from typed_nnx_codegen.model_stubs import generation
from typed_nnx_codegen.model_stubs.models import Models


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with files of all sorts."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "code.py").write_text("import flax.nnx as nnx\nx = nnx.VariableState\n")
    (tmp_path / "latin.py").write_bytes(b"# caf\xe9\nfrom flax import nnx\n")
    (tmp_path / "broken.py").write_text("from flax import nnx\ndef f(:\n")
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00{")
    (tmp_path / "no.json").write_text("{]")
    (tmp_path / "loop.py").symlink_to("loop.py")
    (tmp_path / "gone.py").symlink_to("nowhere.py")
    monkeypatch.chdir(tmp_path)
    return tmp_path


MISUSES = [
    ("migrate",),
    ("migrate", "nowhere"),
    ("migrate", "folder", "--report", "html", "--report-file", "folder"),
    ("migrate", "folder", "--report", "html", "--report-file", "nowhere/x.html"),
    ("migrate", "code.py", "--from", "new"),
    ("migrate", "code.py", "--jobs", "0"),
    ("migrate", "--linen", "code.py", "--example", "folder"),
    ("migrate", "loop.py"),
    ("rules", "TN999"),
    ("rules", ""),
    ("sarif", "nowhere"),
    ("sarif", "folder"),
    ("sarif", "no.json"),
    ("sarif", "bytes.json"),
    ("sarif", "--root", "code.py"),
    ("stubs", "nowhere"),
    ("verify", "nowhere.py", "code.py", "--example", "code.py"),
    ("verify", "folder", "code.py", "--example", "code.py"),
    ("verify", "bytes.json", "code.py", "--example", "code.py"),
    ("verify", "code.py", "code.py", "--example", "code.py", "--map", "no.json"),
    ("verify", "code.py", "code.py", "--example", "code.py", "--map", "bytes.json"),
    ("doctor", "--time-limit", "0"),
    ("doctor", "extra"),
    ("doctor", "--no-backend", "--json", "folder"),
    ("lint", "nowhere"),
    ("lint", "folder"),
    ("lint", "code.py", "--docs", "no address"),
    ("lsp", "--python", "nowhere"),
    ("lsp", "extra"),
    ("check", "nowhere"),
    ("check", "--python", "folder"),
    ("check", "--sarif", "folder"),
    ("completion", "tcsh"),
    ("nothing",),
    ("--nothing",),
]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("arguments", MISUSES, ids=" ".join)
def test_wrong_use_and_files_that_cannot_be_read_have_status_2_and_a_message(
    arguments: tuple[str, ...],
) -> None:
    result = CliRunner().invoke(typed_nnx, list(arguments))
    assert isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code == 2
    assert result.stderr.strip()
    assert "Traceback" not in result.output


@pytest.mark.usefixtures("folder")
def test_files_that_cannot_be_migrated_are_findings_and_no_tracebacks() -> None:
    result = CliRunner().invoke(typed_nnx, ["migrate", ".", "--quiet"])
    assert result.exit_code == 1
    told = {line.partition(":")[0] for line in result.stderr.splitlines()}
    assert told == {"broken.py", "latin.py"}


WORDS = st.sampled_from(
    [
        *("--write", "--check", "--quiet", "-q", "--linen", "--only", "--skip", "mypy"),
        *("--sarif", "--json", "--report", "html", "--report-file", "--select", "TN1", "--ignore"),
        *("--out", "--root", "--target", "flax.nnx", "--jobs", "2", "--from", "0.8", "--example"),
        *("code.py", "latin.py", "broken.py", "folder", "nowhere", "no.json", "loop.py", "gone.py"),
        *("-", "--", "", "\udcff", "é", "--no-backend", "--time-limit", "1e400", "nan"),
        *("--help", "--diff", "--allow-dirty", "--gradual", "-o", "new.py", "bash", "--format"),
    ]
)


@given(name=st.sampled_from([*COMMANDS, "--debug", ""]), words=st.lists(WORDS, max_size=6))
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_no_command_line_ends_in_a_traceback(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, words: Sequence[str]
) -> None:
    del folder

    def nothing(*given: object, **more: object) -> list[object]:
        return []

    # What takes long is tested elsewhere; here it is the command line.
    monkeypatch.setattr(check_command, "_run", lambda *given: Outcome("clean", "nothing"))
    for look in ("version_findings", "backend_findings", "plugin_findings", "stub_findings"):
        monkeypatch.setattr(doctor_command, look, nothing)
    monkeypatch.setattr(linter.Linter, "lint", lambda *given, **more: linter.Linted((), ()))
    monkeypatch.setattr(server.NnxServer, "serve", lambda *given: None)
    monkeypatch.setattr(generation, "read", lambda *given, **more: Models({}, ()))
    monkeypatch.setattr(commands, "leave_where_missing", lambda *given: None)
    result = CliRunner().invoke(typed_nnx, [name, *words])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code in (0, 1, 2)
    # What `run` runs may end in one of its own.
    assert name == "run" or "Traceback" not in result.output


def test_a_command_that_reads_does_not_wait_for_a_person_to_type_json() -> None:
    status, shown = run_on_terminal("sarif")
    assert status == 2
    assert "Fix: mypy --output json | typed-nnx sarif" in shown


# -- the operating system -----------------------------------------------------------------------


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("code", "fix"),
    [
        (errno.ENOSPC, "free some space"),
        (errno.EACCES, "run it as somebody who may"),
        (errno.EROFS, "name a place that can be written"),
        (errno.EIO, ""),
    ],
)
@pytest.mark.parametrize(
    "arguments",
    [
        ("sarif", "empty.json", "--out", "out.sarif"),
        ("check", "--only", "stubs", "--sarif", "out.sarif"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_file_that_cannot_be_written_is_named_with_a_remedy(
    monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], code: int, fix: str
) -> None:
    Path("empty.json").write_text("", encoding="utf-8")

    def refuse(path: Path, *_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code), str(path))

    monkeypatch.setattr(Path, "write_text", refuse)
    result = CliRunner().invoke(typed_nnx, list(arguments))
    assert result.exit_code == 2
    assert f"typed-nnx: out.sarif: {os.strerror(code)}\n" in result.stderr
    assert ("  Fix: " in result.stderr) == bool(fix)
    assert fix in result.stderr


@pytest.mark.thorough
@pytest.mark.usefixtures("folder")
def test_an_overlay_whose_place_is_a_folder_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("typings/typed_nnx_models.pyi").mkdir(parents=True)
    done = run("stubs", "code.py")
    assert done.returncode in (1, 2)
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
@pytest.mark.parametrize("arguments", [("--help",), ("rules", "--json")])
def test_standard_output_on_a_full_disk_is_told(arguments: tuple[str, ...]) -> None:
    with open("/dev/full", "w") as full:
        done = run_process([*PROGRAM, *arguments], stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 2
    assert "No space left on device\n  Fix: free some space" in done.stderr
    assert "Exception" not in done.stderr


@pytest.mark.thorough
@pytest.mark.parametrize("arguments", [("--help",), ("rules",), ("rules", "--format", "md")])
def test_a_reader_that_goes_away_ends_the_command_quietly(arguments: tuple[str, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = run_process([*PROGRAM, *arguments], stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.thorough
@pytest.mark.parametrize("closed", ["1", "2"])
def test_output_that_is_closed_is_no_error(closed: str) -> None:
    line = f"{' '.join(map(repr, PROGRAM))} rules TN101 {closed}>&-"
    done = run_process(["sh", "-c", line])
    assert done.returncode == 0
    assert "Traceback" not in done.stderr


@pytest.mark.thorough
@pytest.mark.parametrize("arguments", [("doctor",), ("sarif",)], ids=lambda arguments: arguments[0])
def test_an_interrupt_has_status_130_and_leaves_no_process(
    folder: Path, arguments: tuple[str, ...]
) -> None:
    if arguments[0] == "doctor":
        (folder / "jax.py").write_text("import time; time.sleep(600)", encoding="utf-8")
    with started_process(
        [*PROGRAM, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=environment({"PYTHONPATH": str(folder)} if arguments[0] == "doctor" else {}),
    ) as process:
        time.sleep(4)
        os.killpg(process.pid, signal.SIGINT)
        # It waits for the pipes too, which a process that is left would hold open.
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in said


# -- bugs of ours -------------------------------------------------------------------------------

BROKEN = (
    "import click, typed_nnx_codegen.commands as commands, typed_nnx_codegen.cli as cli\n"
    "@click.command()\ndef rules():\n    raise LookupError('seven')\n"
    "commands._Commands.get_command = lambda self, ctx, name: rules\n"
    "cli.main()"
)


def run_broken(tmp_path: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    return run_process(
        [sys.executable, "-c", BROKEN, *arguments],
        env=environment({"TMPDIR": str(tmp_path), **more}),
    )


def test_a_bug_of_ours_is_told_in_short_and_its_traceback_is_kept(tmp_path: Path) -> None:
    done = run_broken(tmp_path, "rules")
    assert done.returncode == 70
    assert "Traceback" not in done.stderr
    (kept,) = tmp_path.iterdir()
    first, second, third = done.stderr.splitlines()
    assert first.startswith("a bug of typed-nnx: LookupError: seven (in ")
    assert second == f"  The traceback is in {kept}"
    assert third.startswith("  Fix: report it with that file")
    text = kept.read_text(encoding="utf-8")
    assert "Traceback (most recent call last)" in text
    assert "LookupError: seven" in text
    assert f"Python {sys.version.split()[0]}" in text


@pytest.mark.parametrize(
    ("arguments", "more"), [(("--debug", "rules"), {}), (("rules",), {"TYPED_NNX_DEBUG": "1"})]
)
def test_the_traceback_of_a_bug_is_shown_where_it_is_asked_for(
    tmp_path: Path, arguments: tuple[str, ...], more: dict[str, str]
) -> None:
    done = run_broken(tmp_path, *arguments, **more)
    assert done.returncode == 70
    assert "Traceback (most recent call last)" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_bug_is_told_also_where_no_file_can_be_written() -> None:
    refusing = "tempfile.NamedTemporaryFile = lambda *a, **k: open('/nowhere/at/all', 'w')"
    program = f"import tempfile\n{refusing}\n{BROKEN}"
    done = run_process([sys.executable, "-c", program, "rules"])
    assert done.returncode == 70
    assert "Fix: report it with its traceback" in done.stderr
