"""The overlay that a project has, and the request that wrote it."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from typed_nnx_codegen.model_stubs.command import request_from, stubs
from typed_nnx_codegen.model_stubs.generation import DEFAULT_OUT, Request
from typed_nnx_codegen.model_stubs.overlay_file import NAME
from typed_nnx_codegen.model_stubs.overlay_state import arguments_in
from typed_nnx_codegen.settings.pyright_settings import find_stub_path


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
