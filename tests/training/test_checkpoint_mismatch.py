"""What does not fit or cannot be read is said at once, and the model stays as it is."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import typed_nnx as nnx
from tests.training.checkpoint_models import Network, bits
from typed_nnx.errors import (
    CheckpointDamagedError,
    CheckpointError,
    CheckpointExistsError,
    CheckpointLeafError,
    CheckpointMismatchError,
    CheckpointNotFoundError,
    TraceLevelError,
)
from typed_nnx.training import checkpoint


def test_everything_that_differs_is_in_one_error_and_nothing_changes(tmp_path: Path) -> None:
    saved: Any = Network(1)
    model: Any = Network(2)
    saved.more = nnx.Dict({"0": nnx.Param(jnp.ones(4)), "inner": nnx.Param(3)})
    saved.layers[0].bias = nnx.Param(jnp.zeros(5))
    model.mean = nnx.BatchStat(jnp.zeros(3))
    model.head = nnx.Param(jnp.zeros((2, 2), jnp.int32))
    model.rngs = nnx.Rngs(jax.random.key(0, impl="rbg"))
    checkpoint.save(tmp_path / "c", saved)
    before = bits(model)
    with pytest.raises(CheckpointMismatchError) as info:
        checkpoint.restore(tmp_path / "c", model)
    assert bits(model) == before
    error = info.value
    assert error.missing == [(("head",), "int32[2,2]")]
    assert sorted(error.extra, key=str) == [
        (("more", "0"), "float32[4]"),
        (("more", "inner"), "int (a value of Python)"),
    ]
    assert sorted(error.wrong, key=str) == [
        (("layers", 0, "bias"), "float32[3]", "float32[5]"),
        (("mean",), "float32[3]", "bfloat16[3]"),
        (("rngs", "default", "key"), "key<rbg>[]", "key<fry>[]"),
    ]
    text = str(error)
    for path, *facts in (*error.missing, *error.extra, *error.wrong):
        assert repr(path) in text
        assert all(fact in text for fact in facts)
    assert (
        f"restore: the checkpoint {str(tmp_path / 'c')!r} does not fit Network; 6 leaves differ"
        in text
    )
    assert "\n  Fix: " in text


def test_a_part_that_does_not_fit_changes_nothing_either(tmp_path: Path) -> None:
    checkpoint.save(tmp_path / "c", {"a": jnp.ones(2), "b": jnp.ones(3)})
    model = nnx.Dict(a=nnx.Param(jnp.zeros(2)), b=nnx.Param(jnp.zeros(2)))
    with pytest.raises(CheckpointMismatchError, match=r"wrong at \('b',\)"):
        checkpoint.restore(tmp_path / "c", model, nnx.Param)
    assert not model.a[...].any()


def test_a_checkpoint_with_more_than_the_model_names_the_remedy(tmp_path: Path) -> None:
    checkpoint.save(tmp_path / "c", Network(1))
    with pytest.raises(CheckpointMismatchError, match=r"Fix: .*restore\(path, model, \.\.\.\)"):
        checkpoint.restore(tmp_path / "c", nnx.Dict())


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved") / "c"
    big = jax.random.normal(jax.random.key(0), (40, 40))
    checkpoint.save(folder, {"big": big, "small": jnp.arange(3.0), "key": jax.random.key(1)})
    return folder


def error_of(path: Path, model: Any) -> CheckpointError | None:
    try:
        checkpoint.restore(path, model)
    except CheckpointError as error:
        return error
    return None


def files_of(folder: Path) -> list[Path]:
    return sorted(p.relative_to(folder) for p in folder.rglob("*") if p.is_file())


# After an error orbax closes its event loop while tensorstore still reads, and says so.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("how", ["deleted", "emptied", "halved", "shortened"])
def test_a_damaged_file_is_reported_or_does_no_harm(saved: Path, tmp_path: Path, how: str) -> None:
    reported = 0
    for number, name in enumerate(files_of(saved)):
        copy = tmp_path / str(number)
        shutil.copytree(saved, copy)
        size = (copy / name).stat().st_size
        if how == "deleted":
            (copy / name).unlink()
        else:
            os.truncate(
                copy / name, {"emptied": 0, "halved": size // 2, "shortened": size - 1}[how]
            )
        model: Any = {"big": jnp.zeros((40, 40)), "small": jnp.zeros(3), "key": jax.random.key(0)}
        before = bits(model)
        error = error_of(copy, model)
        if error is None:
            # Not all that orbax writes is needed to read it.
            assert jnp.array_equal(model["big"], jax.random.normal(jax.random.key(0), (40, 40)))
            assert model["small"].tolist() == [0, 1, 2]
            assert jnp.array_equal(jax.random.key_data(model["key"]), jnp.array([0, 1], jnp.uint32))
        else:
            reported += 1
            assert isinstance(error, CheckpointDamagedError) or how == "deleted", name
            assert str(copy) in str(error)
            assert bits(model) == before, name
    assert reported >= 3


def test_a_path_without_a_checkpoint_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(CheckpointNotFoundError, match="does not exist"):
        checkpoint.restore(tmp_path / "none", Network(0))
    with pytest.raises(FileNotFoundError, match="has no complete checkpoint in it"):
        checkpoint.load(tmp_path, lambda: Network(0))
    (tmp_path / "version_1.orbax-checkpoint-tmp").mkdir()
    with pytest.raises(CheckpointNotFoundError, match="has no complete checkpoint in it"):
        checkpoint.restore(tmp_path, Network(0))


def test_other_files_and_folders_are_no_checkpoints(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("notes")
    with pytest.raises(CheckpointError, match="is not a checkpoint"):
        checkpoint.restore(tmp_path, Network(0))
    with pytest.raises(CheckpointError, match="is a file, not a checkpoint"):
        checkpoint.restore(tmp_path / "notes.txt", Network(0))


def test_save_replaces_only_what_it_wrote_and_only_if_asked(tmp_path: Path) -> None:
    folder, model = tmp_path / "c", Network(2)
    checkpoint.save(folder, Network(1))
    with pytest.raises(CheckpointExistsError, match="overwrite=True"):
        checkpoint.save(folder, Network(2))
    checkpoint.restore(folder, model)
    assert bits(model) == bits(Network(1))
    checkpoint.save(folder, Network(3), overwrite=True)
    checkpoint.restore(folder, model)
    assert bits(model) == bits(Network(3))
    assert [p.name for p in folder.iterdir()] == ["version_2"]
    (tmp_path / "mine.txt").write_text("mine")
    for overwrite in (False, True):
        with pytest.raises(CheckpointError, match="something else in it"):
            checkpoint.save(tmp_path, Network(1), overwrite=overwrite)
        with pytest.raises(CheckpointError, match="is a file"):
            checkpoint.save(tmp_path / "mine.txt", Network(1), overwrite=overwrite)
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_save_does_not_replace_the_steps_of_a_manager(tmp_path: Path) -> None:
    with checkpoint.CheckpointManager(tmp_path) as manager:
        manager.save(1, Network(1))
    with pytest.raises(CheckpointError, match=r"something else in it \(1\)"):
        checkpoint.save(tmp_path, Network(1), overwrite=True)


def test_all_leaves_that_cannot_be_saved_are_listed(tmp_path: Path) -> None:
    gone = jnp.ones(2) + 1
    gone.delete()
    model = nnx.Dict(
        a=nnx.Variable({"f": max}), b=nnx.Variable(np.array(["x"])), c=nnx.Variable(gone)
    )
    with pytest.raises(CheckpointLeafError) as info:
        checkpoint.save(tmp_path / "c", model)
    assert [path for path, _ in info.value.leaves] == [("a", "f"), ("b",), ("c",)]
    assert not (tmp_path / "c").exists()
    with pytest.raises(CheckpointLeafError, match="only a shape"):
        checkpoint.save(tmp_path / "c", nnx.eval_shape(lambda: Network(0)))
    with pytest.raises(CheckpointLeafError, match="given as the whole"):
        checkpoint.restore(tmp_path / "c", 3)


def test_a_traced_model_is_not_saved(tmp_path: Path) -> None:
    @nnx.jit
    def step(model: Network) -> None:
        checkpoint.save(tmp_path / "c", model)

    with pytest.raises(CheckpointLeafError, match="tracer"):
        step(Network(0))


def test_a_model_of_another_trace_is_not_restored(tmp_path: Path) -> None:
    checkpoint.save(tmp_path / "c", Network(1))
    model = Network(2)

    def step(x: jax.Array) -> jax.Array:
        checkpoint.restore(tmp_path / "c", model)
        return x

    with pytest.raises(TraceLevelError):
        jax.jit(step)(jnp.ones(1))
    assert bits(model) == bits(Network(2))


def test_a_sharding_that_does_not_divide_an_array_is_reported(tmp_path: Path) -> None:
    model = Network(2)
    checkpoint.save(tmp_path / "c", Network(1))
    mesh = jax.make_mesh((1,), ("x",))
    rows = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(None, None, "x"))
    with pytest.raises(CheckpointError, match="cannot be restored with"):
        checkpoint.restore(tmp_path / "c", model, sharding=rows)
    assert bits(model) == bits(Network(2))
