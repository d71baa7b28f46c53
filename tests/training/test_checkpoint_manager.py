"""The checkpoints of a run: written in the background, the last and the best kept."""

from __future__ import annotations

import math
import os
import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import orbax.checkpoint as ocp
import pytest

import typed_nnx as nnx
from tests.support.processes import run_process
from tests.training.checkpoint_models import Everything, Network, bits
from typed_nnx.errors import (
    CheckpointDamagedError,
    CheckpointError,
    CheckpointExistsError,
    CheckpointLeafError,
    CheckpointNotFoundError,
    CheckpointSaveError,
    MissingPackageError,
)
from typed_nnx.training import _checkpoint_files as checksums
from typed_nnx.training import checkpoint
from typed_nnx.training.checkpoint import CheckpointManager, restore


def folders(path: Path) -> list[str]:
    return sorted(entry.name for entry in path.iterdir())


def test_steps_are_saved_and_restored(tmp_path: Path) -> None:
    with CheckpointManager(tmp_path / "run") as manager:
        assert (manager.all_steps(), manager.latest_step(), manager.best_step()) == ([], None, None)
        for step in (0, 10, 5):
            assert manager.save(step, Everything(step + 1))
        model = Everything(100)
        assert manager.restore(model) == 10
        assert bits(model) == bits(Everything(11))
        assert manager.restore(model, step=5) == 5
        assert bits(model) == bits(Everything(6))
        assert manager.restore(model, nnx.BatchStat, step=0) == 0
        assert model.network.mean[...].tolist() == [1, 1, 1]
        assert jnp.array_equal(model.array, jnp.full(2, 6))
    assert (manager.all_steps(), manager.latest_step()) == ([0, 5, 10], 10)
    again = CheckpointManager(tmp_path / "run")
    assert again.all_steps() == [0, 5, 10]
    model = Everything(100)
    restore(tmp_path / "run", model)
    assert bits(model) == bits(Everything(11))


def test_a_step_is_loaded(tmp_path: Path) -> None:
    with CheckpointManager(tmp_path, best="loss", best_mode="min") as manager:
        manager.save(1, Network(1), metrics={"loss": 0.1})
        manager.save(2, Network(2), metrics={"loss": jnp.asarray(0.2)})
        assert bits(manager.load(lambda: Network(0))) == bits(Network(2))
        assert bits(manager.load(lambda: Network(0), step="best")) == bits(Network(1))
        assert manager.metrics(2) == {"loss": pytest.approx(0.2)}


def test_the_last_and_the_best_steps_are_kept(tmp_path: Path) -> None:
    scores = {1: 0.2, 2: 0.9, 3: math.nan, 4: 0.5, 5: 0.9, 6: None, 7: 0.1}
    with CheckpointManager(tmp_path, keep_last=2, best="score", keep_best=2) as manager:
        for step, score in scores.items():
            metrics = None if score is None else {"score": score, "other": 1}
            manager.save(step, nnx.Param(jnp.full(1, step)), metrics=metrics)
    assert manager.all_steps() == [2, 5, 6, 7]
    assert manager.best_step() == 5
    assert folders(tmp_path) == ["2", "5", "6", "7"]
    found = nnx.Param(jnp.zeros(1, int))
    assert manager.restore(found, step="best") == 5
    assert found[...] == 5


def test_the_smallest_metric_may_be_best(tmp_path: Path) -> None:
    with CheckpointManager(tmp_path, keep_last=1, best="loss", best_mode="min") as manager:
        for step, loss in enumerate([3.0, 1.0, 2.0, -math.inf, 5.0]):
            manager.save(step, {"a": np.full(1, step)}, metrics={"loss": loss})
    assert (manager.all_steps(), manager.best_step()) == ([3, 4], 3)


def test_all_steps_are_kept_without_a_limit_and_others_skipped(tmp_path: Path) -> None:
    with CheckpointManager(tmp_path, save_every=3) as manager:
        saved = [step for step in range(8) if manager.save(step, {"a": np.ones(1)})]
    assert saved == manager.all_steps() == [0, 3, 6]


