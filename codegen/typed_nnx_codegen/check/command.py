"""The command ``typed-nnx check``."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import json
import os
import sys
import time
from pathlib import Path
from typing import Any, Final, Literal, TypedDict, Unpack, cast

import click

from typed_nnx_codegen.check.outcome import FAILED, FINDINGS, Outcome, Scope
from typed_nnx_codegen.check.screen import Screen
from typed_nnx_codegen.console.help_pages import TaughtCommand
from typed_nnx_codegen.console.statuses import COULD_NOT_RUN, OK
from typed_nnx_codegen.console.statuses import FINDINGS as SOMETHING_FOUND
from typed_nnx_codegen.console.terminal import working
from typed_nnx_codegen.console.writing import is_standard_output, json_option, write_text
from typed_nnx_codegen.sarif.document import joined
from typed_nnx_codegen.sarif.options import log_options

# By name: each needs packages that the others do without.
PARTS: Final = {
    "mypy": "typed_nnx_codegen.check.types_part",
    "migrate": "typed_nnx_codegen.check.spellings_part",
    "stubs": "typed_nnx_codegen.check.stubs_part",
}
_NEEDS: Final = {"mypy": ("mypy",), "migrate": ("libcst",), "stubs": ("mypy",)}
_EXAMPLES: Final = (
    ("typed-nnx check", "All three checks of the project in this folder."),
    ("typed-nnx check src tests --skip stubs", "Two of them, of these folders."),
    ("typed-nnx check --sarif typed-nnx.sarif", "And a log for code scanning."),
)


class _Given(TypedDict):
    """What the command line gives."""

    paths: tuple[Path, ...]
    only: tuple[str, ...]
    skip: tuple[str, ...]
    sarif: Path | None
    json_file: Path | None
    root: Path
    docs: str
    target: Literal["typed_nnx", "flax.nnx"] | None
    python: str | None
    jobs: int | None
    quiet: bool
    explain: tuple[Path, int] | None


def _place(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> tuple[Path, int] | None:
    """Return the file and the line of ``src/model.py:12``."""
    if value is None:
        return None
    name, _, line = value.rpartition(":")
    if not line.isdigit() or not Path(name).is_file():
        said = f"{value!r} is not a line of a file.\n  Fix: write src/model.py:12"
        raise click.BadParameter(said, ctx, param)
    return Path(name), int(line)


@click.command(
    name="check",
    cls=TaughtCommand,
    examples=_EXAMPLES,
    statuses={
        0: "nothing was found",
        1: "a part found something",
        2: "a part could not run, or wrong use",
    },
)
@click.argument(
    "paths", metavar="[PATH...]", nargs=-1, type=click.Path(exists=True, path_type=Path)
)
@click.option(
    "--only", type=click.Choice(list(PARTS)), multiple=True, help="Only this part; repeatable."
)
@click.option(
    "--skip", type=click.Choice(list(PARTS)), multiple=True, help="Skip this part; repeatable."
)
@click.option(
    "--sarif",
    metavar="FILE",
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
    help="Write the findings as one SARIF 2.1.0 log; - is standard output.",
)
@json_option("what each part found")
@log_options
@click.option(
    "--target",
    type=click.Choice(["typed_nnx", "flax.nnx"]),
    help="The runtime of the code; by default flax.nnx if `runtimes` of [tool.typed_nnx] names only "
    "that, else typed_nnx.",
)
@click.option(
    "--python",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False),
    help="The interpreter whose packages the code uses.",
)
@click.option(
    "--jobs",
    metavar="N",
    type=click.IntRange(min=1),
    help="Number of processes; by default that of cores.",
)
@click.option(
    "--explain",
    metavar="FILE:LINE",
    callback=_place,
    help="Show what the plugin knows of the models and States in a line, and what is open; checks nothing.",
)
@click.option("-q", "--quiet", is_flag=True, help="Show only the findings, no table.")
def check(**given: Unpack[_Given]) -> None:
    """Check the project in this folder as its CI would: three parts, one table, one exit code.

    mypy: mypy with the project's own settings, and the plugin of typed-nnx if they do not name it.
    mypy imports the plugins and runs the interpreter that its settings name: in a checkout that is
    not yours read them first, or pass --skip mypy.

    migrate: older NNX spellings that `typed-nnx migrate` would change.

    stubs: whether the overlay of `typed-nnx stubs`, if there is one, is up to date.

    PATH are files and folders; by default the files that mypy's settings name or, for migrate, this
    folder without what mypy's `exclude` matches and Git ignores. The code is not imported, and
    nothing is written except the caches of mypy and of `typed-nnx stubs`.
    """
    if given["explain"] is not None:
        _explain(*given["explain"], given["python"])
        return
    parts = _parts(given["only"], given["skip"])
    scope = _scope(given)
    logs_to_output = [
        option for option, file in (("--sarif", given["sarif"]), ("--json", given["json_file"]))
        if file is not None and is_standard_output(file)
    ]  # fmt: skip
    if len(logs_to_output) > 1:
        raise click.UsageError(
            "standard output takes one of --sarif and --json.\n  Fix: --json FILE"
        )
    to_output = bool(logs_to_output)
    screen = Screen(quiet=given["quiet"], to_errors=to_output)
    outcomes = {part: _run(part, scope, screen) for part in parts}
    screen.show_table()
    if given["sarif"] is not None:
        logs = [outcome.log for outcome in outcomes.values() if outcome.log is not None]
        write_text(given["sarif"], json.dumps(joined(logs), indent=2, ensure_ascii=False) + "\n")
    if given["json_file"] is not None:
        write_text(given["json_file"], json.dumps(screen.as_json(), indent=2) + "\n")
    states = {outcome.state for outcome in outcomes.values()}
    sys.exit(COULD_NOT_RUN if FAILED in states else SOMETHING_FOUND if FINDINGS in states else OK)


def _explain(file: Path, line: int, python: str | None) -> None:
    mypy_run: Any = importlib.import_module("typed_nnx_codegen.mypy_run")
    new_linter: Any = importlib.import_module("typed_nnx_codegen.lint.linter").Linter
    explained_at: Any = importlib.import_module("typed_nnx_codegen.lint.hovers").explained_at
    cache: str = importlib.import_module("typed_nnx_codegen.lint.options").CACHE
    path = file.resolve()
    try:
        linted: Any = new_linter(python, Path(cache)).lint(
            [str(file)], [path], functools.partial(explained_at, line=line)
        )
    except mypy_run.CouldNotRun as error:
        raise click.UsageError(str(error)) from error
    texts = [each.text for each in linted.hovers.get(str(path), ())]
    click.echo("\n\n".join(texts) or f"{file}:{line}: no State and no model is known here")


def _parts(only: tuple[str, ...], skip: tuple[str, ...]) -> list[str]:
    parts = [part for part in PARTS if part in (only or PARTS) and part not in skip]
    if not parts:
        raise click.UsageError("no part is left to run.\n  Fix: leave out --skip or --only")
    return parts


def _scope(given: _Given) -> Scope:
    # Here, since the address is of no use before the log is written.
    address: str = importlib.import_module("typed_nnx_codegen.sarif.command").checked_address(
        given["docs"]
    )
    return Scope(
        paths=given["paths"],
        folder=Path.cwd(),
        root=given["root"].resolve(),
        target=given["target"],
        python=given["python"],
        jobs=given["jobs"] or os.cpu_count() or 1,
        docs=address,
    )


def _run(part: str, scope: Scope, screen: Screen) -> Outcome:
    missing = [name for name in _NEEDS[part] if importlib.util.find_spec(name) is None]
    began = time.monotonic()
    with working(f"checking: {part}"):
        if missing:
            remedy = "pip install 'typed-nnx[tools]'"
            outcome = Outcome(FAILED, f"{', '.join(missing)} is not installed", remedy=remedy)
        else:
            run: Any = importlib.import_module(PARTS[part]).run
            outcome = cast("Outcome", run(scope))
    screen.show(part, outcome, time.monotonic() - began)
    return outcome
