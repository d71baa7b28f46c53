"""What the demo says while it trains: a progress bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from examples.digits.training import Scores

LINES = 10  # of a run, where there is no terminal


class Epochs:
    """Reports the epochs of one run; used in a `with` statement."""

    def __init__(self, console: Console, name: str, epochs: int) -> None:
        self._console = console
        self._name = name
        self._epochs = epochs
        self._done = 0
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

    def report(self, seen: Scores) -> None:
        """Report one epoch, by the scores of its batches."""
        self._done += 1
        said = f"loss {seen.loss:.3f}, accuracy {seen.accuracy:.1%}"
        self._bar.update(self._task, advance=1, said=said)
        # The last epoch of each tenth.
        tenths = self._done * LINES // self._epochs
        if not self._console.is_terminal and tenths > (self._done - 1) * LINES // self._epochs:
            self._console.print(f"{self._name}: epoch {self._done}/{self._epochs}, {said}")
