"""Where output goes: a terminal with colours and a width, or a pipe or file without either."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich import box
from rich.console import Console
from rich.table import Table

from typed_nnx_codegen.console.colours import asked_for

# A pipe has no edge: no line is cut or wrapped there.
_WITHOUT_EDGE = 100_000


def console_of(*, to_errors: bool = False, on_terminal: bool | None = None) -> Console:
    """Return a console for standard output or standard error.

    Args:
        to_errors: Whether it is for standard error.
        on_terminal: Whether that is a terminal; None to find out.
    """
    if on_terminal is None:
        on_terminal = (sys.stderr if to_errors else sys.stdout).isatty()
    asked = asked_for()
    colours = on_terminal if asked is None else asked
    return Console(
        stderr=to_errors,
        highlight=False,
        force_terminal=on_terminal,
        color_system=("auto" if on_terminal else "standard") if colours else None,
        no_color=not colours,
        width=None if on_terminal else _WITHOUT_EDGE,
    )


def new_table(*columns: str) -> Table:
    """Return a table as all commands show them."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in columns:
        table.add_column(name, overflow="fold")
    return table


def print_table(console: Console, table: Table) -> None:
    """Print a table: fitted to a terminal; in a pipe as wide as it is, with no spaces at line ends."""
    if console.is_terminal:
        console.print(table)
        return
    text = io.StringIO()
    Console(
        file=text,
        width=_WITHOUT_EDGE,
        force_terminal=False,
        highlight=False,
        color_system="standard" if console.color_system else None,
        no_color=console.no_color,
    ).print(table)
    for line in text.getvalue().splitlines():
        console.file.write(f"{line.rstrip()}\n")


@contextmanager
def working(console: Console, what: str) -> Iterator[None]:
    """Show what is going on for as long as the context lasts; on a terminal only."""
    if not console.is_terminal:
        yield
        return
    with console.status(what):
        yield
