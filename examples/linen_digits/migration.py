"""Step 1: the codemod turns the Linen project into one on typed_nnx."""

from __future__ import annotations

import shutil
from collections.abc import Iterable

from rich.syntax import Syntax

from examples.linen_digits.commands import run, shown_path
from examples.linen_digits.html_parts import diff_html
from examples.linen_digits.original import copy_original
from examples.linen_digits.stage import PACKAGE, Block, Stage, StepFailedError, Told

DIFF = "migrate.diff"
MARKER = "TODO[typed-nnx]"
# Where the part of the diff that the terminal shows begins, and how many lines it has.
EXCERPTS = (
    (f"{PACKAGE}/models.py", "class ConvBlock", 22),
    (f"{PACKAGE}/train.py", "import jax", 34),
)


def part_of(diff: str, file: str, start: str, count: int) -> str:
    """Return the header of a file's diff, and some lines from the first that contains a text.

    Raises:
        StepFailedError: There is no such line.
    """
    lines = diff.splitlines()
    header = f"+++ b/{file}"
    if header in lines:
        after = lines[lines.index(header) + 1 :]
        for number, line in enumerate(after):
            if line.startswith("--- "):
                break
            if start in line:
                return "\n".join([f"--- a/{file}", header, *after[number : number + count]])
    raise StepFailedError(f"the diff of {file} has no line with {start!r}.")


def excerpt(diff: str) -> str:
    """Return what the terminal shows of the diff."""
    return "\n".join(part_of(diff, *one) for one in EXCERPTS)


def _counted(lines: Iterable[str], sign: str) -> int:
    return sum(line.startswith(sign) and not line.startswith(sign * 3) for line in lines)


def migrate(stage: Stage) -> Told:
    """Migrate a copy of the project, in place."""
    told = Told()
    shutil.rmtree(stage.project, ignore_errors=True)
    copy_original(stage.project)
    # The folder may be in a checkout, where files that Git does not have would be refused.
    options = ["--write", "--diff", "--allow-dirty", "--report", "html"]
    command = ["typed-nnx", "migrate", "--linen", PACKAGE, *options]
    ran = run(stage, told, [*command, "--report-file", "../migration.html"], stage.project)
    path = stage.write(DIFF, ran.said)

    marked = [one.name for one in stage.package.glob("*.py") if MARKER in one.read_text("utf-8")]
    if marked or "class DigitReader(nnx.Module)" not in (stage.package / "models.py").read_text():
        raise StepFailedError(
            f"the migration left something to a person in {marked or 'models.py'}."
        )
    lines = ran.said.splitlines()
    stage.console.print(Syntax(excerpt(ran.said), "diff", theme="ansi_dark", word_wrap=True))
    stage.console.print(f"  (parts of {shown_path(path)})", style="dim")
    stage.say(
        told,
        f"{_counted(lines, '-')} lines became {_counted(lines, '+')}: three modules, and what the "
        "training calls. Its loop is as it was, with a TrainState; nothing is left to a person.",
    )
    stage.say(told, "A map beside the models says where the weights of old checkpoints go.")
    told.blocks = [Block("The complete diff", diff_html(ran.said))]
    told.figures = [("0", "places left to a person")]
    told.files = {
        path: "the diff, as `git apply` takes it",
        stage.out / "migration.html": "the codemod's own report",
        stage.package / "models.py": "the migrated model",
        stage.package / "train.py": "the migrated training loop",
        stage.package / "models.migration.json": "the map of the weights",
    }
    return told
