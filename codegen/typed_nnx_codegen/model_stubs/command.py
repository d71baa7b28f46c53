"""The command ``typed-nnx stubs``."""

from __future__ import annotations

import dataclasses
import json
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypedDict, Unpack

import click

from typed_nnx_codegen.completion.values import complete_folders, complete_paths
from typed_nnx_codegen.console.help_pages import TaughtCommand
from typed_nnx_codegen.console.statuses import COULD_NOT_RUN, FINDINGS, OK
from typed_nnx_codegen.console.terminal import working
from typed_nnx_codegen.console.writing import is_standard_output, json_option, write_text
from typed_nnx_codegen.model_stubs.generation import (
    DEFAULT_OUT,
    OverlayState,
    Request,
    arguments_in,
    overlay_state,
)
from typed_nnx_codegen.model_stubs.models import Kind, Models, Problem
from typed_nnx_codegen.model_stubs.overlay import RUNTIMES
from typed_nnx_codegen.model_stubs.overlay_file import NAME, write_overlay
from typed_nnx_codegen.settings.pyright_settings import find_stub_path

CACHE = ".typed_nnx_cache"


class _Given(TypedDict):
    """What the command line gives."""

    sources: tuple[str, ...]
    out: str
    check: bool
    runtime: str
    python: str | None
    cache: str
    json_file: Path | None
    quiet: bool


@click.command(
    name="stubs",
    cls=TaughtCommand,
    examples=(
        ("typed-nnx stubs src/app", "Write typings/typed_nnx_models.pyi for the models in it."),
        ("typed-nnx stubs src/app --check", "For CI: is that file up to date?"),
    ),
    statuses={
        OK: "the overlay is written, or with --check current",
        FINDINGS: "a file could not be read (the overlay has the models of the others), there are "
        "no models, or with --check the overlay is missing or stale",
        COULD_NOT_RUN: "a source that does not exist, or wrong use",
    },
)
@click.argument(
    "sources", metavar="PACKAGE_OR_FILE...", nargs=-1, required=True, shell_complete=complete_paths
)
@click.option(
    "--out",
    default=DEFAULT_OUT,
    metavar="FOLDER",
    shell_complete=complete_folders,
    help="Folder of the overlay; by default typings.",
)
@click.option("--check", is_flag=True, help="Write nothing; status 1 if the overlay is stale.")
@click.option(
    "--runtime",
    type=click.Choice(RUNTIMES),
    default=RUNTIMES[0],
    show_default=True,
    help="The package that the models use.",
)
@click.option(
    "--python",
    metavar="FILE",
    shell_complete=complete_paths,
    help="The interpreter whose packages the models use.",
)
@click.option(
    "--cache",
    default=CACHE,
    metavar="FOLDER",
    shell_complete=complete_folders,
    help=f"The folder of the cache; by default {CACHE}.",
)
@json_option("the models, and how the overlay was before")
@click.option("-q", "--quiet", is_flag=True, help="Show only errors.")
def stubs(**given: Unpack[_Given]) -> None:
    """Let editors complete the fields of States: write their classes for your models.

    Reads PACKAGE_OR_FILE, without importing it, and writes one file, the overlay
    FOLDER/typed_nnx_models.pyi. Pylance and pyright find it in `typings` by default.
    """
    json_file = given["json_file"]
    request = request_from(given)
    with working("reading models", quiet=given["quiet"]):
        models = _read(request)
        state = overlay_state(request, models)
    if json_file is not None:
        write_text(json_file, _as_json(request, models, state))
    if state.kind == "no models":
        sys.exit(_nothing_found(request, models))
    if given["check"] and state.problem:
        _complain(f"{request.path} {state.problem}.\n  Fix: {request.command}")
        sys.exit(FINDINGS)
    is_written = not given["check"] and write_overlay(state.files)
    outcome = "written" if is_written else "current" if given["check"] else "unchanged"
    if not given["quiet"] and not (json_file is not None and is_standard_output(json_file)):
        click.echo(f"{request.path}: {_count(models)}, {outcome}")
    sys.exit(FINDINGS if models.problems else OK)


def request_from(given: Mapping[str, Any]) -> Request:
    """Return what a command line asks for, from its values by the names of the parameters."""
    return Request(
        sources=given["sources"],
        out=Path(given["out"]),
        runtime=given["runtime"],
        cache=Path(given["cache"]),
        python=given["python"],
    )


def _read(request: Request) -> Models:
    try:
        models = request.read()
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    for problem in models.problems:
        _show(problem)
    return models


def _as_json(request: Request, models: Models, state: OverlayState) -> str:
    found = {
        "overlay": str(request.path),
        "state": state.kind,
        "stale": list(state.names),
        "models": [name for name in models.roots if models.classes[name].kind is Kind.PYTREE],
        "problems": [dataclasses.asdict(problem) for problem in models.problems],
    }
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n"


def _nothing_found(request: Request, models: Models) -> int:
    named = {problem.path for problem in models.problems} >= set(request.sources)
    places = ", ".join(request.sources)
    _complain(
        f"typed-nnx stubs: no model classes in {places}; {request.path} is left as it is.\n"
        f"  Fix: name the package, folder or file of your {request.runtime} Modules"
    )
    return COULD_NOT_RUN if named else FINDINGS


def _count(models: Models) -> str:
    count = sum(models.classes[name].kind is Kind.PYTREE for name in models.roots)
    return f"{count} model{'' if count == 1 else 's'}"


def _show(problem: Problem) -> None:
    place = click.style(f"{problem.path}:{problem.line}:", bold=True)
    click.echo(f"{place} {click.style(problem.message, fg='red')}", err=True)


def _complain(message: str) -> None:
    click.secho(message, fg="red", err=True)


# -- the request that wrote an overlay --------------------------------------------------------


class BadOverlay(ValueError):
    """It is not known how an overlay was written. The message says what to do."""


def find_overlay(folder: Path) -> Path | None:
    """Return the overlay of the project in a folder: where pyright looks, or where we write it."""
    places = (find_stub_path(folder).folder, folder / DEFAULT_OUT)
    return next((place / NAME for place in places if (place / NAME).is_file()), None)


def request_of(overlay: Path, folder: Path) -> Request:
    """Return the request that wrote an overlay, as its first line says.

    Args:
        overlay: The file.
        folder: Where the command runs; the sources are named from there.

    Raises:
        BadOverlay: The first line does not say it, or names other files than these.
    """
    shown = overlay.relative_to(folder) if overlay.is_relative_to(folder) else overlay
    again = f"typed-nnx stubs PACKAGE --out {shlex.quote(str(shown.parent))}"
    arguments = arguments_in(overlay)
    if arguments is None:
        raise BadOverlay(f"{shown}: its first line does not say what wrote it.\n  Fix: {again}")
    try:
        context = stubs.make_context("typed-nnx stubs", arguments)
    except click.ClickException as error:
        raise BadOverlay(
            f"{shown}: its first line has a command that is not known: {error.message}\n"
            f"  Fix: {again}"
        ) from error
    request = request_from(context.params)
    if (folder / request.path).resolve() != overlay.resolve():
        raise BadOverlay(
            f"{shown}: it was written from another folder, as {request.path}.\n"
            f"  Fix: run this where `{request.command}` was run, or {again}"
        )
    return request
