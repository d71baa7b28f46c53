"""Two processes of `jax.distributed` on this machine train as one does."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import typing as tp
from pathlib import Path

import jax
import numpy as np
import pytest

from tests.support.processes import finished
from tests.transforms.data_parallel import train_here

ROOT = Path(__file__).parent.parent.parent
PROCESSES = 2
DEVICES = 2  # of each process
PATIENCE = 120.0  # seconds


def free_address() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


def start(address: str, process: int, logs: Path) -> subprocess.Popen[bytes]:
    flags = os.environ.get("XLA_FLAGS", "")  # of the quick compiler
    settings = {
        "JAX_PLATFORMS": "cpu",
        "XLA_FLAGS": f"--xla_force_host_platform_device_count={DEVICES} {flags}",
        "PYTHONPATH": str(ROOT),
    }
    program = "tests.transforms.data_parallel"
    with open(logs / f"{process}.out", "w") as output, open(logs / f"{process}.err", "w") as errors:
        return subprocess.Popen(
            [sys.executable, "-m", program, address, str(PROCESSES), str(process)],
            cwd=ROOT,
            env=os.environ | settings,
            stdout=output,
            stderr=errors,
        )


def run_together(logs: Path) -> list[dict[str, tp.Any]]:
    """Run one program in all processes; one that fails or hangs takes the others with it."""
    address = free_address()
    codes = finished((start(address, number, logs) for number in range(PROCESSES)), PATIENCE)
    assert codes == [0] * PROCESSES, "\n".join(file.read_text() for file in logs.glob("*.err"))
    files = [logs / f"{number}.out" for number in range(PROCESSES)]
    return [json.loads(file.read_text().splitlines()[-1]) for file in files]


def assert_close(got: tp.Any, wanted: tp.Any) -> None:
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6), got, wanted)


@pytest.mark.thorough
def test_a_data_parallel_step_of_two_processes_equals_the_step_of_one(tmp_path: Path) -> None:
    wanted = train_here()
    found = run_together(tmp_path)
    assert len(found) == PROCESSES
    for of_process in found:
        assert of_process["devices"] == [DEVICES, PROCESSES * DEVICES]
        assert_close(of_process["jit"], wanted)
        assert_close(of_process["shard_map"], wanted)
    assert len(set(wanted["losses"])) == len(wanted["losses"])
