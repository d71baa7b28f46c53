"""Trains the Linen model, and writes its variables and its answers.

python -m examples.linen_digits.linen_project.write_checkpoint --out FOLDER
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import orbax.checkpoint as ocp
from rich.console import Console

from examples.linen_digits.linen_project.digit_reader import train
from examples.linen_digits.reported_epochs import Batches, ReportedEpochs


def main() -> None:
    """Write `variables`, an orbax checkpoint, `logits.npy` of the test images, and `curves.json`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--epochs", type=int, default=15)
    chosen = parser.parse_args()
    out: Path = chosen.out.resolve()

    batches = Batches()
    with ReportedEpochs(Console(), "flax.linen", chosen.epochs) as epochs:
        state = train.fit(chosen.epochs, batches.steps, batches.of_epoch, batches.test, epochs.keep)
    variables = {"params": state.params, "batch_stats": state.batch_stats}
    with ocp.StandardCheckpointer() as checkpointer:
        checkpointer.save(out / "variables", variables, force=True)
    np.save(out / "logits.npy", train.predict(state, batches.test.images))
    (out / "curves.json").write_text(json.dumps(epochs.curves._asdict()))


if __name__ == "__main__":
    main()
