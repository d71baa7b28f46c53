"""Two processes of `jax.distributed` on this machine train as one does."""

from __future__ import annotations

import json
import os
import sys
import typing as tp
from pathlib import Path

import jax
import numpy as np
import pytest

from examples.digits.processes import free_address
from tests.support.processes import run_together
from tests.transforms.data_parallel import train_here

ROOT = Path(__file__).parent.parent.parent
PROCESSES = 2
DEVICES = 2  # of each process


def run_programs(logs: Path) -> list[dict[str, tp.Any]]:
    """Run one program in all processes and return what each of them measured."""
    flags = os.environ.get("XLA_FLAGS", "")  # of the quick compiler
    settings = {
        "JAX_PLATFORMS": "cpu",
        "XLA_FLAGS": f"--xla_force_host_platform_device_count={DEVICES} {flags}",
        "PYTHONPATH": str(ROOT),
    }
    command = [sys.executable, "-m", "tests.transforms.data_parallel", free_address()]
    commands = [[*command, str(PROCESSES), str(number)] for number in range(PROCESSES)]
    said = run_together(commands, logs, timeout=120, cwd=ROOT, env=os.environ | settings)
    return [json.loads(output.splitlines()[-1]) for output in said]


def assert_close(got: tp.Any, wanted: tp.Any) -> None:
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6), got, wanted)


@pytest.mark.thorough
def test_a_data_parallel_step_of_two_processes_equals_the_step_of_one(tmp_path: Path) -> None:
    wanted = train_here()
    found = run_programs(tmp_path)
    assert len(found) == PROCESSES
    for of_process in found:
        assert of_process["devices"] == [DEVICES, PROCESSES * DEVICES]
        assert_close(of_process["jit"], wanted)
        assert_close(of_process["shard_map"], wanted)
    assert len(set(wanted["losses"])) == len(wanted["losses"])
