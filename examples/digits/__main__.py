"""The demo: ``make demo``, or ``python -m examples.digits``.

Trains an MLP and a small vision transformer on scikit-learn's handwritten digits, writes a
checkpoint of each, restores it into a new model, tests that, and draws the curves.
With ``--devices 8`` or ``--processes 2`` it trains data-parallel, to the same curves.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

import typed_nnx as nnx
from examples.digits import processes
from examples.digits.curves import Curves, write_json
from examples.digits.data import SIDE, Digits, load
from examples.digits.drawing import draw
from examples.digits.layout import Layout, data_parallel, offer_host_devices
from examples.digits.models import MLP, VisionTransformer
from examples.digits.progress import Epochs
from examples.digits.training import ROWS, Build, Run, Scores
from typed_nnx.training import checkpoint

SEED = 0
WIDTH = 110  # of the summary, in characters


class Plan(NamedTuple):
    """What to train and how: the peak of the learning rate, and the runs over the data."""

    build: Build
    rate: float
    epochs: int


PLANS = {
    "mlp": Plan(lambda rngs: MLP(rngs=rngs), rate=3e-3, epochs=50),
    "vit": Plan(lambda rngs: VisionTransformer(rngs=rngs), rate=2e-3, epochs=50),
}


class Result(NamedTuple):
    """What came of a plan."""

    curves: Curves
    trained: Scores
    restored: Scores
    seconds: float


def train(run: Run, data: tuple[Digits, Digits], epochs: Epochs, count: int) -> Curves:
    """Train for a number of epochs, and test after each."""
    train_data, test_data = data
    rng = np.random.default_rng(SEED)
    seen: list[Scores] = []
    unseen: list[Scores] = []
    with epochs:
        for _ in range(count):
            seen.append(run.train(train_data, rng))
            unseen.append(run.test(test_data))
            epochs.report(seen[-1])
    losses = [float(loss) for loss in run.losses]
    return Curves(losses, [s.accuracy for s in seen], [s.accuracy for s in unseen])


def carry_out(
    name: str,
    plan: Plan,
    layout: Layout,
    data: tuple[Digits, Digits],
    folder: Path,
    console: Console,
) -> Result:
    """Train a model, write its checkpoint, restore that into another model, and test it."""
    started = time.perf_counter()
    steps = plan.epochs * (len(data[0].labels) // ROWS)
    run = Run(plan.build, layout, steps=steps, rate=plan.rate, seed=SEED)
    found = train(run, data, Epochs(console, name, plan.epochs), plan.epochs)
    path = folder / "checkpoints" / name
    checkpoint.save(path, run.model, overwrite=True)

    other = Run(plan.build, layout, steps=steps, rate=plan.rate, seed=SEED + 1)
    checkpoint.restore(path, other.model)
    restored = other.test(data[1])
    return Result(found, run.test(data[1]), restored, time.perf_counter() - started)


def options(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser("python -m examples.digits", description=__doc__)
    parser.add_argument("--devices", type=int, default=1, metavar="N", help="of each process (1)")
    parser.add_argument("--processes", type=int, default=1, metavar="N", help="on this machine (1)")
    parser.add_argument("--models", nargs="+", choices=PLANS, default=list(PLANS))
    parser.add_argument("--epochs", type=int, metavar="N", help="instead of what suits each model")
    parser.add_argument("--accuracy", type=float, default=0.97, help="the least that is a success")
    parser.add_argument("--out", type=Path, default=Path("build/digits"), metavar="DIR")
    # For the processes that `--processes` starts.
    parser.add_argument("--process", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--coordinator", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def show_model(console: Console, plan: Plan) -> None:
    """Print what a model is made of."""
    images = jnp.zeros((ROWS, SIDE, SIDE, 1))
    style = {"force_terminal": console.is_terminal, "width": WIDTH}
    table = nnx.tabulate(plan.build(nnx.Rngs(SEED)), images, depth=2, console_kwargs=style)
    console.print(Text.from_ansi(table), soft_wrap=True)


def show_results(console: Console, results: dict[str, Result]) -> None:
    """Print a table of the scores on images that the models never saw."""
    table = Table(title="test images, with the restored models")
    for column in ("model", "loss", "accuracy", "seconds"):
        table.add_column(column, justify="left" if column == "model" else "right")
    for name, result in results.items():
        scores = result.restored
        table.add_row(name, f"{scores.loss:.4f}", f"{scores.accuracy:.2%}", f"{result.seconds:.1f}")
    console.print(table)


def complaint(name: str, result: Result, least: float) -> str:
    """Return what is wrong with a result, or nothing."""
    if result.restored != result.trained:
        return f"{name}: the restored model has {result.restored}, the trained one {result.trained}"
    if result.restored.accuracy < least:
        return f"{name}: an accuracy of {result.restored.accuracy:.2%} is less than {least:.2%}"
    return ""


def demo(chosen: argparse.Namespace) -> int:
    """Run the demo in this process, perhaps as one of several, and return the exit code."""
    layout = data_parallel(chosen.devices)
    console = Console(quiet=jax.process_index() > 0)
    data = load(SEED)
    console.print(
        f"{len(data[0].labels)} images to train on, {len(data[1].labels)} to test;"
        f" processes: {jax.process_count()}, devices: {layout.devices} ({jax.default_backend()})"
    )
    results = {}
    for name in chosen.models:
        plan = PLANS[name]._replace(epochs=chosen.epochs or PLANS[name].epochs)
        show_model(console, plan)
        results[name] = carry_out(name, plan, layout, data, chosen.out, console)
    show_results(console, results)

    if jax.process_index() == 0:
        found = {name: result.curves for name, result in results.items()}
        write_json(found, chosen.out / "curves.json")
        draw(found, chosen.out / "curves.png")
    console.print(f"curves: {chosen.out / 'curves.png'}", soft_wrap=True)
    complaints = [complaint(name, result, chosen.accuracy) for name, result in results.items()]
    for text in filter(None, complaints):
        console.print(text)
    return int(any(complaints))


def main(arguments: Sequence[str]) -> int:
    """Run the demo in as many processes as the command line says, and return the exit code."""
    chosen = options(arguments)
    chosen.out = chosen.out.resolve()
    if chosen.process is None:
        chosen.out.mkdir(parents=True, exist_ok=True)
        if chosen.processes > 1:
            return processes.run(chosen.processes, arguments, chosen.out / "logs")
    offer_host_devices(chosen.devices)
    if chosen.process is None:
        return demo(chosen)
    processes.join(chosen.coordinator, chosen.processes, chosen.process)
    try:
        return demo(chosen)
    finally:
        processes.leave()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
