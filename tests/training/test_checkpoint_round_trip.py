"""What is saved comes back bit for bit, whatever it is."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import typed_nnx as nnx
from tests.support.processes import run_process
from tests.training.checkpoint_models import Everything, Network, bits
from typed_nnx.training import checkpoint
from typed_nnx.training._checkpoint_records import DTYPES
from typed_nnx.training.optimizer import Optimizer


def test_every_kind_of_leaf_comes_back_bit_for_bit(tmp_path: Path) -> None:
    saved, model = Everything(3), Everything(5)
    checkpoint.save(tmp_path / "c", saved)
    assert bits(model) != bits(saved)
    checkpoint.restore(tmp_path / "c", model)
    assert bits(model) == bits(saved)


@pytest.mark.parametrize("dtype", sorted(DTYPES))
def test_every_dtype_comes_back(tmp_path: Path, dtype: str) -> None:
    wide = dtype in ("int64", "uint64", "float64", "complex128")
    with jax.enable_x64(wide):
        values = np.array([0, 1, 1, 0]).astype(np.dtype(dtype))
        saved = {"jax": jnp.asarray(values), "numpy": values}
        model: Any = {"jax": jnp.zeros(4, dtype), "numpy": np.zeros(4, dtype)}
        checkpoint.save(tmp_path / "c", saved)
        checkpoint.restore(tmp_path / "c", model)
        assert model["jax"].dtype == np.dtype(dtype)
        assert bits(model) == bits(saved)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "tx",
    [
        optax.sgd(0.1),
        optax.chain(optax.clip(1.0), optax.adamw(optax.linear_schedule(1e-2, 1e-3, 10))),
        optax.MultiSteps(optax.adam(1e-3), 2),
    ],
    ids=["without state", "chain", "multi steps"],
)
def test_a_model_and_its_optimizer_go_on_as_if_nothing_had_happened(
    tmp_path: Path, tx: Any
) -> None:
    def step(model: Network, optimizer: Any) -> None:
        grads = nnx.grad(lambda m: (m.layers[1].kernel[...] ** 3).sum())(model)
        optimizer.update(model, grads)

    def made(seed: int) -> tuple[Network, Any]:
        model = Network(seed)
        return model, Optimizer(model, tx, wrt=nnx.Param)

    saved, other = made(0), made(1)
    step(*saved)
    checkpoint.save(tmp_path / "c", saved)
    checkpoint.restore(tmp_path / "c", other)
    assert bits(other) == bits(saved)
    step(*saved)
    step(*other)
    assert bits(other) == bits(saved)


def test_an_optimizer_of_a_frozen_part_may_be_empty(tmp_path: Path) -> None:
    model = Network(0)
    with pytest.warns(UserWarning, match="chooses nothing"):
        optimizer: Any = Optimizer(model, optax.sgd(0.1), wrt=nnx.Cache)
    checkpoint.save(tmp_path / "c", {"model": model, "optimizer": optimizer})
    checkpoint.restore(tmp_path / "c", {"model": Network(1), "optimizer": optimizer})


def test_integers_and_texts_are_different_keys(tmp_path: Path) -> None:
    keys: Any = [0, "0", -1, "-1", 10, "a.b", "a/b", "ü", "", "..", "%30", "value"]
    saved = nnx.State({key: nnx.Param(jnp.full(2, n)) for n, key in enumerate(keys)})
    saved["a"] = {"b": nnx.Param(jnp.full(2, 99))}
    other = jax.tree.map(jnp.zeros_like, saved)
    checkpoint.save(tmp_path / "c", saved)
    checkpoint.restore(tmp_path / "c", other)
    assert bits(other) == bits(saved)
    for number, key in enumerate(keys):
        assert jnp.array_equal(other[key][...], jnp.full(2, number)), key


def test_a_state_a_graph_state_and_a_variable_are_restored_in_place(tmp_path: Path) -> None:
    saved, model = Network(1), Network(2)
    checkpoint.save(tmp_path / "state", nnx.state(saved))
    checkpoint.restore(tmp_path / "state", nnx.state(model))
    assert bits(model) == bits(saved)
    packed = nnx.unpack(Network(3))
    checkpoint.restore(tmp_path / "state", packed)
    assert bits(packed.state) == bits(saved)
    lone = nnx.Param(jnp.zeros((2, 3)))
    checkpoint.save(tmp_path / "variable", saved.layers[0].kernel)
    checkpoint.restore(tmp_path / "variable", lone)
    assert jnp.array_equal(lone[...], saved.layers[0].kernel[...])


def test_arrays_in_plain_containers_are_restored_in_place(tmp_path: Path) -> None:
    saved = {"a": jnp.ones(2), "b": [jnp.full(1, 3.0), {"c": np.arange(2)}]}
    other: Any = {"a": jnp.zeros(2), "b": [jnp.zeros(1), {"c": np.zeros(2, int)}]}
    inner = other["b"]
    checkpoint.save(tmp_path / "c", saved)
    checkpoint.restore(tmp_path / "c", other)
    assert bits(other) == bits(saved)
    assert other["b"] is inner


def test_a_pure_dict_of_ours_and_the_model_are_one_checkpoint(tmp_path: Path) -> None:
    saved, model = Network(1), Network(2)
    checkpoint.save(tmp_path / "c", nnx.to_pure_dict(nnx.state(saved)))
    checkpoint.restore(tmp_path / "c", model)
    assert bits(model) == bits(saved)


def test_the_ellipsis_restores_a_smaller_model(tmp_path: Path) -> None:
    saved = Network(1)
    checkpoint.save(tmp_path / "c", saved)
    small = nnx.Dict(layers=nnx.List([Network(2).layers[0]]))
    checkpoint.restore(tmp_path / "c", small, ...)
    assert jnp.array_equal(small.layers[0].kernel[...], saved.layers[0].kernel[...])


def test_a_count_that_became_an_array_is_restored_into_the_number_it_was(tmp_path: Path) -> None:
    saved, fresh = nnx.Dict(count=nnx.Variable(0)), nnx.Dict(count=nnx.Variable(0))
    saved.count[...] = jnp.asarray(7)
    checkpoint.save(tmp_path / "c", saved)
    checkpoint.restore(tmp_path / "c", fresh)
    assert bits(fresh) == bits(saved)


@pytest.mark.thorough
def test_restored_values_do_not_make_jit_trace_again(tmp_path: Path) -> None:
    # In a process of its own: after thousands of other tests in one process it has been seen to
    # trace once more, for a reason that is not known yet.
    command = [sys.executable, "-m", "tests.training.checkpoint_traces", str(tmp_path / "c")]
    done = run_process(command, cwd=Path(__file__).parents[2], timeout=120)
    assert done.stdout.splitlines()[-1:] == ["traced 1 times"], done.stdout + done.stderr


def test_nothing_is_logged_or_printed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.INFO)
    logging.getLogger("absl").setLevel(logging.INFO)
    try:
        checkpoint.save(tmp_path / "c", Network(1))
        checkpoint.save(tmp_path / "c", Network(1), overwrite=True)
        checkpoint.restore(tmp_path / "c", Network(1))
        logging.getLogger("absl").info("of the user")
    finally:
        logging.getLogger("absl").setLevel(logging.NOTSET)
    assert [record.message for record in caplog.records] == ["of the user"]
    assert "of the user" not in capfd.readouterr().out
