"""Step 0: the Linen original, as it is, leaves a checkpoint and its answers."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from examples.digits.curves import Curves
from examples.linen_digits.commands import run, shown_path
from examples.linen_digits.stage import HERE, PACKAGE, ROOT, Stage, Told

ORIGINAL = HERE / "linen_project" / PACKAGE
SCRIPT = "examples.linen_digits.linen_project.write_checkpoint"


def copy_original(folder: Path) -> None:
    """Copy the Linen project into a folder."""
    shutil.copytree(ORIGINAL, folder / PACKAGE, ignore=shutil.ignore_patterns("__pycache__"))


def curves_of(stage: Stage) -> Curves:
    """Return the curves of the original's training."""
    return Curves(**json.loads((stage.linen / "curves.json").read_text(encoding="utf-8")))


def train_original(stage: Stage) -> Told:
    """Train the Linen model in a process of its own."""
    told = Told()
    shutil.rmtree(stage.linen, ignore_errors=True)
    stage.linen.mkdir(parents=True)
    command = ["python", "-m", SCRIPT, "--out", shown_path(stage.linen)]
    run(stage, told, [*command, "--epochs", str(stage.epochs)], ROOT, captured=False)
    accuracy = curves_of(stage).test_accuracies[-1]
    stage.say(told, f"The Linen model reads {accuracy:.2%} of 360 images that it never saw.")
    copy_original(stage.linen)
    told.figures = [(f"{accuracy:.1%}", "of unseen digits read by the Linen model")]
    told.files = {
        stage.linen / PACKAGE / "models.py": "the Linen model",
        stage.linen / PACKAGE / "train.py": "its training loop",
        stage.linen / "variables": "its checkpoint, by orbax",
    }
    return told
