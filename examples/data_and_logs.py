"""Training with an input pipeline that resumes, and with metrics that go to any logger.

Run ``python -m examples.data_and_logs``, with ``--grain`` for batches by Grain, with ``--tensorboard
FOLDER`` for a log by tensorboardX. The loop knows neither: `Batches` says what it asks of its input,
`Log` what it asks of a logger. Metrics add up on the device. They are read some steps after they
were computed, so that the device always has work and nothing waits for a number.
"""

from __future__ import annotations

import argparse
import json
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
import optax
from sklearn.datasets import load_digits

import typed_nnx as nnx
from typed_nnx.training import checkpoint

ROWS = 128  # of a batch


class Batch(NamedTuple):
    """Images, float32 [batch, 64], and labels, int32 [batch]."""

    images: np.ndarray
    labels: np.ndarray


class Batches(Protocol):
    """An input that knows where it is: the iterators of Grain are such."""

    def __next__(self) -> Batch: ...
    def get_state(self) -> Any: ...
    def set_state(self, state: Any) -> None: ...


Log: TypeAlias = Callable[[int, Mapping[str, float]], None]
"""Takes a step and the values of metrics."""


class Console:
    """A log that is printed."""

    def __call__(self, step: int, values: Mapping[str, float]) -> None:
        print(f"step {step}: " + ", ".join(f"{name} {value:.4f}" for name, value in values.items()))


class SummaryWriter(Protocol):
    """What the writers of ``tensorboardX``, ``torch.utils.tensorboard`` and ``clu`` have in common."""

    def add_scalar(self, tag: str, value: float, step: int, /) -> Any: ...


def to_tensorboard(writer: SummaryWriter) -> Log:
    """Return a log that is written to TensorBoard."""

    def log(step: int, values: Mapping[str, float]) -> None:
        for name, value in values.items():
            writer.add_scalar(name, value, step)

    return log


class WandbRun(Protocol):
    """What ``wandb.init()`` returns."""

    def log(self, data: dict[str, Any], /, *, step: int) -> Any: ...


def to_wandb(run: WandbRun) -> Log:
    """Return a log that is sent to Weights & Biases."""
    return lambda step, values: run.log(dict(values), step=step)


class ShuffledDigits:
    """Batches of digits in a random order, anew in each epoch; the order depends on the step alone."""

    def __init__(self) -> None:
        images, labels = load_digits(return_X_y=True)
        self.data = Batch((images / 16).astype(np.float32), labels.astype(np.int32))
        self.step = 0

    def __next__(self) -> Batch:
        epoch, place = divmod(self.step, len(self.data.labels) // ROWS)
        order = np.random.default_rng(epoch).permutation(len(self.data.labels))
        rows = order[place * ROWS : (place + 1) * ROWS]
        self.step += 1
        return Batch(self.data.images[rows], self.data.labels[rows])

    def get_state(self) -> int:
        return self.step

    def set_state(self, state: int) -> None:
        self.step = state


def grain_digits() -> Batches:
    """Return the same by Grain, which reads ahead in threads and in processes if asked to."""
    import grain  # type: ignore[import-not-found, unused-ignore]  # not a dependency

    images, labels = ShuffledDigits().data
    rows = [Batch(image, label) for image, label in zip(images, labels, strict=True)]
    dataset = grain.MapDataset.source(rows).shuffle(seed=0).repeat()
    batches: Batches = iter(dataset.batch(ROWS, drop_remainder=True).to_iter_dataset())
    return batches


class Classifier(nnx.Module):
    """Images, float [batch, 64], to logits, float [batch, 10]."""

    def __init__(self, *, rngs: nnx.Rngs) -> None:
        self.hidden = nnx.Linear(64, 64, rngs=rngs)
        self.out = nnx.Linear(64, 10, rngs=rngs)

    def __call__(self, images: jax.Array) -> jax.Array:
        return self.out(nnx.relu(self.hidden(images)))


class Run:
    """A model, what trains it, its metrics and its input."""

    def __init__(self, batches: Batches, log: Log) -> None:
        self.model = Classifier(rngs=nnx.Rngs(0))
        self.optimizer = nnx.Optimizer(self.model, optax.adam(3e-3), wrt=nnx.Param)
        self.metrics = nnx.MultiMetric(
            loss=nnx.metrics.Average("loss"), accuracy=nnx.metrics.Accuracy()
        )
        self.batches, self.log = batches, log

    def train(self, steps: range, every: int) -> None:
        """Take steps, and log the metrics of each `every` of them, one such interval late."""
        waiting: deque[tuple[int, Mapping[str, jax.Array]]] = deque()
        for step in steps:
            images, labels = map(jnp.asarray, next(self.batches))
            train_step(self.model, self.optimizer, self.metrics, images, labels)
            if (step + 1) % every == 0:
                waiting.append((step + 1, self.metrics.compute()))
                self.metrics.reset()
            if len(waiting) > 1:
                self._write(*waiting.popleft())
        for found in waiting:
            self._write(*found)

    def _write(self, step: int, values: Mapping[str, jax.Array]) -> None:
        self.log(step, {name: float(value) for name, value in values.items()})

    def save(self, path: str) -> None:
        """Write a checkpoint, also of where the input is."""
        position = nnx.Variable(json.dumps(self.batches.get_state()))
        checkpoint.save(path, (self.model, self.optimizer, self.metrics, position))

    def restore(self, path: str) -> None:
        """Go on where a run was saved."""
        position = nnx.Variable("")
        checkpoint.restore(path, (self.model, self.optimizer, self.metrics, position))
        self.batches.set_state(json.loads(position.get_value()))


@nnx.jit
def train_step(
    model: Classifier,
    optimizer: nnx.Optimizer[Classifier],
    metrics: nnx.MultiMetric,
    images: jax.Array,
    labels: jax.Array,
) -> None:
    """Take a step, and add to the metrics."""

    def loss_of(model: Classifier) -> tuple[jax.Array, jax.Array]:
        logits = model(images)
        losses = optax.softmax_cross_entropy_with_integer_labels(logits, labels)
        return losses.mean(), logits

    (loss, logits), grads = nnx.value_and_grad(loss_of, has_aux=True)(model)
    optimizer.update(model, grads)
    metrics.update(loss=loss, logits=logits, labels=labels)


def main(arguments: Sequence[str] | None = None) -> None:
    """Train and log."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--every", type=int, default=50, help="steps of a line in the log")
    parser.add_argument("--grain", action="store_true", help="batches by Grain")
    parser.add_argument("--tensorboard", metavar="FOLDER", help="write the log there")
    options = parser.parse_args(arguments)
    log: Log = Console()
    if options.tensorboard:
        import tensorboardX  # type: ignore[import-not-found, import-untyped, unused-ignore]  # not a dependency

        log = to_tensorboard(tensorboardX.SummaryWriter(options.tensorboard))
    run = Run(grain_digits() if options.grain else ShuffledDigits(), log)
    run.train(range(options.steps), options.every)


if __name__ == "__main__":
    main()
