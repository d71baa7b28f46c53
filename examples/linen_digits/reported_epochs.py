"""The data, the progress and the curves of a run; the Linen original and its migration have the same."""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType
from typing import NamedTuple, Self

import numpy as np
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from examples.linen_digits.data import Digits, batches, load

ROWS = 48  # of a batch
SEED = 0
LINES = 10  # of a run, where there is no terminal


class Curves(NamedTuple):
    """Loss in nats of each step's batch, and share of right answers after each epoch."""

    losses: list[float]
    train_accuracies: list[float]
    test_accuracies: list[float]


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


class ReportedEpochs:
    """Shows a progress bar, and keeps the curves; used in a `with` statement.

    Without a terminal it prints lines.

    Attributes:
        curves: What was reported until now.
    """

    def __init__(self, console: Console, name: str, epochs: int) -> None:
        self.curves = Curves([], [], [])
        self._console = console
        self._name = name
        self._epochs = epochs
        self._bar = Progress(
            TextColumn("{task.description:>20}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[said]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task(name, total=epochs, said="compiling")

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()

    def keep(self, losses: list[float], seen: float, unseen: float) -> None:
        """Take the losses of an epoch, and its accuracies on seen and unseen images."""
        self.curves.losses.extend(losses)
        self.curves.train_accuracies.append(seen)
        self.curves.test_accuracies.append(unseen)
        said = f"loss {sum(losses) / len(losses):.3f}, accuracy {seen:.1%}"
        self._bar.update(self._task, advance=1, said=said)
        # The last epoch of each tenth.
        done = len(self.curves.test_accuracies)
        tenths = done * LINES // self._epochs
        if not self._console.is_terminal and tenths > (done - 1) * LINES // self._epochs:
            self._console.print(f"{self._name}: epoch {done}/{self._epochs}, {said}")
