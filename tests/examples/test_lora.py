"""Fine-tuning by small matrices changes nothing else, and suffices."""

from __future__ import annotations

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import typed_nnx as nnx
from examples import lora
from examples.lora import Reader, accuracy, add_lora, fit, load, mirrored


@pytest.fixture(scope="module")
def pretrained() -> Reader:
    model = Reader(rngs=nnx.Rngs(0))
    fit(model, load()[0], nnx.Param, rate=3e-3, steps=100)
    return model


NETWORK = nnx.All(nnx.Param, nnx.Not(nnx.LoRAParam))  # the new matrices are parameters too


def numbers(model: Reader, kind: nnx.filterlib.Filter) -> list[np.ndarray]:
    return [np.asarray(leaf) for leaf in jax.tree.leaves(nnx.state(model, kind))]


def test_mirroring_twice_changes_nothing() -> None:
    _, data = load()
    np.testing.assert_array_equal(mirrored(mirrored(data)).images, data.images)
    assert (mirrored(data).images != data.images).any()


def test_new_matrices_change_nothing_at_first(pretrained: Reader) -> None:
    model = nnx.clone(pretrained)
    add_lora(model, nnx.Rngs(1))
    images = jnp.asarray(load()[1].images)
    np.testing.assert_array_equal(np.asarray(model(images)), np.asarray(pretrained(images)))
    # Two matrices for each map: [in, rank] and [rank, out].
    sizes = lora.PIXELS, lora.HIDDEN, lora.HIDDEN, lora.CLASSES
    wanted = sum(lora.RANK * (din + dout) for din, dout in itertools.pairwise(sizes))
    assert lora.size(model, nnx.LoRAParam) == wanted


def test_fine_tuning_reads_mirrored_digits_and_leaves_the_network_alone(
    pretrained: Reader,
) -> None:
    model = nnx.clone(pretrained)
    train_data, test_data = (mirrored(data) for data in load())
    add_lora(model, nnx.Rngs(1))
    network, matrices = numbers(model, NETWORK), numbers(model, nnx.LoRAParam)
    assert accuracy(model, test_data) < 0.3
    fit(model, train_data, nnx.LoRAParam, rate=1e-2, steps=150)
    assert accuracy(model, test_data) > 0.9
    for before, after in zip(network, numbers(model, NETWORK), strict=True):
        np.testing.assert_array_equal(before, after)
    for before, after in zip(matrices, numbers(model, nnx.LoRAParam), strict=True):
        assert (before != after).mean() > 0.5


def test_the_program_prints_three_shares(capsys: pytest.CaptureFixture[str]) -> None:
    lora.main(["--steps", "2"])
    assert capsys.readouterr().out.count("%") == 3
