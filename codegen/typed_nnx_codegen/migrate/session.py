"""The course of `typed-nnx migrate`: migrate all, then write all, then report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Final, Literal, Protocol

from typed_nnx_codegen.migrate.discovery import Discovery, Skipped, find_files
from typed_nnx_codegen.migrate.files import NO_NNX
from typed_nnx_codegen.migrate.findings import FileResult
from typed_nnx_codegen.migrate.options import Options
from typed_nnx_codegen.migrate.report import FORMS
from typed_nnx_codegen.migrate.report.run import Run
from typed_nnx_codegen.migrate.rule_info import RuleInfo
from typed_nnx_codegen.migrate.running import migrate_all
from typed_nnx_codegen.migrate.screen import Screen
from typed_nnx_codegen.migrate.writing import dirty_files, write_atomically

# Exit statuses beside 0.
FAILED: Final = 1
WRONG_USE: Final = 2

_MOST_NAMES: Final = 12
# How a reason begins where a folder that was asked for could not be looked into.
UNREADABLE: Final = "it cannot be read"


class Refused(Exception):
    """Nothing was written; the message says why and what to do."""


@dataclass(frozen=True)
class ReportFile:
    """A report that is asked for.

    Attributes:
        form: Its form, a key of ``FORMS``.
        path: Where it goes; None for standard output.
    """

    form: str
    path: Path | None


@dataclass(frozen=True)
class Request:
    """What a run is asked to do.

    Attributes:
        paths: The files and folders to migrate.
        options: What the rules are asked for.
        rules: The rules that are applied.
        jobs: How many processes work.
        mode: Whether to show, to check or to write.
        allow_dirty: Whether files with changes that are not committed may be written.
        reports: The reports to write.
        from_release: The release of flax that the code was written for; empty for any.
        keep_going: Whether files that are not valid Python are no failure.
    """

    paths: tuple[Path, ...]
    options: Options
    rules: tuple[RuleInfo, ...]
    jobs: int
    mode: Literal["show", "check", "write"] = "show"
    allow_dirty: bool = False
    reports: tuple[ReportFile, ...] = ()
    from_release: str = ""
    keep_going: bool = False


class Work(Protocol):
    """What is done with the files: the rules for older NNX code, or the migration of Linen code."""

    def migrate(
        self, files: Sequence[Path], request: Request, advance: Callable[[float], None]
    ) -> list[FileResult]:
        """Migrate files; nothing is written.

        Args:
            files: The files.
            request: What is asked for.
            advance: Called with the number of files that are done now, or a part of one.
        """
        ...

    def written_paths(self, result: FileResult) -> Sequence[Path]:
        """Return the files that writing a result replaces or makes."""
        ...

    def write(self, result: FileResult) -> None:
        """Write a result.

        Raises:
            OSError: It cannot be written; everything is as it was.
        """


class OlderCode:
    """The rules for older NNX code: each file is written in its place."""

    def migrate(
        self, files: Sequence[Path], request: Request, advance: Callable[[float], None]
    ) -> list[FileResult]:
        """Migrate files; nothing is written."""

        def done(result: FileResult) -> None:
            """Count a file."""
            del result
            advance(1)

        return migrate_all(files, request.paths, request.options, request.jobs, done)

    def written_paths(self, result: FileResult) -> Sequence[Path]:
        """Return the file itself."""
        return (result.path,)

    def write(self, result: FileResult) -> None:
        """Write a file in its place."""
        write_atomically(result.path, result.before, result.after)


def migrate_paths(request: Request, screen: Screen, work: Work | None = None) -> int:
    """Migrate and return the exit status.

    Args:
        request: What is asked for.
        screen: Where it is shown.
        work: What is done with the files; the rules for older NNX code for None.

    Raises:
        Refused: Files to write have changes that are not committed.
    """
    work = work or OlderCode()
    found = find_files(request.paths)
    results = migrated(found, request, screen, work)
    run = run_of(request)
    screen.show_diffs(results, run.folder)
    if request.mode == "write":
        results = _written(request, run, results, work)
    reports_are_written = _write_reports(request, run, results, screen)
    screen.show_summary(run, results)
    screen.say(_left_out(found, results))
    screen.show_failures(run, results)
    failed = [one for one in results if one.error and (one.is_python or not request.keep_going)]
    if failed or not reports_are_written:
        return FAILED
    if request.mode == "check" and any(result.is_changed for result in results):
        return FAILED
    return 0


def migrated(found: Discovery, request: Request, screen: Screen, work: Work) -> list[FileResult]:
    """Migrate files, and nothing is written; what was asked for and cannot be read fails.

    Args:
        found: The files.
        request: What is asked for.
        screen: Where a bar is shown.
        work: What is done with the files.
    """
    with screen.progress(len(found.files)) as advance:
        results = work.migrate(found.files, request, advance)
    unread = [FileResult(each.path, error=each.reason) for each in _not_read(found, request)]
    return sorted([*results, *unread], key=lambda result: result.path)


def _not_read(found: Discovery, request: Request) -> Iterator[Skipped]:
    """Yield what was asked for and is not done: paths that are links, folders that cannot be read."""
    for each in found.skipped:
        if each.path in request.paths or each.reason.startswith(UNREADABLE):
            yield each


def _left_out(found: Discovery, results: Sequence[FileResult]) -> str:
    """Return what was passed over, in words; empty where it is nothing."""
    reasons = Counter(
        [each.reason for each in found.skipped if not each.reason.startswith(UNREADABLE)]
        + [each.skipped for each in results if each.skipped not in ("", NO_NNX)]
    )
    if not reasons:
        return ""
    return f"skipped: {', '.join(f'{why} ({count:,})' for why, count in sorted(reasons.items()))}"


def run_of(request: Request) -> Run:
    """Return what reports say of a run."""
    return Run(
        target=request.options.target,
        rules=request.rules,
        tool_version=version("typed-nnx"),
        folder=Path.cwd(),
        from_release=request.from_release,
        written=request.mode == "write",
    )


# -- writing ------------------------------------------------------------------------------------


def _written(
    request: Request, run: Run, results: Sequence[FileResult], work: Work
) -> list[FileResult]:
    if not request.allow_dirty:
        changed = [result for result in results if result.is_changed]
        paths = [path for result in changed for path in work.written_paths(result)]
        _refuse_dirty(run, [path for path in paths if path.exists()])
    return [_write(result, work) if result.is_changed else result for result in results]


def _refuse_dirty(run: Run, paths: Sequence[Path]) -> None:
    try:
        dirty = sorted(dirty_files(paths))
    except OSError as error:
        raise Refused(f"nothing is written: {error}") from error
    if not dirty:
        return
    names = [run.shown_path(path) for path in dirty[:_MOST_NAMES]]
    if len(dirty) > _MOST_NAMES:
        names.append(f"and {len(dirty) - _MOST_NAMES} more")
    listed = "\n".join(f"    {name}" for name in names)
    raise Refused(
        f"nothing is written: files to change have changes that are not committed:\n{listed}\n"
        "  Fix: commit them first, or give --allow-dirty"
    )


def _write(result: FileResult, work: Work) -> FileResult:
    try:
        work.write(result)
    except OSError as error:
        return result.failed(str(error).removeprefix(f"{result.path}: "))
    return result


# -- reports ------------------------------------------------------------------------------------


def _write_reports(
    request: Request, run: Run, results: Sequence[FileResult], screen: Screen
) -> bool:
    """Write the reports; return whether all could be written."""
    done = True
    for report in request.reports:
        text = FORMS[report.form](run, results)
        if report.path is None:
            screen.print_report(text)
            continue
        try:
            report.path.write_text(text, encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            screen.complain(f"{report.path}: the report was not written: {error.strerror}")
            done = False
        else:
            screen.say(f"{report.path} written")
    return done
