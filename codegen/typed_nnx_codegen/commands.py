"""The command group ``typed-nnx``. Imports click, so only :mod:`cli` may import it."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import cast

import click

from typed_nnx_codegen.cli import leave_where_missing


@dataclass(frozen=True)
class _Entry:
    """A command that is imported when it is called: each needs other packages.

    Attributes:
        module: The module that it is in, under its own name.
        summary: What `--help` of the group says of it.
        needs: The packages that it needs, beside click.
    """

    module: str
    summary: str
    needs: tuple[str, ...] = ()


_MIGRATE = "typed_nnx_codegen.migrate.command"
_COMMANDS = {
    "migrate": _Entry(_MIGRATE, "Rewrite older NNX code.", ("libcst", "rich")),
    "rules": _Entry(_MIGRATE, "List the rules of migrate, with examples.", ("libcst", "rich")),
    "sarif": _Entry(
        "typed_nnx_codegen.sarif.command",
        "Turn what `mypy --output json` writes into SARIF 2.1.0.",
    ),
    "stubs": _Entry(
        "typed_nnx_codegen.model_stubs.command",
        "Write State classes with fields for your models.",
    ),
    "verify": _Entry(
        "typed_nnx_codegen.verify.command",
        "Compare Linen code with its migration: outputs, collections, gradients.",
        ("flax", "jax", "libcst", "rich"),
    ),
}


class _Commands(click.Group):
    """The group of the commands in ``_COMMANDS``."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names."""
        del ctx
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, or leave with a remedy where its packages are missing."""
        del ctx
        entry = _COMMANDS.get(cmd_name)
        if entry is None:
            return None
        leave_where_missing(entry.needs)
        return cast("click.Command", getattr(importlib.import_module(entry.module), cmd_name))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of the commands without importing them."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in _COMMANDS.items()])


@click.group(name="typed-nnx", cls=_Commands)
@click.version_option(package_name="typed-nnx", prog_name="typed-nnx")
def typed_nnx() -> None:
    """Tools around typed-nnx."""
