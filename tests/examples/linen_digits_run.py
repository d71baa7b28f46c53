"""One short run of the demo, which all its tests look at."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path

from rich.console import Console

from examples.linen_digits.stage import Stage
from tests.support.once import once
from tests.support.processes import run_process

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Run:
    """What the demo said, its exit code, and the folder that it filled."""

    out: Path
    code: int
    said: str

    @property
    def stage(self) -> Stage:
        """The stage of the run, for what looks at it afterwards."""
        return stage_in(self.out)


def stage_in(out: Path) -> Stage:
    """Return a stage that says nothing."""
    return Stage(Console(file=StringIO()), out, epochs=1, accuracy=0.0)


def run_demo(out: Path, *options: str) -> Run:
    """Run the demo as a program of its own."""
    done = run_process(
        [sys.executable, "-m", "examples.linen_digits", "--out", str(out), *options],
        cwd=ROOT,
        timeout=900,
    )
    return Run(out, done.returncode, done.stdout + done.stderr)


def short_run(folder: Path) -> Run:
    """Return a run with one epoch; those that share a folder share it."""
    out = folder / "linen_digits"

    def work() -> list[object]:
        run = run_demo(out, "--epochs", "1", "--accuracy", "0")
        return [run.code, run.said]

    code, said = once("linen_digits", folder, work)
    return Run(out, code, said)


VOID = {"meta", "img", "br", "link", "hr", "input"}


class Page(HTMLParser):
    """What stands in an HTML page.

    Attributes:
        problems: Tags that are not closed where they have to be.
        links: Where links lead.
        ids: The names of places.
        loaded: What a browser would load.
        text: All text, but for styles.
        popups: The names and types in each list of completions, by the code before it.
    """

    def __init__(self, html: str) -> None:
        super().__init__()
        self.problems: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.loaded: list[str] = []
        self.text = ""
        self.popups: dict[str, list[tuple[str, str]]] = {}
        self._open: list[str] = []
        self._editor: list[str] | None = None
        self.feed(html)
        self.close()
        self.problems += [f"{tag} is open" for tag in self._open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.links += [found["href"]] if tag == "a" else []
        self.ids += [found["id"]] if "id" in found else []
        self.loaded += [found[name] for name in ("src", "srcset", "data") if name in found]
        self.loaded += [found["href"]] if tag == "link" else []
        if tag == "div" and "editor" in found.get("class", "").split():
            self._editor = []
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open.pop() != tag:
            self.problems.append(f"</{tag}> at {self.getpos()}")
        if tag == "div" and self._editor is not None:
            code, *cells = self._editor
            # The last cell counts the other names.
            self.popups[code] = list(zip(cells[:-1:2], cells[1:-1:2], strict=True))
            self._editor = None

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] == "style":
            self.loaded += ["url("] if "url(" in data or "@import" in data else []
            return
        self.text += data
        if self._editor is not None and data.strip():
            self._editor.append(data)
