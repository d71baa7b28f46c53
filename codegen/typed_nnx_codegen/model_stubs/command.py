"""The command ``typed-nnx stubs``."""

from __future__ import annotations

import functools
import sys
from pathlib import Path

import click

from typed_nnx_codegen.model_stubs.generation import DEFAULT_OUT, Request
from typed_nnx_codegen.model_stubs.models import Kind, Models, Problem
from typed_nnx_codegen.model_stubs.overlay import RUNTIMES
from typed_nnx_codegen.model_stubs.overlay_file import (
    differing_classes,
    read_overlay,
    write_overlay,
)
from typed_nnx_codegen.model_stubs.watching import look, wait_for_change, with_last_good

CACHE = ".typed_nnx_cache"

# Exit statuses beside 0.
FAILED = 1
WRONG_USE = 2

_MOST_NAMES = 12


@click.command(name="stubs")
@click.argument("sources", metavar="PACKAGE_OR_FILE...", nargs=-1, required=True)
@click.option("--out", default=DEFAULT_OUT, metavar="FOLDER", help="Folder of the overlay.")
@click.option("--check", is_flag=True, help="Write nothing; status 1 if the overlay is stale.")
@click.option("--watch", is_flag=True, help="Write again when a file is saved, until Ctrl-C.")
@click.option(
    "--runtime",
    type=click.Choice(RUNTIMES),
    default=RUNTIMES[0],
    help="The package that the models use.",
)
@click.option("--python", metavar="FILE", help="The interpreter whose packages the models use.")
@click.option("--cache", default=CACHE, metavar="FOLDER", help="What makes the next run quick.")
def stubs(
    sources: tuple[str, ...],
    out: str,
    check: bool,
    watch: bool,
    runtime: str,
    python: str | None,
    cache: str,
) -> None:
    """Write State classes with fields for the models in PACKAGE_OR_FILE.

    The source is read, never imported. The overlay is FOLDER/typed_nnx_models.pyi.

    Status 0: the overlay is written or current. Status 1: a file could not be read (the overlay
    has the models of the others), or with --check the overlay is stale. Status 2: wrong use.
    """
    if check and watch:
        raise click.UsageError("--check writes nothing and --watch writes; give one of them")
    request = Request(sources, Path(out), runtime, Path(cache), python)
    if watch:
        _watch(request)
        return
    models = _read(request)
    sys.exit(_check(request, models) if check else _write(request, models))


def _read(request: Request) -> Models:
    try:
        models = request.read()
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    for problem in models.problems:
        _show(problem)
    return models


def _write(request: Request, models: Models) -> int:
    if not models.roots:
        return _nothing_found(request, models)
    changed = write_overlay(request.path, request.text(models))
    click.echo(f"{request.path}: {_count(models)}, {'written' if changed else 'unchanged'}")
    return FAILED if models.problems else 0


def _nothing_found(request: Request, models: Models) -> int:
    named = {problem.path for problem in models.problems} >= set(request.sources)
    places = ", ".join(request.sources)
    _complain(
        f"typed-nnx stubs: no model classes in {places}; {request.path} is left as it is.\n"
        f"  Fix: name the package, folder or file of your {request.runtime} Modules"
    )
    return WRONG_USE if named else FAILED


def _check(request: Request, models: Models) -> int:
    if not models.roots:
        return _nothing_found(request, models)
    old, new = read_overlay(request.path), request.text(models)
    if old == new:
        click.echo(f"{request.path}: {_count(models)}, current")
        return FAILED if models.problems else 0
    if old is None:
        what = "is missing"
    else:
        names = differing_classes(old, new)
        more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        what = f"is out of date in {', '.join(names[:_MOST_NAMES])}{more}"
    _complain(f"{request.path} {what}.\n  Fix: {request.command}")
    return FAILED


def _watch(request: Request) -> None:
    last: Models | None = None
    seen = look(request.sources, Models({}, ()))
    try:
        while True:
            models = _read(request)
            last = with_last_good(models, last)
            _write(request, last)
            seen = wait_for_change(seen, functools.partial(look, request.sources, last))
    except KeyboardInterrupt:
        click.echo("stopped")


def _count(models: Models) -> str:
    count = sum(models.classes[name].kind is Kind.MODEL for name in models.roots)
    return f"{count} model{'' if count == 1 else 's'}"


def _show(problem: Problem) -> None:
    place = click.style(f"{problem.path}:{problem.line}:", bold=True)
    click.echo(f"{place} {click.style(problem.message, fg='red')}", err=True)


def _complain(message: str) -> None:
    click.secho(message, fg="red", err=True)
