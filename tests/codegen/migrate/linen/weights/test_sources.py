"""Linen variables are read from msgpack and orbax as they were saved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import orbax.checkpoint as orbax
import pytest
from flax import serialization

import typed_nnx as nnx
from typed_nnx_codegen.migrate import weights

ROWS = jnp.ones((2, 5))


def dense_variables(*, boxed: bool = False) -> Any:
    init: Any = nn.initializers.lecun_normal()
    if boxed:
        init = nn.with_partitioning(init, (None, "model"))
    return nn.Dense(3, kernel_init=init).init(jax.random.key(4), ROWS)


def check(source: Any, *, boxed: bool = False) -> None:
    layer = nnx.Linear(5, 3, rngs=nnx.Rngs(0))

    weights.load(source, layer, {})

    expected = nn.Dense(3).apply(nn.meta.unbox(dense_variables(boxed=boxed)), ROWS)
    np.testing.assert_allclose(layer(ROWS), expected, rtol=1e-6)


@pytest.mark.parametrize("boxed", [False, True], ids=["bare", "boxed"])
def test_msgpack_bytes_are_read(boxed: bool) -> None:
    check(serialization.to_bytes(dense_variables(boxed=boxed)), boxed=boxed)


def test_a_msgpack_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "weights.msgpack"
    path.write_bytes(serialization.to_bytes(dense_variables()))

    check(path)
    check(str(path))


@pytest.mark.parametrize("boxed", [False, True], ids=["bare", "boxed"])
def test_an_orbax_checkpoint_is_read(tmp_path: Path, boxed: bool) -> None:
    with orbax.StandardCheckpointer() as checkpointer:
        checkpointer.save(tmp_path / "saved", dense_variables(boxed=boxed))

    check(tmp_path / "saved", boxed=boxed)


def test_the_last_step_of_a_manager_is_read(tmp_path: Path) -> None:
    with orbax.CheckpointManager(tmp_path / "run") as manager:
        manager.save(
            9, args=orbax.args.StandardSave(jax.tree.map(lambda x: x + 1, dense_variables()))
        )
        manager.save(10, args=orbax.args.StandardSave(dense_variables()))
        manager.wait_until_finished()

    check(tmp_path / "run")


def test_read_gives_the_collections() -> None:
    assert set(weights.read(serialization.to_bytes(dense_variables()))) == {"params"}


def test_a_path_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(weights.WeightsError, match="none.msgpack: No such file.*\n.*Fix: "):
        check(tmp_path / "none.msgpack")


def test_bytes_that_are_something_else_are_told() -> None:
    with pytest.raises(weights.WeightsError, match="the bytes: no msgpack"):
        check(b"\xc1 nothing")


def test_a_folder_that_is_no_checkpoint_is_told(tmp_path: Path) -> None:
    with pytest.raises(weights.WeightsError, match="no orbax checkpoint"):
        check(tmp_path)


def test_something_else_is_told() -> None:
    with pytest.raises(weights.WeightsError, match="found a int"):
        check(3)
