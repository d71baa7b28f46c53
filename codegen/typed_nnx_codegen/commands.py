"""The command group ``typed-nnx``. Imports click, so only :mod:`cli` may import it."""

from __future__ import annotations

import click

from typed_nnx_codegen.model_stubs.command import stubs
from typed_nnx_codegen.sarif.command import sarif


@click.group(name="typed-nnx")
@click.version_option(package_name="typed-nnx", prog_name="typed-nnx")
def typed_nnx() -> None:
    """Tools around typed-nnx."""


typed_nnx.add_command(stubs)
typed_nnx.add_command(sarif)
