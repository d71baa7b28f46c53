"""Step 0: the Linen original begins to train, as it is; it leaves a checkpoint and its answers."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from examples.linen_digits.commands import announce, shown_path, start
from examples.linen_digits.reported_epochs import Curves
from examples.linen_digits.stage import HERE, PACKAGE, ROOT, Stage, Told

ORIGINAL = HERE / "linen_project" / PACKAGE
SCRIPT = "examples.linen_digits.linen_project.write_checkpoint"


def copy_original(folder: Path) -> None:
    """Copy the Linen project into a folder."""
    shutil.copytree(ORIGINAL, folder / PACKAGE, ignore=shutil.ignore_patterns("__pycache__"))


def curves_of(stage: Stage) -> Curves:
    """Return the curves of the original's training."""
    return Curves(**json.loads((stage.linen / "curves.json").read_text(encoding="utf-8")))


def start_original(stage: Stage) -> Told:
    """Begin to train the Linen model in a process of its own; `train` waits for its end."""
    told = Told()
    shutil.rmtree(stage.linen, ignore_errors=True)
    stage.linen.mkdir(parents=True)
    command = ["python", "-m", SCRIPT, "--out", shown_path(stage.linen)]
    command += ["--epochs", str(stage.epochs)]
    announce(stage, told, command, ROOT)
    start(stage, command, ROOT)
    stage.say(told, "It trains while the next steps run.")
    copy_original(stage.linen)
    told.files = {
        stage.linen / PACKAGE / "models.py": "the Linen model",
        stage.linen / PACKAGE / "train.py": "its training loop",
    }
    return told
