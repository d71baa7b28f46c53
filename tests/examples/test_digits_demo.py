"""The demo as a program: alone, on eight devices and in two processes, with the same curves."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from examples.digits import processes
from examples.digits.__main__ import main
from tests.support.processes import run_process

ROOT = Path(__file__).parents[2]
SHORT = ("--models", "mlp", "--epochs", "1")
STEPS = 1437 // 48


def run(out: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the demo as a program of its own."""
    return run_process(
        [sys.executable, "-m", "examples.digits", "--out", str(out), *options],
        cwd=ROOT,
        env=os.environ | {"JAX_PLATFORMS": "cpu", "COLUMNS": "120"},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )


def curves(out: Path) -> dict[str, dict[str, list[float]]]:
    return json.loads((out / "curves.json").read_text())


def assert_same_curves(one: Path, other: Path, *, loss: float, images: int) -> None:
    """Compare by a relative difference of losses, and by how many answers may differ."""
    ours, theirs = curves(one), curves(other)
    assert ours.keys() == theirs.keys()
    for name in ours:
        np.testing.assert_allclose(ours[name]["losses"], theirs[name]["losses"], rtol=loss)
        for kind, count in (("train_accuracies", 1437), ("test_accuracies", 360)):
            difference = np.subtract(ours[name][kind], theirs[name][kind])
            assert np.abs(difference).max() <= (images + 0.5) / count


class Alone(NamedTuple):
    """A short run in this process."""

    out: Path
    code: int
    said: str


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Alone:
    out = tmp_path_factory.mktemp("alone")
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(io.StringIO()) as said:
        patch.setenv("COLUMNS", "120")
        patch.setenv("XLA_FLAGS", os.environ.get("XLA_FLAGS", ""))  # it is restored at the end
        code = main([*SHORT, "--out", str(out)])
    return Alone(out, code, said.getvalue())


@pytest.mark.thorough
def test_a_run_prints_a_summary_and_writes_curves(alone: Alone) -> None:
    assert "1437 images to train on, 360 to test; processes: 1, devices: 1 (cpu)" in alone.said
    assert "85,002" in alone.said  # parameters: 65 * 256 + 257 * 256 + 257 * 10
    assert "mlp: epoch 1/1" in alone.said
    assert f"curves: {alone.out / 'curves.png'}" in alone.said
    assert (alone.out / "curves.png").read_bytes().startswith(b"\x89PNG")
    found = curves(alone.out)["mlp"]
    assert len(found["losses"]) == STEPS
    assert np.mean(found["losses"][-5:]) < 0.8 * found["losses"][0]
    assert len(found["train_accuracies"]) == len(found["test_accuracies"]) == 1


@pytest.mark.thorough
def test_a_run_that_misses_the_accuracy_fails(alone: Alone) -> None:
    # What one epoch reaches is far from what is asked of all of them.
    assert alone.code == 1
    assert "is less than 97.00%" in alone.said


@pytest.mark.thorough
def test_eight_devices_train_to_the_same_curves(alone: Alone, tmp_path: Path) -> None:
    done = run(tmp_path, *SHORT, "--devices", "8", "--accuracy", "0")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "processes: 1, devices: 8 (cpu)" in done.stdout
    assert_same_curves(alone.out, tmp_path, loss=1e-5, images=0)


@pytest.mark.thorough
def test_two_processes_train_to_the_same_curves(alone: Alone, tmp_path: Path) -> None:
    done = run(tmp_path, *SHORT, "--processes", "2", "--devices", "2", "--accuracy", "0")
    logs = [log.read_text() for log in (tmp_path / "logs").iterdir()]
    assert done.returncode == 0, "\n".join([done.stdout, done.stderr, *logs])
    assert "processes: 2, devices: 4 (cpu)" in done.stdout
    assert done.stdout.count("mlp: epoch 1/1") == 1
    assert_same_curves(alone.out, tmp_path, loss=1e-5, images=0)


@pytest.mark.thorough
def test_a_process_that_fails_fails_the_run(tmp_path: Path) -> None:
    assert processes.run(2, ["--nonsense"], tmp_path) == 2  # as argparse exits
    assert "--nonsense" in (tmp_path / "process_1.log").read_text()


@pytest.mark.slow
def test_the_whole_demo_succeeds_on_every_layout(tmp_path: Path) -> None:
    layouts = {"one": (), "devices": ("--devices", "8"), "processes": ("--processes", "2")}
    for name, layout in layouts.items():
        done = run(tmp_path / name, *layout)
        assert done.returncode == 0, done.stdout + done.stderr
        assert min(curves(tmp_path / name)["vit"]["losses"][-100:]) < 0.1
    assert_same_curves(tmp_path / "one", tmp_path / "devices", loss=1e-3, images=1)
    assert_same_curves(tmp_path / "one", tmp_path / "processes", loss=1e-3, images=1)
