"""scikit-learn's handwritten digits: 1797 real images of 8 by 8 pixels, shipped with the package."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import files
from typing import NamedTuple

import numpy as np

SIDE = 8
CLASSES = 10
TESTED = 360  # of the 1797 images


class Digits(NamedTuple):
    """Images as float32 [n, 8, 8, 1] from 0 to 1, and labels as int32 [n] from 0 to 9."""

    images: np.ndarray
    labels: np.ndarray


def read() -> np.ndarray:
    """Return the pixels of each image, from 0 to 16, and its label: float64 [1797, 65].

    They are read from scikit-learn's file: to import `load_digits` takes as long as to import jax.
    """
    (path,) = (one for one in files("scikit-learn") or () if one.name == "digits.csv.gz")
    return np.loadtxt(path.locate(), delimiter=",")


def load(seed: int) -> tuple[Digits, Digits]:
    """Return the images for training and those for testing, parted at random."""
    rows = read()
    rows = rows[np.random.default_rng(seed).permutation(len(rows))]
    images = (rows[:, :-1] / 16.0).astype(np.float32).reshape(-1, SIDE, SIDE, 1)
    labels = rows[:, -1].astype(np.int32)
    return Digits(images[TESTED:], labels[TESTED:]), Digits(images[:TESTED], labels[:TESTED])


def shifted(images: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Move each image of float [n, 8, 8, 1] by up to one pixel in both directions."""
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (SIDE, SIDE), axis=(1, 2))
    down, right = rng.integers(0, 3, size=(2, len(images)))
    moved = windows[np.arange(len(images)), down, right]
    return np.moveaxis(moved, 1, -1)


def batches(data: Digits, rows: int, rng: np.random.Generator) -> Iterator[Digits]:
    """Yield one epoch: each image at most once, in random order, moved at random."""
    order = rng.permutation(len(data.labels))
    for start in range(0, len(order) - rows + 1, rows):
        chosen = order[start : start + rows]
        yield Digits(shifted(data.images[chosen], rng), data.labels[chosen])
