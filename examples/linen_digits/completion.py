"""Step 3: `typed-nnx stubs` writes what States hold, and an editor completes it.

The answers are those of pyright's language server, which is asked as an editor asks it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from examples.linen_digits.commands import run
from examples.linen_digits.html_parts import popup_html
from examples.linen_digits.stage import PACKAGE, Block, Stage, StepFailedError, Told

# The client is that of the tests, which check the whole of what editors are told.
from tests.ide.language_server import language_server
from tests.support.editor import Editor, ServerError

OVERLAY = Path("typings/typed_nnx_models.pyi")
SCRIPT = f"""\
import typed_nnx as nnx
from {PACKAGE}.models import DigitReader


def look(model: DigitReader) -> None:
    state = nnx.state(model)
    graphdef, params, rest = nnx.split(model, nnx.Param, ...)
"""
QUESTIONS = (
    "state.",
    "state.conv_blocks[0].",
    "state.conv_blocks[0].batch_norm_0.",
    "params.conv_blocks[0].batch_norm_0.",
    "state.head.logits.",
)
MOST = 12  # fields, of which a type is asked for
_HOVER = re.compile(r"\((?P<kind>\w+)\) \w+: (?P<type>.+)")


class Field(NamedTuple):
    """A name that is offered, and its type."""

    name: str
    type: str


class Answer(NamedTuple):
    """What an editor completes after some code: the fields, and how many other names follow."""

    code: str
    fields: list[Field]
    others: int


def _fields(server: Editor, file: Path, code: str, names: Sequence[str]) -> Iterator[Field]:
    """Yield the fields at the head of what is offered, each with its type; methods come after."""
    lines = "".join(f"    {code}{name}$0\n" for name in names)
    for name, place in zip(names, server.show(file, SCRIPT + lines), strict=True):
        match = _HOVER.match(server.hover(file, place))
        if match is None or match["kind"] not in ("variable", "property"):
            return
        yield Field(name, match["type"])


def _answer(server: Editor, file: Path, code: str) -> Answer:
    (place,) = server.show(file, f"{SCRIPT}    {code}$0\n")
    names = server.complete(file, place)
    fields = list(_fields(server, file, code, names[:MOST]))
    return Answer(code, fields, len(names) - len(fields))


def answers(project: Path) -> list[Answer]:
    """Ask the language server what it completes in a file of the project.

    Raises:
        StepFailedError: It did not answer.
    """
    folder = project.resolve()
    try:
        with language_server(folder, timeout=120.0) as server:
            return [_answer(server, folder / "look.py", code) for code in QUESTIONS]
    except ServerError as error:
        raise StepFailedError(f"the language server failed: {error}") from None


def show(console: Console, found: Sequence[Answer]) -> None:
    """Print each line of code with the list that opens at its end."""
    for one in found:
        code = Syntax("", "python", theme="ansi_dark").highlight(one.code)
        code.rstrip()
        console.print(Padding(code.append("▏", "bold"), (0, 0, 0, 4)))
        table = Table(box=box.ROUNDED, show_header=False, border_style="dim", padding=(0, 1))
        for field in one.fields:
            table.add_row(Text(field.name, "bold"), Text(field.type, "cyan"))
        table.add_row(Text("…", "dim"), Text(f"{one.others} other names", "dim"))
        console.print(Padding(table, (0, 0, 0, 3 + len(one.code))))


def write_overlay(stage: Stage, told: Told) -> str:
    """Write the overlay of the project, and return what the command says."""
    return run(stage, told, ["typed-nnx", "stubs", PACKAGE], stage.project).said.strip()


def complete(stage: Stage) -> Told:
    """Write the overlay, and ask what an editor now completes."""
    told = Told()
    stage.say(told, write_overlay(stage, told))
    found = answers(stage.project)
    show(stage.console, found)
    empty = [one.code for one in found if not one.fields]
    if empty:
        raise StepFailedError(f"the language server completes no field after {', '.join(empty)}.")

    stage.say(told, "These are answers of pyright's language server, asked as an editor asks it.")
    popups = (popup_html(one.code, one.fields, f"… {one.others} other names") for one in found)
    told.blocks = [Block("What an editor completes", "".join(popups))]
    told.figures = [(str(sum(len(one.fields) for one in found)), "fields completed, with types")]
    told.files = {stage.project / OVERLAY: "the overlay that editors and checkers read"}
    return told