def test_values_that_change_after_save_are_not_in_it(tmp_path: Path) -> None:
    host, box = np.zeros(1000), jnp.zeros((512, 512))
    model: Any = nnx.Dict(
        host=nnx.Variable(host), box=nnx.Param(box), ref=nnx.Param(jnp.zeros(1000), ref=True)
    )
    increase = jax.jit(lambda x: x + 1, donate_argnums=0)
    with CheckpointManager(tmp_path) as manager:
        for step in range(3):
            manager.save(step, model)
            host += 1
            model.ref[...] += 1
            model.box.set_raw_value(increase(model.box[...]))
        for step in range(3):
            manager.restore(model, step=step)
            for leaf in (model.host, model.box, model.ref):
                assert (np.asarray(leaf[...]) == step).all()


def test_what_makes_no_sense_is_said(tmp_path: Path) -> None:
    with CheckpointManager(tmp_path / "run") as manager:
        manager.save(1, Network(1))
        with pytest.raises(CheckpointExistsError, match=r"manager.delete\(1\)"):
            manager.save(1, Network(2))
        with pytest.raises(CheckpointLeafError):
            manager.save(2, nnx.Dict(a=nnx.Variable(max)))
        with pytest.raises(CheckpointNotFoundError, match=r"no complete step 7; it has \[1\]"):
            manager.restore(Network(1), step=7)
        with pytest.raises(CheckpointNotFoundError, match="has no complete best step"):
            manager.restore(Network(1), step="best")
        with pytest.raises(CheckpointNotFoundError):
            manager.metrics(4)
        manager.delete(1)
        assert manager.all_steps() == []
        with pytest.raises(CheckpointNotFoundError):
            manager.delete(1)
        manager.save(1, Network(2))
    wrong: list[dict[str, Any]] = [
        {"keep_last": 0},
        {"keep_best": -1},
        {"save_every": 0},
        {"best_mode": "most"},
    ]
    for arguments in wrong:
        with pytest.raises(CheckpointError, match=next(iter(arguments))):
            CheckpointManager(tmp_path, **arguments)
    (tmp_path / "file").touch()
    with pytest.raises(CheckpointError, match="is a file"):
        CheckpointManager(tmp_path / "file")


def test_a_negative_step_is_refused(tmp_path: Path) -> None:
    with CheckpointManager(tmp_path) as manager, pytest.raises(CheckpointError, match="0 or more"):
        manager.save(-1, Network(1))


