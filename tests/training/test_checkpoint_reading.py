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
from typed_nnx.training import _checkpoint_files as checksums
from typed_nnx.training import checkpoint
from typed_nnx.training._checkpoint_files import folder_of


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
@pytest.mark.parametrize("how", ["deleted", "emptied", "halved", "shortened", "flipped"])
def test_a_damaged_file_is_reported(saved: Path, tmp_path: Path, how: str) -> None:
    """Each file of the data, whether it is needed or not; some of orbax's own are not read at all."""
    for number, name in enumerate(files_of(saved)):
        copy = tmp_path / str(number)
        shutil.copytree(saved, copy)
        data = (copy / name).read_bytes()
        if how == "deleted":
            (copy / name).unlink()
        elif how == "flipped":
            middle = len(data) // 2
            changed = bytes([data[middle] ^ 16])
            (copy / name).write_bytes(data[:middle] + changed + data[middle + 1 :])
        else:
            sizes = {"emptied": 0, "halved": len(data) // 2, "shortened": len(data) - 1}
            os.truncate(copy / name, sizes[how])
        model: Any = {"big": jnp.zeros((40, 40)), "small": jnp.zeros(3), "key": jax.random.key(0)}
        before = bits(model)
        error = error_of(copy, model)
        if name.name in {"commit_success.txt", "_CHECKPOINT_METADATA"} or (
            name.name == checksums.FILE and how == "deleted"
        ):
            assert error is None, name
            assert jnp.array_equal(model["big"], jax.random.normal(jax.random.key(0), (40, 40)))
        else:
            assert isinstance(error, CheckpointDamagedError) or how == "deleted", name
            assert str(copy) in str(error)
            assert bits(model) == before, name


def test_any_flipped_bit_changes_the_digest(tmp_path: Path) -> None:
    """In a block of the table, in its last one, and in the bytes after it."""
    file = tmp_path / "data"
    data = bytearray(np.random.default_rng(0).bytes((1 << 21) + 3 * 4096 + 5))
    file.write_bytes(data)
    seen = {str(checksums._digest(folder_of(file)))}
    places = [0, 4095, 4096, (1 << 21) - 1, 1 << 21, len(data) - 6, len(data) - 1]
    for place in places:
        for bit in range(8):
            data[place] ^= 1 << bit
            file.write_bytes(data)
            seen.add(str(checksums._digest(folder_of(file))))
            data[place] ^= 1 << bit
    assert len(seen) == 1 + 8 * len(places)
    # Words that change places keep the sum of their row, not those of their columns.
    data[:8], data[8:16] = data[8:16], data[:8]
    file.write_bytes(data)
    assert str(checksums._digest(folder_of(file))) not in seen


def test_a_part_may_be_restored_without_reading_all(saved: Path, tmp_path: Path) -> None:
    copy = tmp_path / "c"
    shutil.copytree(saved, copy)
    (file,) = copy.glob("version_*/default/ocdbt.process_0/manifest.ocdbt")
    file.write_bytes(b"")  # orbax read it when it put the parts of all processes together
    model: Any = {"small": jnp.zeros(3)}
    with pytest.raises(CheckpointDamagedError, match="has other bytes than were written"):
        checkpoint.restore(copy, model, ...)
    assert not model["small"].any()
    checkpoint.restore(copy, model, ..., verify=False)
    assert model["small"].tolist() == [0, 1, 2]


def test_a_checkpoint_without_checksums_is_an_older_one(saved: Path, tmp_path: Path) -> None:
    copy = tmp_path / "c"
    shutil.copytree(saved, copy)
    for file in copy.rglob(checksums.FILE):
        file.unlink()
    model: Any = {"big": jnp.zeros((40, 40)), "small": jnp.zeros(3), "key": jax.random.key(0)}
    checkpoint.restore(copy, model)
    assert model["small"].tolist() == [0, 1, 2]


class Scale(nnx.Param[Any]):
    """A parameter of one's own."""


def test_a_value_does_not_become_a_variable_of_another_kind(tmp_path: Path) -> None:
    checkpoint.save(tmp_path / "c", {"w": nnx.Param(jnp.ones(3)), "s": Scale(jnp.ones(2))})
    wrong = {"w": nnx.BatchStat(jnp.zeros(3)), "s": nnx.Cache(jnp.zeros(2))}
    with pytest.raises(CheckpointMismatchError) as info:
        checkpoint.restore(tmp_path / "c", wrong)
    assert info.value.wrong == [(("s",), "a Cache", "a Scale"), (("w",), "a BatchStat", "a Param")]
    assert wrong["w"][...].tolist() == [0, 0, 0]
    with pytest.raises(CheckpointMismatchError, match="a BatchStat"):
        checkpoint.load(tmp_path / "c", lambda: wrong)


@pytest.mark.parametrize("kind", [Scale, nnx.Param, nnx.Variable, None], ids=str)
def test_a_value_may_become_one_of_a_kind_above_or_below_or_a_bare_array(
    tmp_path: Path, kind: Any
) -> None:
    checkpoint.save(tmp_path / "c", {"w": nnx.Param(jnp.ones(3))})
    found: Any = {"w": jnp.zeros(3) if kind is None else kind(jnp.zeros(3))}
    checkpoint.restore(tmp_path / "c", found)
    assert found["w"][...].tolist() == [1, 1, 1]


def test_the_type_of_a_variable_may_be_renamed(tmp_path: Path) -> None:
    kind = type("NameThatNoOtherClassHas", (nnx.Variable,), {})
    checkpoint.save(tmp_path / "c", {"w": kind(jnp.ones(3))})
    kind.__name__ = "Kernel"
    found = {"w": nnx.Cache(jnp.zeros(3))}
    checkpoint.restore(tmp_path / "c", found)
    assert found["w"][...].tolist() == [1, 1, 1]


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


@pytest.mark.thorough
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
