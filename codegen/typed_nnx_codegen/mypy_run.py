"""Runs mypy in this process: for the checks of the plugin alone, and for what models are.

Files that mypy cannot read are left out, and so are those on which it, or the plugin, crashes: the others are
checked. What is used of mypy here is no public interface of it; it was tried with mypy 2.2 to 2.4.
"""

from __future__ import annotations

import ast
import atexit
import gc
import io
import re
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from mypy.build import BuildResult
from mypy.build import build as run_build
from mypy.errors import CompileError
from mypy.fscache import FileSystemCache
from mypy.modulefinder import BuildSource
from mypy.options import Options
from mypy.plugin import Plugin

from typed_nnx_codegen.sarif.reports import Report, read_reports

T = TypeVar("T")

SYNTAX: Final = "syntax"
UNREADABLE: Final = "unreadable"
CRASH: Final = "crash"
"""The codes of reports that say why a file was left out."""

# What reading a damaged cache can end with; mypy itself turns its own errors into SystemExit.
_DAMAGE: Final = (
    sqlite3.Error,
    SystemExit,
    OSError,
    ValueError,
    LookupError,
    AssertionError,
    TypeError,
)
_CRASHED: Final = re.compile(
    r"^(?P<path>.+?)(?::(?P<line>\d+))?: error: INTERNAL ERROR", re.MULTILINE
)
# mypy says it in this way whatever the output is to be.
_ABOUT_FILE: Final = re.compile(r"^(?P<path>.+\.pyi?): error: (?P<text>.*)$")
_PLUGIN: Final = "typed_nnx_mypy"
# As mypy's own command has it: it follows code by recursion.
_RECURSION: Final = 2**14


# At its end Python looks for cycles in all that mypy made, which takes a third of a first run.
atexit.register(gc.freeze)


class CouldNotRun(Exception):
    """mypy did not come to its end, and no file is to blame. The message says why."""


@dataclass(frozen=True)
class _Crash:
    """mypy, or a plugin, raised an exception while it checked a file."""

    path: str
    line: int
    traceback: str


