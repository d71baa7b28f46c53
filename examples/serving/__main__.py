"""Train a classifier of digits, export it, and write what a server needs into a folder.

Run ``python -m examples.serving --out /tmp/served``, then ``python examples/serving/serve.py
/tmp/served``, which imports neither this project nor typed_nnx. The program is compiled for CPU, GPU
and TPU and for any number of images; weights are a file of their own, so that better ones may
replace them later.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import optax
from sklearn.datasets import load_digits

import typed_nnx as nnx
from typed_nnx.training.checkpoint import save_safetensors

PIXELS, HIDDEN, CLASSES = 64, 128, 10
ROWS = 128  # of a batch
TESTED = 360
PLATFORMS = ("cpu", "cuda", "rocm", "tpu")


class Classifier(nnx.Module):
    """Images, float [batch, 64], to logits, float [batch, 10]."""

    def __init__(self, *, rngs: nnx.Rngs) -> None:
        self.first = nnx.Linear(PIXELS, HIDDEN, rngs=rngs)
        self.norm = nnx.BatchNorm(HIDDEN, rngs=rngs)
        self.dropout = nnx.Dropout(0.2, rngs=rngs)
        self.last = nnx.Linear(HIDDEN, CLASSES, rngs=rngs)

    def __call__(self, images: jax.Array) -> jax.Array:
        return self.last(self.dropout(nnx.relu(self.norm(self.first(images)))))


@nnx.jit
def train_step(
    model: Classifier, optimizer: nnx.Optimizer[Classifier], images: jax.Array, labels: jax.Array
) -> jax.Array:
    """Take a step, and return the mean cross entropy before it."""

    def loss_of(model: Classifier) -> jax.Array:
        losses: jax.Array = optax.softmax_cross_entropy_with_integer_labels(model(images), labels)
        return losses.mean()

    loss, grads = nnx.value_and_grad(loss_of)(model)
    optimizer.update(model, grads)
    return loss


def data() -> tuple[np.ndarray, np.ndarray]:
    """Return images, float32 [1797, 64] from 0 to 1, and labels, int32 [1797]."""
    images, labels = load_digits(return_X_y=True)
    return (images / 16).astype(np.float32), labels.astype(np.int32)


def train(steps: int, seed: int = 0) -> Classifier:
    """Return a model trained on all but the last 360 images."""
    images, labels = data()
    model = Classifier(rngs=nnx.Rngs(seed))
    optimizer = nnx.Optimizer(model, optax.adam(3e-3), wrt=nnx.Param)
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        rows = rng.integers(0, len(labels) - TESTED, ROWS)
        train_step(model, optimizer, jnp.asarray(images[rows]), jnp.asarray(labels[rows]))
    return model


def predict(model: Classifier, images: jax.Array) -> dict[str, jax.Array]:
    """Return the digit that each image shows, int32 [batch], and how sure that is, float [batch]."""
    chances = jax.nn.softmax(model(images))
    return {"digit": chances.argmax(-1).astype(jnp.int32), "probability": chances.max(-1)}


def write(model: Classifier, out: Path) -> None:
    """Write the program and the weights."""
    serving = nnx.view(model, deterministic=True, use_running_average=True)  # as `model.eval()`
    (batch,) = jax.export.symbolic_shape("batch")
    images = jax.ShapeDtypeStruct((batch, PIXELS), jnp.float32)  # type: ignore[no-untyped-call]  # jax has no types here
    exported = nnx.export(predict, serving, platforms=PLATFORMS)(images)
    out.mkdir(parents=True, exist_ok=True)
    (out / "program.bin").write_bytes(exported.serialize())
    save_safetensors(out / "weights.safetensors", serving, overwrite=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Train and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("build/serving"))
    parser.add_argument("--steps", type=int, default=300)
    options = parser.parse_args(arguments)
    write(train(options.steps), options.out)
    for file in sorted(options.out.iterdir()):
        print(f"{file}: {file.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
