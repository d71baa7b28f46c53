"""The command ``typed-nnx lint``."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import Any, Final, TypedDict, Unpack

import click

from typed_nnx_codegen.completion.values import complete_paths
from typed_nnx_codegen.console.bugs import DEBUG, DEBUG_OPTION, keep_report
from typed_nnx_codegen.console.help_pages import TaughtCommand
from typed_nnx_codegen.console.statuses import BUG, COULD_NOT_RUN, FINDINGS, OK
from typed_nnx_codegen.console.terminal import working
from typed_nnx_codegen.console.writing import is_standard_output, json_option, write_text
from typed_nnx_codegen.lint.options import run_options
from typed_nnx_codegen.sarif.options import log_options

_FORMATS: Final = ("text", "json", "sarif", "github")
_EXAMPLES: Final = (
    ("typed-nnx lint", "What the settings of the project name, or else this folder."),
    ("typed-nnx lint src --format github", "As annotations, in a workflow of GitHub."),
    ("typed-nnx lint src --format sarif --out lint.sarif", "A log for code scanning."),
)


class _Given(TypedDict):
    """What the command line gives."""

    paths: tuple[str, ...]
    form: str
    out: Path | None
    json_file: Path | None
    root: Path
    docs: str
    python: str | None
    cache: str
    quiet: bool


@click.command(
    name="lint",
    cls=TaughtCommand,
    examples=_EXAMPLES,
    statuses={
        OK: "nothing was found, or notes only",
        FINDINGS: "errors were found, or a file cannot be read (the others are checked)",
        COULD_NOT_RUN: "settings that cannot be read, no files, or wrong use",
    },
)
@click.argument(
    "paths",
    metavar="[PATH...]",
    nargs=-1,
    type=click.Path(exists=True),
    shell_complete=complete_paths,
)
@click.option(
    "--format",
    "form",
    type=click.Choice(_FORMATS),
    default=_FORMATS[0],
    show_default=True,
    help="The format of the output.",
)
@click.option(
    "--out",
    metavar="FILE",
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
    help="The file of the output; by default standard output.",
)
@json_option("what was found")
@log_options
@run_options
@click.option("-q", "--quiet", is_flag=True, help="Show only the reports.")
def lint(**given: Unpack[_Given]) -> None:
    """Find mistakes with NNX: the checks of the mypy plugin alone, for users of any type checker.

    PATH are files and folders; by default `files` of [tool.typed_nnx.lint] in pyproject.toml, the
    files that mypy's settings name, or this folder. mypy's own errors are not shown. Functions
    without annotations are checked, and missing modules are ignored. The code is not imported.

    A cache, which git ignores, makes the next run quick.
    """
    if given["json_file"] is not None:
        if given["form"] not in (_FORMATS[0], "json") or given["out"] is not None:
            raise click.UsageError(
                "--json says the format and the file.\n  Fix: leave out --format and --out"
            )
        given["form"], given["out"] = "json", given["json_file"]
    # By name: they bring mypy, which the help does without.
    checked_address: Any = importlib.import_module(
        "typed_nnx_codegen.sarif.command"
    ).checked_address
    mypy_run: Any = importlib.import_module("typed_nnx_codegen.mypy_run")
    new_linter: Any = importlib.import_module("typed_nnx_codegen.lint.linter").Linter
    linter: Any = new_linter(given["python"], Path(given["cache"]))
    docs: str = checked_address(given["docs"])
    try:
        with working("checking"):
            linted: Any = linter.lint(given["paths"])
    except mypy_run.CouldNotRun as error:
        raise click.UsageError(str(error)) from error
    write_text(given["out"], _written(linted.reports, given, docs))
    if not given["quiet"]:
        to_output = is_standard_output(given["out"]) and given["form"] != "text"
        click.echo(_summary(linted), err=to_output)
    if linted.tracebacks:
        _tell_of_crashes(linted.tracebacks)
        sys.exit(BUG)
    sys.exit(FINDINGS if linted.errors else OK)


def _written(reports: Any, given: _Given, docs: str) -> str:
    formats: Any = importlib.import_module("typed_nnx_codegen.lint.formats")
    if given["form"] == "sarif":
        return str(formats.as_sarif(reports, given["root"], docs))
    return str(formats.FORMATS[given["form"]](reports))


def _summary(linted: Any) -> str:
    errors, notes = len(linted.errors), len(linted.reports) - len(linted.errors)
    said = [_counted(errors, "error")] if errors or not notes else []
    said += [_counted(notes, "note")] if notes else []
    return f"{' and '.join(said)} in {_counted(len(linted.files), 'file')}"


def _counted(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"


def _tell_of_crashes(tracebacks: tuple[str, ...]) -> None:
    report = "\n".join(tracebacks)
    if os.environ.get(DEBUG) or DEBUG_OPTION in sys.argv[1:]:
        click.echo(report, err=True)
        return
    kept = keep_report(report)
    where = f" with {kept}" if kept is not None else ""
    click.echo(f"typed-nnx: a check crashed.\n  Fix: report it{where}", err=True)
