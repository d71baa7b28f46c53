"""The data and the progress of a run; the Linen original and its migration have the same."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from rich.console import Console

from examples.digits.curves import Curves
from examples.digits.data import Digits, batches, load
from examples.digits.progress import Epochs
from examples.digits.training import Scores

ROWS = 48  # of a batch
SEED = 0


class Batches:
    """scikit-learn's digits, parted at random; the same batches for everyone who asks.

    Attributes:
        test: The images that are never trained on.
        steps: The number of batches of an epoch.
    """

    def __init__(self) -> None:
        self._train, self.test = load(SEED)
        self._rng = np.random.default_rng(SEED)
        self.steps = len(self._train.labels) // ROWS

    def of_epoch(self) -> Iterator[Digits]:
        """Yield the batches of the next epoch."""
        return batches(self._train, ROWS, self._rng)


class ReportedEpochs(Epochs):
    """Shows a progress bar, and keeps the curves; used in a `with` statement.

    Attributes:
        curves: What was reported until now.
    """

    def __init__(self, console: Console, name: str, epochs: int) -> None:
        super().__init__(console, name, epochs)
        self.curves = Curves([], [], [])

    def keep(self, losses: list[float], seen: float, unseen: float) -> None:
        """Take the losses of an epoch, and its accuracies on seen and unseen images."""
        self.curves.losses.extend(losses)
        self.curves.train_accuracies.append(seen)
        self.curves.test_accuracies.append(unseen)
        self.report(Scores(sum(losses) / len(losses), seen))
