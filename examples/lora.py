"""Fine-tuning by small matrices: a network that reads digits learns to read them in a mirror.

Run ``python -m examples.lora``. Each linear map of the trained network gets a product of two thin
matrices beside it, and only those are trained: a twentieth of the numbers, and the network itself stays
as it is. Which Variables are trained is a matter of a filter, `nnx.LoRAParam`. Then the same with
a network of which each weight has four bits.

Source: Hu et al., "LoRA: low-rank adaptation of large language models",
https://arxiv.org/abs/2106.09685; Dettmers et al., "QLoRA: efficient finetuning of quantized LLMs",
https://arxiv.org/abs/2305.14314, whose codes are others.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
import optax
from sklearn.datasets import load_digits

import typed_nnx as nnx

PIXELS, HIDDEN, CLASSES = 64, 256, 10
RANK = 4
BLOCK = 32  # weights of a column that share a scale
ROWS = 128  # of a batch
TESTED = 360


M = TypeVar("M", bound=nnx.Module)


class Data(NamedTuple):
    """Images as float32 [n, 64] from 0 to 1, and labels as int32 [n]."""

    images: np.ndarray
    labels: np.ndarray


class Frozen(nnx.Variable[jax.Array]):
    """Numbers that stay as they are: they are no `nnx.Param`, and no optimizer sees them."""


class Int4Linear(nnx.Module):
    """A linear map with weights of four bits: float [batch, in] to float [batch, out]."""

    def __init__(self, linear: nnx.Linear) -> None:
        self.in_features, self.out_features = linear.in_features, linear.out_features
        blocks = linear.kernel.reshape(-1, BLOCK, self.out_features)
        scale = jnp.abs(blocks).max(axis=1, keepdims=True) / 7
        self.codes = Frozen(jnp.round(blocks / scale).astype(jnp.int4))
        self.scale = Frozen(scale.astype(jnp.bfloat16))
        self.bias = None if linear.bias is None else Frozen(linear.bias[...])

    def __call__(self, x: jax.Array) -> jax.Array:
        blocks = self.codes.astype(x.dtype) * self.scale.astype(x.dtype)
        y = x @ blocks.reshape(self.in_features, self.out_features)
        return y if self.bias is None else y + self.bias[...]


Layer: TypeAlias = nnx.Linear | Int4Linear | nnx.LoRA


class Reader(nnx.Module):
    """Images, float [batch, 64], to logits, float [batch, 10]."""

    def __init__(self, *, rngs: nnx.Rngs) -> None:
        self.first: Layer = nnx.Linear(PIXELS, HIDDEN, rngs=rngs)
        self.second: Layer = nnx.Linear(HIDDEN, HIDDEN, rngs=rngs)
        self.last: Layer = nnx.Linear(HIDDEN, CLASSES, rngs=rngs)

    def __call__(self, images: jax.Array) -> jax.Array:
        return self.last(nnx.relu(self.second(nnx.relu(self.first(images)))))


def quantized(model: M) -> M:
    """Return the model with four bits in place of each weight, however deep its layers are."""

    def replaced(_: object, node: object) -> object:
        return Int4Linear(node) if isinstance(node, nnx.Linear) else node

    result: M = nnx.recursive_map(replaced, model)
    return result


def with_lora(model: M, rngs: nnx.Rngs) -> M:
    """Return the model with a `nnx.LoRA` around each linear map; at first the output is the same."""

    def replaced(_: object, node: object) -> object:
        if not isinstance(node, nnx.Linear | Int4Linear):
            return node
        return nnx.LoRA(node.in_features, RANK, node.out_features, base_module=node, rngs=rngs)

    result: M = nnx.recursive_map(replaced, model)
    return result


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


def bytes_of(model: Reader, kind: nnx.filterlib.Filter) -> float:
    """Return how much memory the Variables of a type need, two weights of four bits in a byte."""
    leaves = jax.tree.leaves(nnx.state(model, kind))
    return float(sum(leaf.size * jax.dtypes.itemsize_bits(leaf.dtype) / 8 for leaf in leaves))


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
    small = quantized(model)
    for kind, base in (("32 bits", model), ("4 bits", small)):
        print(f"{kind}: {bytes_of(base, (nnx.Param, Frozen)):,.0f} bytes, ", end="")
        print(f"reads {accuracy(base, test_data):.1%} of digits")
        tuned = with_lora(base, nnx.Rngs(1))
        fit(tuned, mirrored(train_data), nnx.LoRAParam, rate=1e-2, steps=steps)
        print(f"  {size(tuned, nnx.LoRAParam)} numbers trained on mirrored digits: ", end="")
        print(f"reads {accuracy(tuned, mirrored(test_data)):.1%} of them")


if __name__ == "__main__":
    main()
