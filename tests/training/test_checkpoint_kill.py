"""A program that is killed at any moment of a save leaves the last complete checkpoint readable."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

import typed_nnx as nnx
from tests.support.examples import few_or
from tests.support.processes import started_process
from tests.training.checkpoint_writer import model
from typed_nnx.errors import CheckpointNotFoundError
from typed_nnx.training import checkpoint
from typed_nnx.training._checkpoint_files import folder_of, versions

ROOT = Path(__file__).parents[2]


def run_and_kill(how: str, folder: Path, wait: float) -> int:
    """Run the writer, kill it some time after its first report, and return the last version it reported."""
    command = [sys.executable, "-m", "tests.training.checkpoint_writer", how, str(folder)]
    environment = os.environ | {"JAX_PLATFORMS": "cpu"}
    with started_process(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        assert first.startswith("ready")
        time.sleep(wait)
        process.send_signal(signal.SIGKILL)
        return int((first + process.stdout.read()).split()[-1])


def version_of(found: Any) -> int:
    """Return the version of a model, all of whose arrays must be of one."""
    values = {
        int(v) for leaf in jax.tree.leaves(nnx.state(found)) for v in np.unique(np.asarray(leaf))
    }
    assert len(values) == 1
    return values.pop()


def check_killed(how: str, folder: Path, kills: int, seed: int) -> None:
    waits, found = random.Random(seed), model(0)
    for _ in range(kills):
        reported = run_and_kill(how, folder, waits.uniform(0, 0.6))
        checkpoint.restore(folder, found)
        if how == "save":
            # The one that was reported, or the next, whose report was cut off.
            assert version_of(found) in (reported, reported + 1)
        else:
            # That a save began says that the one before is complete.
            assert version_of(found) >= reported - 1
            check_steps(folder)


def check_steps(folder: Path) -> None:
    """Each step that is in the folder can be read."""
    manager, found = checkpoint.CheckpointManager(folder), model(0)
    for step in manager.all_steps():
        manager.restore(found, step=step)
        assert version_of(found) == step
        assert manager.metrics(step) == {"score": step % 7}


@pytest.mark.thorough
@pytest.mark.parametrize("how", ["save", "manager"])
def test_a_killed_save_leaves_a_complete_checkpoint(tmp_path: Path, how: str) -> None:
    check_killed(how, tmp_path / "c", kills=few_or(2, 30), seed=few_or(0, 1))


class Killed(BaseException):
    """Stands for the moment of a kill: no handler of ours or of orbax may catch it."""


STEPS = ["before the rename", "after the rename", "in the middle of the deletion"]


@pytest.mark.parametrize("when", STEPS)
def test_a_kill_between_the_new_checkpoint_and_the_end_of_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    folder, found = tmp_path / "c", model(0)
    checkpoint.save(folder, model(1))
    kind = type(folder_of(folder))
    rename, rmtree = kind.rename, kind.rmtree

    def killed_rename(path: Any, target: Any) -> Any:
        if path.name != "version_1":  # one of orbax's own
            return rename(path, target)
        if when == "after the rename":
            rename(path, target)
        raise Killed

    def killed_rmtree(path: Any, *args: Any, **kwargs: Any) -> None:
        next(p for p in sorted(Path(path).rglob("*")) if p.is_file()).unlink()
        raise Killed

    if when == "in the middle of the deletion":
        monkeypatch.setattr(kind, "rmtree", killed_rmtree)
    else:
        monkeypatch.setattr(kind, "rename", killed_rename)
    with contextlib.suppress(Killed):
        checkpoint.save(folder, model(2), overwrite=True)
    monkeypatch.setattr(kind, "rename", rename)
    monkeypatch.setattr(kind, "rmtree", rmtree)
    checkpoint.restore(folder, found)
    assert version_of(found) == 2
    assert versions(folder_of(folder)).complete() == ([1, 2] if when == STEPS[0] else [2])
    checkpoint.save(folder, model(3), overwrite=True)
    checkpoint.restore(folder, found)
    assert version_of(found) == 3
    assert [entry.name for entry in folder.iterdir()] == ["version_3"]


def test_a_reader_follows_a_checkpoint_that_is_replaced_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import orbax.checkpoint as ocp

    folder, found = tmp_path / "c", model(0)
    checkpoint.save(folder, model(1))
    restore = ocp.Checkpointer.restore
    calls: list[int] = []

    def replaced_first(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not calls:
            calls.append(1)
            checkpoint.save(folder, model(2), overwrite=True)
        return restore(self, *args, **kwargs)

    monkeypatch.setattr(ocp.Checkpointer, "restore", replaced_first)
    checkpoint.restore(folder, found)
    assert version_of(found) == 2


def test_a_first_save_that_was_killed_is_no_checkpoint(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    checkpoint.save(folder, model(1))
    (folder / "version_1").rename(folder / "version_1.orbax-checkpoint-tmp")
    with pytest.raises(CheckpointNotFoundError):
        checkpoint.restore(folder, model(0))
    checkpoint.save(folder, model(2))
    assert [entry.name for entry in folder.iterdir()] == ["version_1"]
