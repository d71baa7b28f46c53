"""What the demo says while it trains, and the curves that it draws at the end."""

from __future__ import annotations

import io
from pathlib import Path

import matplotlib.image
import pytest
from rich.console import Console

from examples.linen_digits.report import draw
from examples.linen_digits.reported_epochs import Curves, ReportedEpochs


def reported(*, terminal: bool, epochs: int) -> str:
    output = io.StringIO()
    console = Console(file=output, force_terminal=terminal, width=120)
    with ReportedEpochs(console, "mlp", epochs) as progress:
        for _ in range(epochs):
            progress.keep([0.25, 0.75], 0.875, 0.5)
    return output.getvalue()


@pytest.mark.parametrize(("epochs", "lines"), [(1, 1), (4, 4), (10, 10), (30, 10), (47, 10)])
def test_without_a_terminal_there_are_at_most_ten_plain_lines(epochs: int, lines: int) -> None:
    text = reported(terminal=False, epochs=epochs)
    assert "\x1b" not in text
    assert len(text.splitlines()) == lines
    last = f"mlp: epoch {epochs}/{epochs}, loss 0.500, accuracy 87.5%"
    assert text.splitlines()[-1] == last


def test_on_a_terminal_there_is_a_bar_with_the_last_scores() -> None:
    text = reported(terminal=True, epochs=30)
    assert "\x1b[" in text
    assert "30/30" in text
    assert "━" in text
    assert "loss 0.500, accuracy 87.5%" in text
    assert "mlp: epoch" not in text


CURVES = {"mlp": Curves([2.0, 1.0, 0.5], [0.7, 0.9], [0.6, 0.95])}


def test_curves_are_drawn_as_a_picture_that_is_not_blank(tmp_path: Path) -> None:
    draw(CURVES, tmp_path / "curves.png")
    picture = matplotlib.image.imread(tmp_path / "curves.png")
    assert picture.shape[:2] == (540, 1320)
    blue = (picture[..., 2] > 0.6) & (picture[..., 0] < 0.3)
    left, right = blue[:, :660].sum(), blue[:, 660:].sum()
    assert left > 200
    assert right > 200
