"""Step 4: both loops train alike; the model is saved and restored, and answers as that of Linen."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from rich.table import Table

import typed_nnx as nnx
from examples.linen_digits.commands import wait
from examples.linen_digits.html_parts import table_html
from examples.linen_digits.original import curves_of
from examples.linen_digits.reported_epochs import Batches, Curves, ReportedEpochs
from examples.linen_digits.stage import PACKAGE, TYPED, Block, Stage, StepFailedError, Told
from typed_nnx.training import checkpoint
from typed_nnx_codegen.migrate import weights

CLOSE = 1e-4  # of logits and losses that are computed in another order


class Project(NamedTuple):
    """The modules of the project after its migration."""

    models: ModuleType
    train: ModuleType  # migrated
    typed_train: ModuleType  # written by hand


@contextmanager
def imported(folder: Path) -> Iterator[Project]:
    """Import the project in a folder; it is forgotten afterwards, as another may have its name."""
    names = tuple(f"{PACKAGE}.{name}" for name in Project._fields)
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        yield Project(*map(importlib.import_module, names))
    finally:
        sys.path.remove(str(folder))
        for name in (PACKAGE, *names):
            sys.modules.pop(name, None)


def trained(stage: Stage, project: Project, batches: Batches) -> tuple[Any, Curves]:
    """Train by the loop that is written by hand; return the model and the curves."""
    with ReportedEpochs(stage.console, "typed_nnx", stage.epochs) as epochs:
        model = project.typed_train.fit(
            stage.epochs, batches.steps, batches.of_epoch, batches.test, epochs.keep
        )
    return model, epochs.curves


def first_losses(stage: Stage, project: Project, batches: Batches) -> list[float]:
    """Train one epoch by the migrated loop; return its losses."""
    images = jnp.asarray(batches.test.images[:1])
    state = project.train.create_state(images, stage.epochs * batches.steps)
    losses = []
    for batch in batches.of_epoch():
        state, loss, _ = project.train.train_step(state, batch)
        losses.append(float(loss))
    return losses


def new_model(project: Project, seed: int) -> nnx.Module:
    """Return a model with random parameters."""
    model: nnx.Module = project.models.DigitReader(in_features=1, rngs=nnx.Rngs(seed))
    return model


def restored(project: Project, path: Path) -> nnx.Module:
    """Return another model with what a checkpoint holds."""
    model = new_model(project, seed=7)
    checkpoint.restore(path, model)
    return model


def with_linen_weights(stage: Stage, project: Project) -> tuple[nnx.Module, weights.Loaded]:
    """Return a model with the variables of the Linen checkpoint.

    Raises:
        StepFailedError: They do not fit.
    """
    model = new_model(project, seed=8)
    try:
        return model, weights.load(
            stage.linen / "variables", model, stage.package / "models.migration.json"
        )
    except weights.WeightsError as error:
        raise StepFailedError(f"the Linen checkpoint does not fit: {error}") from None


class Same(NamedTuple):
    """How far the answers of two models are from each other."""

    largest: float
    labels: int
    images: int

    @property
    def is_close(self) -> bool:
        """Whether all labels are equal, and the logits but for roundings."""
        return self.labels == self.images and self.largest <= CLOSE

    @property
    def text(self) -> str:
        """The comparison in words."""
        return (
            f"{self.labels} of {self.images} labels equal, "
            f"largest difference of a logit {self.largest:.2g}"
        )


def compare(ours: jax.Array, theirs: np.ndarray | jax.Array) -> Same:
    """Compare logits, float [images, classes]."""
    largest = float(jnp.max(jnp.abs(ours - theirs)))
    equal = int(jnp.sum(jnp.argmax(ours, -1) == jnp.argmax(jnp.asarray(theirs), -1)))
    return Same(largest, equal, len(ours))


def wait_for_original(stage: Stage, told: Told) -> None:
    """Wait until the training of the original has ended, and tell what it reached."""
    (job,) = stage.jobs
    wait(stage, job)
    accuracy = curves_of(stage).test_accuracies[-1]
    stage.say(told, f"The Linen model reads {accuracy:.2%} of 360 images that it never saw.")


def train(stage: Stage) -> Told:
    """Train the project by both loops, and restore its checkpoint and that of the original."""
    told = Told()
    wait_for_original(stage, told)
    batches = Batches()
    images = jnp.asarray(batches.test.images)
    path = stage.out / "checkpoints" / PACKAGE
    with imported(stage.project) as project:
        model, curves = trained(stage, project, batches)
        migrated = first_losses(stage, project, Batches())
        (stage.out / "curves.json").write_text(json.dumps(curves._asdict()), encoding="utf-8")
        checkpoint.save(path, model, overwrite=True)
        answer = nnx.jit(lambda model, images: model(images))
        ours = compare(answer(restored(project, path), images), answer(model, images))
        from_linen, loaded = with_linen_weights(stage, project)
        theirs = compare(answer(from_linen, images), np.load(stage.linen / "logits.npy"))

    accuracy = curves.test_accuracies[-1]
    apart = max(abs(one - other) for one, other in zip(curves.losses, migrated, strict=False))
    rows = [
        (
            f"losses of {TYPED} and of the migrated train.py",
            f"largest difference in the {len(migrated)} steps of the first epoch {apart:.2g}",
        ),
        ("unseen images read after training", f"{accuracy:.2%}"),
        ("typed_nnx checkpoint, restored into a new model", ours.text),
        (
            "Linen checkpoint, put into a new model by the map",
            f"{len(loaded.filled)} arrays filled, {len(loaded.missing)} missing, "
            f"{len(loaded.extra)} extra",
        ),
        ("its answers and those of the Linen model", theirs.text),
    ]
    table = Table(box=None, show_header=False, padding=(0, 2))
    for row in rows:
        table.add_row(*row)
    stage.console.print(table)
    judge(stage.accuracy, accuracy, ours, theirs, apart)
    told.blocks = [Block("What came of it", table_html(("", ""), rows))]
    told.figures = [
        (f"{curves_of(stage).test_accuracies[-1]:.1%}", "of unseen digits read by the Linen model"),
        (f"{accuracy:.1%}", "by the migrated one"),
        (f"{theirs.labels} of {theirs.images}", "answers as before, from the Linen checkpoint"),
        (f"{apart:.2g}", "between the losses of the migrated loop and of the one by hand"),
    ]
    told.files = {
        path: "the checkpoint of the migrated model",
        stage.linen / "variables": "the checkpoint of the Linen model",
    }
    return told


def judge(least: float, accuracy: float, ours: Same, theirs: Same, apart: float) -> None:
    """Compare what came of it with what is a success.

    Raises:
        StepFailedError: It is none.
    """
    if accuracy < least:
        raise StepFailedError(
            f"the migrated model reads {accuracy:.2%} of the unseen images, "
            f"which is less than {least:.2%}."
        )
    if apart > CLOSE:
        raise StepFailedError(f"the losses of both loops differ by up to {apart:.2g}.")
    if ours.largest != 0.0:
        raise StepFailedError(f"the restored model answers otherwise: {ours.text}.")
    if not theirs.is_close:
        raise StepFailedError(f"the Linen weights give other answers: {theirs.text}.")
