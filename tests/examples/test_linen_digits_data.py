"""The digits that the demo learns from, and the batches it makes of them."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_digits

from examples.linen_digits.data import SIDE, TESTED, Digits, batches, load, read, shifted


def test_the_rows_are_those_that_scikit_learn_reads() -> None:
    pixels, labels = load_digits(return_X_y=True)
    np.testing.assert_array_equal(read(), np.column_stack([pixels, labels]))


def test_images_are_parted_without_loss_and_without_overlap() -> None:
    train, test = load(0)
    assert train.images.shape == (1797 - TESTED, SIDE, SIDE, 1)
    assert test.images.shape == (TESTED, SIDE, SIDE, 1)
    together = np.concatenate([train.images, test.images])
    assert together.min() == 0.0
    assert together.max() == 1.0
    # No two of the images that ship with scikit-learn are equal.
    assert len(np.unique(together.reshape(1797, -1), axis=0)) == 1797
    assert np.bincount(np.concatenate([train.labels, test.labels])).min() >= 174


def test_a_shifted_image_is_one_of_nine_and_all_nine_occur() -> None:
    image = np.random.default_rng(1).random((SIDE, SIDE, 1), np.float32) + 1.0
    found = shifted(np.stack([image] * 200), np.random.default_rng(0))
    wide = np.zeros((SIDE + 2, SIDE + 2, 1), np.float32)
    wide[1:-1, 1:-1] = image
    nine = {wide[y : y + SIDE, x : x + SIDE].tobytes() for y in range(3) for x in range(3)}
    assert {np.ascontiguousarray(one).tobytes() for one in found} == nine


def test_an_epoch_has_each_image_at_most_once_with_its_label() -> None:
    count, rows = 50, 16
    middle = np.zeros((count, SIDE, SIDE, 1), np.float32)
    middle[:, 3, 3, 0] = np.arange(1, count + 1)  # a shift by one pixel keeps it
    data = Digits(middle, np.arange(1, count + 1, dtype=np.int32))
    epoch = list(batches(data, rows, np.random.default_rng(0)))
    assert [len(batch.labels) for batch in epoch] == [rows] * 3
    labels = np.concatenate([batch.labels for batch in epoch])
    assert len(set(labels.tolist())) == 3 * rows
    for batch in epoch:
        np.testing.assert_array_equal(batch.images.sum((1, 2, 3)), batch.labels)