# A failed write leaves threads of orbax behind that talk to a closed event loop.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_failure_in_the_background_is_raised_by_the_next_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import orbax.checkpoint as ocp

    manager = CheckpointManager(tmp_path)
    manager.save(1, Network(1))
    manager.wait_until_finished()

    def fails(*_: object, **__: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(ocp.PyTreeCheckpointHandler, "finalize", fails)
    with pytest.raises(CheckpointSaveError, match="the disk is full"):  # noqa: PT012  # either call may raise
        manager.save(2, Network(2))
        manager.wait_until_finished()
    monkeypatch.undo()
    assert manager.all_steps() == [1]
    manager.save(2, Network(2))
    manager.close()
    assert manager.all_steps() == [1, 2]
    assert folders(tmp_path) == ["1", "2"]


@pytest.mark.thorough
def test_a_program_that_ends_without_close_has_saved(tmp_path: Path) -> None:
    code = (
        "import sys, numpy as np\n"
        "from typed_nnx.training.checkpoint import CheckpointManager\n"
        "CheckpointManager(sys.argv[1]).save(3, {'a': np.ones((1000, 1000))})\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    environment = os.environ | {"JAX_PLATFORMS": "cpu"}
    done = run_process(command, env=environment, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert CheckpointManager(tmp_path).all_steps() == [3]


def test_what_others_put_into_the_folder_is_neither_listed_nor_deleted(tmp_path: Path) -> None:
    """A folder that has a year for a name, an empty one, a file, and a step that orbax wrote."""
    with ocp.CheckpointManager(tmp_path) as theirs:
        theirs.save(1, args=ocp.args.StandardSave({"w": jnp.ones(2)}))
    (tmp_path / "2024").mkdir()
    (tmp_path / "2024" / "notes.txt").write_text("precious")
    (tmp_path / "2023").mkdir()
    (tmp_path / "2022").write_text("a file")
    (tmp_path / "7.deleted").mkdir()
    others = {"2024", "2023", "2022", "7.deleted", "1"}
    with CheckpointManager(tmp_path, keep_last=1) as manager:
        assert manager.all_steps() == [1]
        for step in (2, 3, 2025):
            manager.save(step, {"w": jnp.full(2, step)})
    assert {*folders(tmp_path)} == {*others, "2025"}
    assert (tmp_path / "2024" / "notes.txt").read_text() == "precious"
    found = {"w": jnp.zeros(2)}
    assert manager.restore(found, step=1) == 1
    assert found["w"].tolist() == [1, 1]
    manager.delete(1)  # which was asked for
    assert manager.all_steps() == [2025]


def test_a_step_does_not_take_the_place_of_something_else(tmp_path: Path) -> None:
    (tmp_path / "3").mkdir()
    (tmp_path / "3" / "notes.txt").write_text("precious")
    manager = CheckpointManager(tmp_path)
    with pytest.raises(CheckpointError, match="something else than a checkpoint"):
        manager.save(3, Network(1))
    assert folders(tmp_path) == ["3"]
    assert folders(tmp_path / "3") == ["notes.txt"]


def test_a_changed_metric_is_reported(tmp_path: Path) -> None:
    with CheckpointManager(tmp_path) as manager:
        manager.save(1, Network(1), metrics={"loss": 0.5})
    file = tmp_path / "1" / "metrics" / "metrics"
    file.write_text(file.read_text().replace("0.5", "0.1"))
    with pytest.raises(CheckpointDamagedError, match="'metrics' has other bytes"):
        CheckpointManager(tmp_path, best="loss").best_step()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_step_without_its_checksums_was_not_completed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failure between data and checksums leaves no step, also in the background."""

    def fails(folder: object) -> None:
        raise OSError("the disk is full")

    manager = CheckpointManager(tmp_path)
    manager.save(1, Network(1))
    manager.wait_until_finished()
    monkeypatch.setattr(checksums, "_files_in", fails)
    manager.save(2, Network(2))
    with pytest.raises(CheckpointSaveError, match="the disk is full"):
        manager.wait_until_finished()
    assert manager.all_steps() == [1]
    monkeypatch.undo()
    manager.save(2, Network(2))
    manager.close()
    assert manager.all_steps() == [1, 2]
    assert (tmp_path / "2" / "default" / checksums.FILE).exists()


# -- orbax and safetensors are needed when they are used, and not before ----------------------------


USES: dict[str, Any] = {
    "save": lambda path: checkpoint.save(path, Network(0)),
    "restore": lambda path: checkpoint.restore(path, Network(0)),
    "load": lambda path: checkpoint.load(path, lambda: Network(0)),
    "CheckpointManager": checkpoint.CheckpointManager,
    "save_safetensors": lambda path: checkpoint.save_safetensors(path, Network(0)),
    "load_safetensors": lambda path: checkpoint.load_safetensors(path, Network(0)),
}


@pytest.mark.parametrize("function", sorted(USES))
def test_a_missing_package_is_named_with_the_way_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: str
) -> None:
    package = "safetensors" if "safetensors" in function else "orbax.checkpoint"
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackageError, match=r"pip install 'typed-nnx\[checkpoint\]'") as info:
        USES[function](tmp_path / "c")
    assert info.value.function == function
    assert not (tmp_path / "c").exists()


@pytest.mark.thorough
def test_importing_the_module_imports_neither() -> None:
    code = (
        "import sys, typed_nnx.training.checkpoint\n"
        "print([m for m in ('orbax', 'safetensors') if m in sys.modules])"
    )
    done = run_process([sys.executable, "-c", code], check=True)
    assert done.stdout.strip() == "[]"


def test_in_a_bucket_a_step_counts_once_its_last_file_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with CheckpointManager(tmp_path) as manager:
        manager.save(3, Network(1))
    steps = checksums.steps(checksums.folder_of(tmp_path))
    last = tmp_path / "3" / "commit_success.txt"
    last.touch()
    monkeypatch.setattr(checksums, "_in_a_bucket", lambda entry: True)
    assert steps.complete() == [3]
    last.unlink()
    assert (steps.complete(), steps.strangers()) == ([], [])
