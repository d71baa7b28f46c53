"""The examples of docs/mypy-plugin.md as files that mypy can check.

A section of the page has the code that is wrong and then the code that is right. Readers need no
imports and no model there; here each file begins with them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tests.mypy_plugin.case_files import short
from tests.mypy_plugin.page_preambles import OF_SECTION, with_what_it_uses
from tests.mypy_plugin.run import FOLDER, Report, footer, reports, write
from tests.support.once import once
from tests.support.type_checkers import REPOSITORY

PAGE = REPOSITORY / "docs" / "mypy-plugin.md"
UNDERSTOOD = "What it understands"
_HEADING = re.compile(r"^#{2,3} (.+)$", re.MULTILINE)
_BLOCK = re.compile(r"^```py\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_KINDS = ("wrong", "right")


@dataclass(frozen=True)
class Section:
    """A section of the page: its heading, its text and its blocks of code."""

    heading: str
    text: str

    @property
    def blocks(self) -> list[str]:
        """The blocks of code, in order."""
        return _BLOCK.findall(self.text)


def sections() -> dict[str, Section]:
    """Return the sections of the page by their headings, in order."""
    page = PAGE.read_text(encoding="utf-8")
    found = list(_HEADING.finditer(page))
    ends = [*(heading.start() for heading in found[1:]), len(page)]
    return {
        heading[1]: Section(heading[1], page[heading.end() : end])
        for heading, end in zip(found, ends, strict=True)
    }


def codes() -> list[str]:
    """Return the error codes that have a section, in the order of the page."""
    return [heading for heading in sections() if heading.startswith("nnx-")]


def said_of_page(shared_folder: Path) -> dict[str, list[Report]]:
    """Return what mypy says of each example; the workers of a test run share one run.

    The keys are like ``nnx-axes wrong`` and ``nnx-axes right``. Lines count from the first of the
    example.
    """

    def work() -> dict[str, list[Report]]:
        folder = FOLDER / "typed_nnx"
        write([], folder)
        starts = {}
        for key, source in _examples().items():
            name = f"page_{re.sub('[^a-z]', '_', key.lower())}.py"
            start, text = source
            (folder / name).write_text(text + footer(), encoding="utf-8")
            starts[name] = (key, start)
        found = reports(list(starts), folder)
        return {
            key: [each._replace(line=each.line - start) for each in found.get(name, [])]
            for name, (key, start) in starts.items()
        }

    loaded = once("plugin_page", shared_folder, work)  # JSON has lists in the place of tuples
    return {key: [Report(*one) for one in said] for key, said in loaded.items()}


def _examples() -> dict[str, tuple[int, str]]:
    """Return by key the number of lines above an example, and the whole file."""
    found = {}
    for heading, section in sections().items():
        blocks = section.blocks
        if heading == UNDERSTOOD:
            found[heading] = with_what_it_uses(blocks[0])
        elif heading.startswith("nnx-"):
            more = OF_SECTION.get(heading, "")
            for kind, block in zip(_KINDS, blocks, strict=False):
                # The code that is right may go on with names of the code that is wrong.
                before = blocks[0] if kind == "right" else ""
                found[f"{heading} {kind}"] = with_what_it_uses(block, more, before)
    return found


def revealed(said: list[Report]) -> list[str]:
    """Return what ``reveal_type`` says, in order."""
    return [short(report.message) for report in said if report.kind == "R"]
