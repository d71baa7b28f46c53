"""Fine-tuning by small matrices: a network that reads digits learns to read them in a mirror.

Run ``python -m examples.lora``. Each linear map of the trained network gets a product of two thin
matrices beside it, and only those are trained: a twentieth of the numbers, and the network itself stays
as it is. Which Variables are trained is a matter of a filter, `nnx.LoRAParam`.

Source: Hu et al., "LoRA: low-rank adaptation of large language models",
https://arxiv.org/abs/2106.09685.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from sklearn.datasets import load_digits

import typed_nnx as nnx

PIXELS, HIDDEN, CLASSES = 64, 256, 10
RANK = 4
ROWS = 128  # of a batch
TESTED = 360


class Data(NamedTuple):
    """Images as float32 [n, 64] from 0 to 1, and labels as int32 [n]."""

    images: np.ndarray
    labels: np.ndarray


class Reader(nnx.Module):
    """Images, float [batch, 64], to logits, float [batch, 10]."""

    def __init__(self, *, rngs: nnx.Rngs) -> None:
        self.first: nnx.Linear | nnx.LoRA = nnx.Linear(PIXELS, HIDDEN, rngs=rngs)
        self.second: nnx.Linear | nnx.LoRA = nnx.Linear(HIDDEN, HIDDEN, rngs=rngs)
        self.last: nnx.Linear | nnx.LoRA = nnx.Linear(HIDDEN, CLASSES, rngs=rngs)

    def __call__(self, images: jax.Array) -> jax.Array:
        return self.last(nnx.relu(self.second(nnx.relu(self.first(images)))))


def add_lora(model: nnx.Module, rngs: nnx.Rngs) -> None:
    """Put a `nnx.LoRA` around each linear map; at first that changes nothing of the output."""
    for name, child in nnx.iter_children(model):
        if isinstance(child, nnx.Linear):
            size = child.in_features, RANK, child.out_features
            setattr(model, str(name), nnx.LoRA(*size, base_module=child, rngs=rngs))


def loss_of(model: Reader, images: jax.Array, labels: jax.Array) -> jax.Array:
    """Return the mean cross entropy in nats, float []."""
    losses: jax.Array = optax.softmax_cross_entropy_with_integer_labels(model(images), labels)
    return losses.mean()


def fit(
    model: Reader, data: Data, wrt: type[nnx.Variable[jax.Array]], *, rate: float, steps: int
) -> None:
    """Train those Variables of the model that are of a type; leave the others alone."""
    optimizer = nnx.Optimizer(model, optax.adam(rate), wrt=wrt)
    slopes_of = nnx.grad(loss_of, argnums=nnx.DiffState(0, wrt))

    @nnx.jit
    def train_step(
        model: Reader, optimizer: nnx.Optimizer[Reader], images: jax.Array, labels: jax.Array
    ) -> None:
        optimizer.update(model, slopes_of(model, images, labels))

    rng = np.random.default_rng(0)
    for _ in range(steps):
        rows = rng.integers(0, len(data.labels), ROWS)
        train_step(model, optimizer, jnp.asarray(data.images[rows]), jnp.asarray(data.labels[rows]))


def accuracy(model: Reader, data: Data) -> float:
    """Return the share of right answers, from 0 to 1."""
    answers = nnx.jit(Reader.__call__)(model, jnp.asarray(data.images)).argmax(-1)
    return float(np.mean(np.asarray(answers) == data.labels))


def load() -> tuple[Data, Data]:
    """Return digits to learn from, and digits to test."""
    pixels, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(labels))
    images, labels = (pixels[order] / 16.0).astype(np.float32), labels[order].astype(np.int32)
    return Data(images[TESTED:], labels[TESTED:]), Data(images[:TESTED], labels[:TESTED])


def mirrored(data: Data) -> Data:
    """Return the images with rows and columns exchanged."""
    squares = data.images.reshape(-1, 8, 8)
    return Data(squares.transpose(0, 2, 1).reshape(-1, PIXELS), data.labels)


def size(model: Reader, kind: type[nnx.Variable[jax.Array]]) -> int:
    """Return how many numbers the Variables of a type hold."""
    return sum(leaf.size for leaf in jax.tree.leaves(nnx.state(model, kind)))


def main(arguments: Sequence[str] | None = None) -> None:
    """Train on digits, fine-tune on mirrored ones, and print what each step came to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=300)
    steps = parser.parse_args(arguments).steps
    train_data, test_data = load()
    model = Reader(rngs=nnx.Rngs(0))
    fit(model, train_data, nnx.Param, rate=3e-3, steps=steps)
    print(
        f"{size(model, nnx.Param)} numbers trained on digits: reads {accuracy(model, test_data):.1%}"
    )
    print(f"  and {accuracy(model, mirrored(test_data)):.1%} of mirrored ones")
    add_lora(model, nnx.Rngs(1))
    fit(model, mirrored(train_data), nnx.LoRAParam, rate=1e-2, steps=steps)
    print(f"{size(model, nnx.LoRAParam)} numbers trained on mirrored digits:")
    print(f"  reads {accuracy(model, mirrored(test_data)):.1%} of them")


if __name__ == "__main__":
    main()
