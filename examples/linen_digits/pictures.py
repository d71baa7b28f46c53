"""Draws the pictures of the README from what the commands answer today.

python -m examples.linen_digits.pictures [FOLDER]
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from io import StringIO
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.syntax import Syntax
from rich.terminal_theme import TerminalTheme

from examples.linen_digits import checking, completion, migration, planted
from examples.linen_digits.commands import start
from examples.linen_digits.stage import ROOT, Stage, StepFailedError, Told

FOLDER = ROOT / "docs" / "images"
# Dark, on the page colors of the demo's report.
THEME = TerminalTheme(
    (13, 17, 23),
    (230, 237, 243),
    [
        (72, 79, 88),
        (255, 123, 114),
        (86, 211, 100),
        (227, 179, 65),
        (121, 192, 255),
        (210, 168, 255),
        (86, 212, 221),
        (177, 186, 196),
    ],
    [
        (139, 148, 158),
        (255, 161, 152),
        (126, 231, 135),
        (242, 204, 96),
        (165, 214, 255),
        (226, 197, 255),
        (179, 240, 255),
        (240, 246, 252),
    ],
)
FONTS = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace"


class Picture(NamedTuple):
    """A picture to be: the name of its file, its title, its width in characters, its content."""

    name: str
    title: str
    width: int
    draw: Callable[[Console, Stage], None]


def _draw_diff(console: Console, stage: Stage) -> None:
    migration.migrate(stage)
    diff = (stage.out / migration.DIFF).read_text(encoding="utf-8")
    console.print(Syntax(migration.excerpt(diff), "diff", theme="ansi_dark", word_wrap=True))


def _draw_reports(console: Console, stage: Stage) -> None:
    checking.add_typed_loop(stage)
    checking.write_settings(stage)
    checking.plant(stage, planted.planted_text())
    said = checking.mypy(stage, start(stage, checking.MYPY, stage.project), found=1)
    checking.show(console, checking.planted_reports(stage, said))
    checking.plant(stage, planted.TEXT)


def _draw_completion(console: Console, stage: Stage) -> None:
    completion.write_overlay(stage, Told())
    completion.show(console, completion.answers(stage.project))


# In this order: each needs what those before it leave in the project.
PICTURES = (
    Picture("migrate-diff", "typed-nnx migrate --linen digit_reader", 100, _draw_diff),
    Picture("mypy-report", "mypy digit_reader", 100, _draw_reports),
    Picture("editor-completion", "after typed-nnx stubs digit_reader", 84, _draw_completion),
)


def recorded(picture: Picture, stage: Stage) -> Console:
    """Return a console that has the content of a picture."""
    console = Console(
        record=True,
        width=picture.width,
        file=StringIO(),
        force_terminal=True,
        color_system="truecolor",
        no_color=False,
        highlight=False,
    )
    picture.draw(console, stage)
    return console


def svg_of(picture: Picture, console: Console) -> str:
    """Return what a console has as SVG that loads nothing and has the fonts of the reader."""
    svg = console.export_svg(title=picture.title, theme=THEME, unique_id=picture.name, clear=False)
    svg = re.sub(r"\s*@font-face \{.*?\}|<!--.*?-->\s*", "", svg, flags=re.DOTALL)
    return re.sub(r"font-family: ?(Fira Code|arial)[^;]*;", f"font-family: {FONTS};", svg)


def quiet_stage(out: Path) -> Stage:
    """Return a stage in a folder, which says nothing."""
    return Stage(Console(file=StringIO()), out, epochs=0, accuracy=0.0)


def main(arguments: Sequence[str]) -> int:
    """Write all pictures, and return the exit code."""
    folder = Path(arguments[0]) if arguments else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as out:
        stage = quiet_stage(Path(out).resolve())
        for picture in PICTURES:
            try:
                console = recorded(picture, stage)
            except StepFailedError as error:
                sys.stderr.write(f"{picture.name}: {error}\n")
                return 1
            path = folder / f"{picture.name}.svg"
            path.write_text(svg_of(picture, console), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
