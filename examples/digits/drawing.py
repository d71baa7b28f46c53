"""The curves of runs as a picture."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from examples.digits.curves import Curves


def smoothed(losses: list[float], epochs: int) -> tuple[np.ndarray, np.ndarray]:
    """Return each step that an epoch of steps goes before, and the mean loss of that epoch."""
    width = max(1, len(losses) // epochs)
    means = np.convolve(losses, np.full(width, 1 / width), mode="valid")
    return np.arange(width - 1, len(losses)), means


def draw(curves: Mapping[str, Curves], path: Path) -> None:
    """Draw losses on the left and accuracies on the right, into a PNG file."""
    mpl.use("Agg")
    figure = Figure(figsize=(11, 4.5), dpi=120, layout="constrained")
    losses, accuracies = figure.subplots(1, 2)
    for number, (name, curve) in enumerate(curves.items()):
        color = f"C{number}"
        epochs = range(1, len(curve.test_accuracies) + 1)
        losses.plot(curve.losses, color=color, linewidth=0.5, alpha=0.3)
        losses.plot(*smoothed(curve.losses, len(epochs)), color=color, label=name)
        accuracies.plot(epochs, curve.train_accuracies, ":", color=color, label=f"{name}, training")
        accuracies.plot(epochs, curve.test_accuracies, color=color, label=f"{name}, test")
    losses.set(xlabel="step", ylabel="loss of the batch in nats", yscale="log")
    accuracies.set(xlabel="epoch", ylabel="share of right answers", ylim=(0.8, 1.0))
    for axes in (losses, accuracies):
        axes.grid(alpha=0.3)
        axes.legend()
    figure.savefig(path)
