"""Fine-tuning by small matrices changes nothing else, and suffices."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import typed_nnx as nnx
from examples import lora
from examples.lora import (
    Frozen,
    Int4Linear,
    Reader,
    accuracy,
    fit,
    load,
    mirrored,
    quantized,
    with_lora,
)


@pytest.fixture(scope="module")
def pretrained() -> Reader:
    model = Reader(rngs=nnx.Rngs(0))
    fit(model, load()[0], nnx.Param, rate=3e-3, steps=100)
    return model


NETWORK = nnx.All(
    nnx.Any(nnx.Param, Frozen), nnx.Not(nnx.LoRAParam)
)  # the new matrices are parameters too


def numbers(model: Reader, kind: nnx.filterlib.Filter) -> list[np.ndarray]:
    return [np.asarray(leaf) for leaf in jax.tree.leaves(nnx.state(model, kind))]


def test_mirroring_twice_changes_nothing() -> None:
    _, data = load()
    np.testing.assert_array_equal(mirrored(mirrored(data)).images, data.images)
    assert (mirrored(data).images != data.images).any()


@pytest.mark.thorough
def test_new_matrices_change_nothing_at_first(pretrained: Reader) -> None:
    model = with_lora(nnx.clone(pretrained), nnx.Rngs(1))
    images = jnp.asarray(load()[1].images)
    np.testing.assert_array_equal(np.asarray(model(images)), np.asarray(pretrained(images)))
    # Two matrices for each map: [in, rank] and [rank, out].
    sizes = lora.PIXELS, lora.HIDDEN, lora.HIDDEN, lora.CLASSES
    wanted = sum(lora.RANK * (din + dout) for din, dout in itertools.pairwise(sizes))
    assert lora.size(model, nnx.LoRAParam) == wanted


@pytest.mark.parametrize(
    "prepared",
    [nnx.clone, pytest.param(quantized, marks=pytest.mark.thorough)],
    ids=["32 bits", "4 bits"],
)
def test_fine_tuning_reads_mirrored_digits_and_leaves_the_network_alone(
    pretrained: Reader, prepared: Callable[[Reader], Reader]
) -> None:
    train_data, test_data = (mirrored(data) for data in load())
    model = with_lora(prepared(pretrained), nnx.Rngs(1))
    network, matrices = numbers(model, NETWORK), numbers(model, nnx.LoRAParam)
    assert accuracy(model, test_data) < 0.3
    fit(model, train_data, nnx.LoRAParam, rate=1e-2, steps=150)
    assert accuracy(model, test_data) > 0.9
    for before, after in zip(network, numbers(model, NETWORK), strict=True):
        np.testing.assert_array_equal(before, after)
    for before, after in zip(matrices, numbers(model, nnx.LoRAParam), strict=True):
        assert (before != after).mean() > 0.5


@pytest.mark.thorough
def test_four_bits_round_each_weight_to_the_nearest_of_fifteen(pretrained: Reader) -> None:
    linear = pretrained.second
    assert isinstance(linear, nnx.Linear)
    kernel, small = np.asarray(linear.kernel[...]), Int4Linear(linear)
    found = np.asarray(small(jnp.eye(lora.HIDDEN))) - np.asarray(linear.bias)
    blocks = np.abs(kernel).reshape(-1, lora.BLOCK, lora.HIDDEN)
    half_a_step = np.repeat(blocks.max(1) / 14, lora.BLOCK, axis=0)
    assert (np.abs(found - kernel) <= 1.05 * half_a_step + 0.01 * np.abs(kernel)).all()  # bfloat16
    assert small.codes.dtype == jnp.int4


@pytest.mark.thorough
def test_four_bits_read_as_well_and_need_a_sixth_of_the_memory(pretrained: Reader) -> None:
    small, (_, test_data) = quantized(pretrained), load()
    assert not jax.tree.leaves(nnx.state(small, nnx.Param))
    assert accuracy(small, test_data) > accuracy(pretrained, test_data) - 0.03
    assert lora.bytes_of(small, Frozen) < lora.bytes_of(pretrained, nnx.Param) / 6
    assert isinstance(pretrained.first, nnx.Linear)


@pytest.mark.thorough
def test_the_program_prints_each_share(capsys: pytest.CaptureFixture[str]) -> None:
    lora.main(["--steps", "2"])
    assert capsys.readouterr().out.count("%") == 6