class MypyRun:
    """mypy over some files.

    Args:
        sources: The files.
        fscache: What mypy has read of the file system; None for nothing.

    Attributes:
        left_out: Why modules were left out, by their names.
        reports: What mypy said of the others.
        tracebacks: Those of crashes, by the names of modules.
    """

    def __init__(
        self, sources: Sequence[BuildSource], fscache: FileSystemCache | None = None
    ) -> None:
        self._sources = tuple(sources)
        self._fscache = fscache
        self._modules = {_real(each.path): each.module for each in sources if each.path}
        self._said: list[str] = []
        self.left_out: dict[str, Report] = {}
        self.reports: list[Report] = []
        self.tracebacks: dict[str, str] = {}

    def build(
        self,
        prepare: Callable[[], tuple[Options, Sequence[Plugin]]],
        use: Callable[[BuildResult], T],
    ) -> T:
        """Run mypy, again where a file was left out, and return what is made of what it leaves.

        Args:
            prepare: Returns options and further plugins for a run; they are changed by it.
            use: Takes what a run leaves, which is read from mypy's cache as late as there.

        Raises:
            CouldNotRun: It ended early, and not because of a file.
        """
        is_cleared = False
        while True:
            options, plugins = prepare()
            output = io.StringIO()
            try:
                with _quiet(output):
                    return use(self._run(options, plugins))
            except CompileError as error:
                if not self._leave_out_blockers(error.module_with_blocker, options):
                    raise CouldNotRun("\n".join(self._said)) from error
            except _DAMAGE as error:
                crash = _crash_in(output.getvalue())
                is_ours = crash is not None and _PLUGIN in crash.traceback
                if options.incremental and not is_ours and not is_cleared:
                    shutil.rmtree(options.cache_dir, ignore_errors=True)
                    is_cleared = True
                elif crash is None or not self._leave_out_crashed(crash):
                    raise CouldNotRun(output.getvalue().strip() or f"mypy: {error!r}") from error

    def _run(self, options: Options, plugins: Sequence[Plugin]) -> BuildResult:
        options.output = "json"
        options.show_column_numbers = options.show_error_end = True
        options.show_traceback = True
        options.raise_exceptions = False
        options.junit_xml, options.report_dirs = None, {}
        options.num_workers = 0  # what they report comes in another way
        for module in self.left_out.keys() - set(self._modules.values()):
            options.per_module_options[module] = {"follow_imports": "skip"}
        self._said, self.reports = [], []
        return run_build(
            [self._source(each) for each in self._sources],
            options,
            flush_errors=self._take,
            fscache=self._fscache,
            extra_plugins=plugins,
        )

    def _source(self, source: BuildSource) -> BuildSource:
        """Return a file, or an empty one in the place of one that is left out."""
        if source.module not in self.left_out:
            return source
        return BuildSource(None, source.module, "")

    def _take(self, path: str | None, messages: list[str], is_serious: bool) -> None:
        """Take what mypy says: of a file, or of what ends the run."""
        del path, is_serious
        for message in messages:
            about = _ABOUT_FILE.match(message)
            if message.startswith("{"):
                self.reports += read_reports(message)
            elif about is not None:
                self.reports.append(_report(about["path"], 1, 0, about["text"], UNREADABLE))
            else:
                self._said.append(message)

    # -- files that are left out --------------------------------------------------------------

    def _leave_out_blockers(self, module: str | None, options: Options) -> bool:
        """Leave out the files that ended a run; return whether there is one more of them."""
        before = len(self.left_out)
        for report in self.reports:
            of = self._modules.get(_real(report.file), module)
            if of is not None and report.severity == "error":
                self.left_out.setdefault(of, report)
        self._said += [report.message for report in self.reports]
        if before == 0 and self.left_out and options.python_version <= sys.version_info[:2]:
            self._find_more()
        return len(self.left_out) > before

    def _leave_out_crashed(self, crash: _Crash) -> bool:
        module = self._modules.get(_real(crash.path))
        if module is None or module in self.left_out:
            return False
        what = crash.traceback.strip().splitlines()[-1]
        whose = "a check of typed-nnx" if _PLUGIN in crash.traceback else "mypy"
        message = f"{whose} crashed on this file, which is not checked: {what}"
        self.left_out[module] = _report(crash.path, crash.line, 0, message, CRASH)
        self.tracebacks[module] = crash.traceback
        return True

    def _find_more(self) -> None:
        """Find all other syntax errors at once: mypy names one in each run."""
        for each in self._sources:
            if each.path is None or each.module in self.left_out:
                continue
            try:
                ast.parse(Path(each.path).read_bytes(), each.path)
            except SyntaxError as error:
                line, column = error.lineno or 1, max((error.offset or 1) - 1, 0)
                self.left_out[each.module] = _report(each.path, line, column, error.msg, SYNTAX)
            except (OSError, ValueError):
                continue  # mypy says it better


def _report(path: str, line: int, column: int, message: str, code: str) -> Report:
    """Return why a file is left out, as a report of mypy."""
    return Report(path, max(line, 1), column, max(line, 1), -1, message, "", code, "error")


def _real(path: str | None) -> str:
    return str(Path(path or "").resolve())


@contextmanager
def _quiet(output: io.StringIO) -> Iterator[None]:
    """Let what mypy prints go to a text, and undo what it sets for its whole process."""
    thresholds, limit = gc.get_threshold(), sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _RECURSION))
    try:
        with redirect_stdout(output), redirect_stderr(output):
            yield
    finally:
        gc.set_threshold(*thresholds)
        sys.setrecursionlimit(limit)


def _crash_in(output: str) -> _Crash | None:
    found = _CRASHED.search(output)
    if found is None:
        return None
    _, _, traceback = output.partition("Traceback (most recent call last):")
    return _Crash(found["path"], int(found["line"] or 1), _without_note(traceback))


def _without_note(traceback: str) -> str:
    return traceback.partition(": note: use --pdb")[0].rpartition("\n")[0] or traceback
