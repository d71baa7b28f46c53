"""Where output goes: a terminal with colours and a width, or a pipe or file without either."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich import box
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table

from typed_nnx_codegen.console.colours import asked_for

# A pipe has no edge: no line is cut or wrapped there.
_WITHOUT_EDGE = 100_000


def console_of(*, to_errors: bool = False) -> Console:
    """Return a console for standard output, or for standard error."""
    on_terminal = is_terminal("stderr" if to_errors else "stdout")
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


def is_terminal(name: str) -> bool:
    """Whether standard output, ``stdout``, or standard error, ``stderr``, is a terminal."""
    return (sys.stderr if name == "stderr" else sys.stdout).isatty()


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
def working(
    what: str, total: int | None = None, *, quiet: bool = False
) -> Iterator[Callable[[float], None]]:
    """Show what is going on for as long as the context lasts, where standard error is a terminal.

    Args:
        what: What that is, such as "migrating".
        total: How many steps it has; None where nobody knows.
        quiet: Whether to show nothing.

    Yields:
        A function that moves the bar on by some steps, or a part of one.
    """
    console = console_of(to_errors=True)
    if quiet or not console.is_terminal:
        yield lambda steps: None
        return
    console.file = sys.stderr  # also while what is done writes elsewhere
    counted = () if total is None else (BarColumn(), MofNCompleteColumn())
    text = TextColumn("{task.description}", markup=False)
    with Progress(
        SpinnerColumn(), text, *counted, TimeElapsedColumn(), console=console, transient=True
    ) as bar:
        task = bar.add_task(what, total=total)
        yield lambda steps: bar.advance(task, steps)
