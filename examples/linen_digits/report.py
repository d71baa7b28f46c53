"""Step 5: the curves, and one HTML page with all that the steps told."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from html import escape
from importlib.metadata import version
from pathlib import Path
from string import Template

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from examples.linen_digits.commands import shown_path
from examples.linen_digits.html_parts import picture_html, table_html
from examples.linen_digits.original import curves_of
from examples.linen_digits.reported_epochs import Curves
from examples.linen_digits.stage import HERE, Block, Done, Stage

PACKAGES = ("typed-nnx", "flax", "jax", "optax", "mypy", "pyright")


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


def draw_curves(stage: Stage) -> Path:
    """Draw the training of the original and of the migrated project into one picture."""
    migrated = json.loads((stage.out / "curves.json").read_text(encoding="utf-8"))
    path = stage.out / "curves.png"
    draw({"flax.linen": curves_of(stage), "typed_nnx": Curves(**migrated)}, path)
    return path


def write_report(stage: Stage, done: Sequence[Done]) -> Path:
    """Write `report.html`, which needs no other file to be read; its links lead to the others."""
    picture = draw_curves(stage)
    template = Template((HERE / "page.html").read_text(encoding="utf-8"))
    page = template.substitute(
        style=(HERE / "page.css").read_text(encoding="utf-8"),
        figures=_figures(done),
        times=_times(done),
        steps="".join(_step(stage, number, one) for number, one in enumerate(done)),
        curves=picture_html(picture, "Loss by step and accuracy by epoch of both trainings"),
        picture=_link(stage, picture),
        versions=table_html(("package", "version"), _versions()),
    )
    return stage.write("report.html", page)


def _versions() -> list[tuple[str, str]]:
    found = [(package, version(package)) for package in PACKAGES]
    return [("Python", platform.python_version()), *found]


def _link(stage: Stage, path: Path) -> str:
    target = Path(os.path.relpath(path, stage.out)).as_posix()
    return f'<a href="{escape(target)}">{escape(target)}</a>'


def _figures(done: Sequence[Done]) -> str:
    tiles = (figure for one in done for figure in one.told.figures)
    items = (f"<li><b>{escape(number)}</b>{escape(words)}</li>" for number, words in tiles)
    return f'<ul class="tiles">{"".join(items)}</ul>'


def _times(done: Sequence[Done]) -> str:
    longest = max(one.seconds for one in done)
    rows = [
        f'<li><a href="#step-{number}">{escape(one.title)}</a>'
        f'<span class="bar" style="--share: {one.seconds / longest:.3f}"></span>'
        f"<b>{one.seconds:.1f} s</b></li>"
        for number, one in enumerate(done)
    ]
    return f'<ol start="0" class="times">{"".join(rows)}</ol>'


def _step(stage: Stage, number: int, one: Done) -> str:
    told = one.told
    facts = "".join(f"<p>{escape(fact)}</p>" for fact in told.facts)
    lines = [f"{_prompt(folder)}$ {line}" for folder, line in told.commands]
    commands = f'<pre class="wrapped">{escape(chr(10).join(lines))}</pre>' if lines else ""
    files = "".join(
        f"<li>{_link(stage, path)}: {escape(words)}</li>" for path, words in told.files.items()
    )
    return (
        f'<section id="step-{number}"><h2>{number}. {escape(one.title)} '
        f'<small class="quiet">{one.seconds:.1f} s</small></h2>{facts}{commands}'
        f"{''.join(_block(block) for block in told.blocks)}"
        f'<ul class="files">{files}</ul></section>'
    )


def _prompt(folder: Path) -> str:
    return "" if folder == Path.cwd() else f"{shown_path(folder)} "


def _block(block: Block) -> str:
    return f"<details open><summary>{escape(block.caption)}</summary>{block.html}</details>"
