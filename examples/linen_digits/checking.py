"""Step 2: a typed training loop, by hand; mypy finds mistakes by the plugin, and none without."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from typing import NamedTuple

from rich.console import Console
from rich.padding import Padding
from rich.syntax import Syntax
from rich.text import Text

from examples.linen_digits import planted
from examples.linen_digits.commands import announce, start, wait
from examples.linen_digits.html_parts import code_html, reports_html
from examples.linen_digits.stage import (
    HERE,
    PACKAGE,
    TYPED,
    Block,
    Job,
    Stage,
    StepFailedError,
    Told,
)

BY_HAND = HERE / "by_hand" / TYPED
WITHOUT_PLUGIN = "without_plugin.ini"
MYPY = ("mypy", PACKAGE)
MYPY_WITHOUT_PLUGIN = ("mypy", "--config-file", WITHOUT_PLUGIN, PACKAGE)
SAID = "mypy-planted.txt"
SETTINGS = """\
[mypy]
check_untyped_defs = True
pretty = False

[mypy-optax.*,flax.*]
ignore_missing_imports = True
"""
_REPORT = re.compile(r"^(?P<file>[^:]+):(?P<line>\d+): error: (?P<text>.*?)  \[(?P<code>[\w-]+)\]$")


class Report(NamedTuple):
    """A report of mypy: the file from the project's folder, its line, and what the line says."""

    file: str
    line: int
    code: str
    text: str
    source: str


def reports_of(stage: Stage, said: str) -> list[Report]:
    """Return the reports in what mypy said, with the lines of the files as they are now."""
    found = []
    for match in filter(None, map(_REPORT.match, said.splitlines())):
        lines = (stage.project / match["file"]).read_text(encoding="utf-8").splitlines()
        number = int(match["line"])
        row = (match["file"], number, match["code"], match["text"], lines[number - 1].strip())
        found.append(Report(*row))
    return found


def show(console: Console, reports: Sequence[Report]) -> None:
    """Print each report below its line."""
    for number, one in enumerate(reports):
        head = Text.assemble((f"{one.file}:{one.line}", "cyan"), (f"  [{one.code}]", "dim"))
        console.print(Padding(head, (min(number, 1), 0, 0, 2)))
        code = Syntax(one.source, "python", theme="ansi_dark", background_color="default")
        console.print(Padding(code, (0, 0, 0, 6)))
        problem, _, fix = one.text.partition(" Fix: ")
        console.print(Padding(Text.assemble(("error: ", "bold red"), problem), (0, 0, 0, 6)))
        if fix:
            console.print(Padding(Text.assemble(("Fix: ", "bold green"), fix), (0, 0, 0, 6)))


def add_typed_loop(stage: Stage) -> None:
    """Put the training loop that is written by hand beside the migrated one."""
    shutil.copy(BY_HAND, stage.package / TYPED)


def show_typed_step(console: Console) -> None:
    """Print the step of the loop that is written by hand."""
    lines = BY_HAND.read_text(encoding="utf-8").splitlines()
    start = lines.index("@nnx.jit")
    end = next(n for n, line in enumerate(lines) if n > start and line.startswith("    return "))
    step = Syntax("\n".join(lines[start : end + 1]), "python", theme="ansi_dark")
    console.print(Padding(step, (0, 0, 0, 4)))


def plant(stage: Stage, text: str) -> None:
    """Write the file that is checked."""
    (stage.package / planted.NAME).write_text(text, encoding="utf-8")


def write_settings(stage: Stage) -> None:
    """Write the settings of mypy, with the plugin and without."""
    with_plugin = SETTINGS.replace("[mypy]", "[mypy]\nplugins = typed_nnx_mypy", 1)
    (stage.project / "mypy.ini").write_text(with_plugin, encoding="utf-8")
    # With a cache of its own: mypy begins anew where settings differ.
    without = SETTINGS.replace("[mypy]", "[mypy]\ncache_dir = .mypy_cache_without_plugin", 1)
    (stage.project / WITHOUT_PLUGIN).write_text(without, encoding="utf-8")


def mypy(stage: Stage, job: Job, found: int) -> str:
    """Wait for mypy, and return what it says.

    Args:
        stage: The demo.
        job: A run of mypy.
        found: The status that it is to have: 1 for errors, 0 for none.

    Raises:
        StepFailedError: It has another one.
    """
    ran = wait(stage, job, statuses=(0, 1))
    if ran.status != found:
        expected = "errors" if found else "none"
        raise StepFailedError(f"mypy was to report {expected}, and said:\n{ran.said.strip()}")
    return ran.said.strip()


def planted_reports(stage: Stage, said: str) -> list[Report]:
    """Return the reports in what mypy says of the mistakes.

    Raises:
        StepFailedError: They are not those that the mistakes should have.
    """
    reports = reports_of(stage, said)
    if {one.code for one in reports} != {one.code for one in planted.MISTAKES}:
        raise StepFailedError(f"mypy was to report the planted mistakes, and said:\n{said}")
    stage.write(SAID, f"{said}\n")
    return reports


def check(stage: Stage) -> Told:
    """Write the loop with types; plant mistakes, have them found, and take them out."""
    told = Told()
    add_typed_loop(stage)
    stage.say(
        told,
        f"What a person does next: {TYPED}, written by hand beside the migrated train.py, trains "
        "with a model and its optimizer.",
    )
    show_typed_step(stage.console)
    write_settings(stage)
    plant(stage, planted.planted_text())
    # Side by side: neither has a cache, and each reads all of jax.
    with_plugin, without = (
        start(stage, line, stage.project) for line in (MYPY, MYPY_WITHOUT_PLUGIN)
    )
    announce(stage, told, MYPY, stage.project)
    reports = planted_reports(stage, mypy(stage, with_plugin, 1))
    show(stage.console, reports)
    stage.say(told, f"The plugin finds both mistakes that were planted in {planted.NAME}.")
    announce(stage, told, MYPY_WITHOUT_PLUGIN, stage.project)
    stage.say(told, f"Without the plugin, mypy says of the same files: {mypy(stage, without, 0)}")

    plant(stage, planted.TEXT)
    announce(stage, told, MYPY, stage.project)
    clean = mypy(stage, start(stage, MYPY, stage.project), 0)
    stage.say(told, f"With the plugin, and without the mistakes: {clean}")

    told.blocks = [
        Block("The loop that is written by hand", code_html(BY_HAND.read_text(encoding="utf-8"))),
        Block("What mypy reports", reports_html(reports)),
    ]
    told.figures = [(f"{len(reports)} of {len(planted.MISTAKES)}", "planted mistakes found")]
    told.files = {
        stage.package / TYPED: "the training loop that is written by hand",
        stage.out / SAID: "the reports as mypy wrote them",
        stage.package / planted.NAME: "the file, without the mistakes",
        stage.project / "mypy.ini": "the settings: one line switches the plugin on",
    }
    return told
