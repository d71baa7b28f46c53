"""The part ``migrate``: old spellings of NNX that `typed-nnx migrate` would change."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from typed_nnx_codegen.check.outcome import CLEAN, FINDINGS, Outcome, Scope
from typed_nnx_codegen.migrate.discovery import Discovery, find_files
from typed_nnx_codegen.migrate.findings import FileResult
from typed_nnx_codegen.migrate.options import TYPED_NNX, Options
from typed_nnx_codegen.migrate.report.as_sarif import sarif_log
from typed_nnx_codegen.migrate.report.run import Run, counted, place_of, told, totals
from typed_nnx_codegen.migrate.repositories import ignored_files
from typed_nnx_codegen.migrate.rule_info import known_rules
from typed_nnx_codegen.migrate.screen import Screen
from typed_nnx_codegen.migrate.session import OlderCode, Request, migrated, run_of
from typed_nnx_codegen.migrate.shown_text import shown
from typed_nnx_codegen.settings.mypy_settings import UnreadableSettings, find_mypy_settings
from typed_nnx_codegen.settings.our_settings import wanted_runtime

_IMPORTS = "TN101"


def run(scope: Scope) -> Outcome:
    """Look for old spellings; nothing is written."""
    target = scope.target or wanted_runtime(scope.folder)
    paths, found = _files(scope)
    request = Request(
        paths=paths,
        options=Options(target=target),
        rules=known_rules(),
        jobs=scope.jobs,
        mode="check",
    )
    screen = Screen(quiet=True, diff=False, report_on_output=False)
    results = migrated(found, request, screen, OlderCode())
    course = run_of(request)
    # Logs begin where those of the other parts do.
    log = sarif_log(dataclasses.replace(course, folder=scope.root), results)
    all_of = totals(results)
    if not all_of.changed_files and not all_of.failed_files:
        said = f"no old spellings in {counted(all_of.files, 'file')}"
        return Outcome(CLEAN, said, log=log)
    said = f"{counted(all_of.changed_files, 'file')} would change"
    if all_of.failed_files:
        said += f", {counted(all_of.failed_files, 'file')} could not be read"
    lines = tuple(_lines(course, results))
    return Outcome(FINDINGS, said, lines, _remedy(request, results), log=log)


def _files(scope: Scope) -> tuple[tuple[Path, ...], Discovery]:
    """Return what is looked at, and the files: without paths those of the project, as mypy has them."""
    if scope.paths:
        return scope.paths, find_files(scope.paths)
    try:
        settings = find_mypy_settings(scope.folder)
    except UnreadableSettings:  # the part of mypy says so
        settings = None
    paths = (settings.files(scope.folder) if settings is not None else ()) or (Path(),)
    found = find_files(paths)
    left_out = ignored_files(found.files)
    kept = [
        path for path in found.files
        if path not in left_out and not (settings is not None and settings.excludes(path))
    ]  # fmt: skip
    return paths, Discovery(tuple(kept), found.skipped)


def _lines(course: Run, results: Sequence[FileResult]) -> Iterator[str]:
    for result in told(results):
        path = shown(course.shown_path(result.path))
        if result.error:
            yield f"{path}: {shown(result.error)}"
        elif result.is_changed:
            for each in result.findings:
                place = f"{path}:{each.line}" if not each.part else f"{path}: {place_of(each)}"
                yield f"{place}:{each.column + 1}: {each.code} {shown(each.message)}"


def _remedy(request: Request, results: Sequence[FileResult]) -> str:
    changed = [result for result in results if result.is_changed]
    if not changed:
        return ""
    words = ["typed-nnx", "migrate", "--write"]
    if request.options.target != TYPED_NNX:
        words += ["--target", request.options.target]
    line = shlex.join([*words, *map(str, request.paths)])
    if all(each.code == _IMPORTS for result in changed for each in result.findings):
        line += (
            "; or, where the code stays on flax, "
            '[tool.typed_nnx] runtimes = ["flax.nnx"] in pyproject.toml'
        )
    return line
