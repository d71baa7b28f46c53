"""The part ``mypy``: mypy with the project's own settings, and with our plugin."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final, cast

from typed_nnx_codegen.check.outcome import CLEAN, FAILED, FINDINGS, Outcome, Scope
from typed_nnx_codegen.migrate.report.run import counted
from typed_nnx_codegen.sarif.installed import project_here
from typed_nnx_codegen.sarif.log import log_of
from typed_nnx_codegen.sarif.reports import Report, read_reports
from typed_nnx_codegen.settings.mypy_settings import (
    MypySettings,
    UnreadableSettings,
    find_mypy_settings,
)
from typed_nnx_codegen.settings.with_plugin import write_with_plugin

# mypy keeps what it found with a plugin apart from what it found without: so do we.
_CACHE: Final = Path(".mypy_cache", "typed_nnx")
_FOUND: Final = 1


def run(scope: Scope) -> Outcome:
    """Run mypy and return what it says."""
    try:
        settings = find_mypy_settings(scope.folder)
    except UnreadableSettings as error:
        return Outcome(FAILED, str(error))
    names_files = settings is not None and settings.names_files
    paths = [str(path) for path in scope.paths] or ([] if names_files else ["."])
    if settings is not None and settings.has_plugin:
        return _outcome(scope, _mypy(scope, paths), ())
    with tempfile.TemporaryDirectory(prefix="typed-nnx-check-") as folder:
        file = write_with_plugin(settings, Path(folder))
        options = ["--config-file", str(file), "--cache-dir", str(_CACHE)]
        done = _mypy(scope, [*options, *paths])
        done = subprocess.CompletedProcess(
            done.args,
            done.returncode,
            _renamed(done.stdout, file, settings),
            _renamed(done.stderr, file, settings),
        )
    return _outcome(scope, done, (_plugin_note(settings),))


def _mypy(scope: Scope, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    # -P: a types.py in the current folder is the user's, not the one that mypy imports.
    command = [sys.executable, "-P", "-m", "mypy", "--output", "json", "--no-error-summary"]
    if scope.python is not None:
        command += ["--python-executable", scope.python]
    return subprocess.run(
        [*command, *arguments],
        capture_output=True,
        encoding="utf-8",
        errors="backslashreplace",
        check=False,
        cwd=scope.folder,
    )


def _renamed(text: str, file: Path, settings: MypySettings | None) -> str:
    """Return the output of mypy with the project's own file in the place of the one for the run."""
    own = "mypy.ini" if settings is None else str(settings.path)
    return text.replace(str(file), own)


def _plugin_note(settings: MypySettings | None) -> str:
    if settings is None:
        return (
            "there are no settings of it here; it runs with its defaults and our plugin. "
            'To keep that: plugins = ["typed_nnx_mypy"] below [tool.mypy] in pyproject.toml'
        )
    return (
        f"{settings.path.name} does not name our plugin; it is added for this run. "
        f"To keep that: {settings.line_to_write}"
    )


def _outcome(
    scope: Scope, done: subprocess.CompletedProcess[str], notes: tuple[str, ...]
) -> Outcome:
    # What is wrong with settings is on standard error, as JSON or not.
    written = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    reports = list(read_reports("\n".join(line for line in written if line.startswith("{"))))
    said_beside = tuple(line for line in written if not line.startswith("{"))
    lines = tuple(shown(report) for report in reports)
    log = log_of(reports, project_here(scope.root, scope.docs))
    errors = [each for each in reports if each.severity == "error"]
    if done.returncode not in (0, _FOUND):
        said = f"stopped with status {done.returncode}"
        _mark_as_failed(log, [*lines, *said_beside])
        return Outcome(FAILED, said, (*lines, *said_beside), notes=notes, log=log)
    notes = (*notes, *said_beside)
    # mypy's status is 1 for notes alone too when it writes JSON.
    if errors or (done.returncode == _FOUND and not reports):
        files = len({each.file for each in errors})
        said = f"{counted(len(errors), 'error')} in {counted(files, 'file')}"
        return Outcome(FINDINGS, said, lines, notes=notes, log=log)
    return Outcome(CLEAN, "no errors", lines, notes=notes, log=log)


def _mark_as_failed(log: dict[str, object], said: Sequence[str]) -> None:
    """Let a log say that mypy did not come to its end."""
    (run,) = cast("list[dict[str, object]]", log["runs"])
    notifications = [{"level": "error", "message": {"text": line}} for line in said]
    run["invocations"] = [
        {"executionSuccessful": False, "toolExecutionNotifications": notifications}
    ]


def shown(report: Report) -> str:
    """Return a report as mypy itself writes it."""
    place = report.file
    if report.line >= 1:
        place += f":{report.line}"
        if report.column >= 0:
            place += f":{report.column + 1}"
    text = "\n".join(filter(None, (report.message, report.hint)))
    code = f"  [{report.code}]" if report.code and report.severity == "error" else ""
    return f"{place}: {report.severity}: {text}{code}"
