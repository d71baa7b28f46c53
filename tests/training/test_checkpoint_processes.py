"""Two processes of `jax.distributed` on this machine write one checkpoint together."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROCESSES = 2


def free_address() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


@pytest.mark.thorough
def test_processes_save_and_restore_together(tmp_path: Path) -> None:
    address = free_address()
    flags = os.environ.get("XLA_FLAGS", "")  # of the quick compiler
    settings = {
        "JAX_PLATFORMS": "cpu",
        "XLA_FLAGS": f"--xla_force_host_platform_device_count=2 {flags}",
        "PYTHONPATH": str(ROOT),
    }
    command = [
        sys.executable,
        "-m",
        "tests.training.checkpoint_in_processes",
        address,
        str(PROCESSES),
    ]
    processes = [
        subprocess.Popen(
            [*command, str(number), str(tmp_path)],
            cwd=ROOT,
            env=os.environ | settings,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(PROCESSES)
    ]
    try:
        results = [process.communicate(timeout=120) for process in processes]
    finally:
        for process in processes:
            process.kill()
    assert [process.returncode for process in processes] == [0, 0], results
    assert [output.splitlines()[-1] for output, _ in results] == ["done [3, 4]"] * PROCESSES
    assert sorted(entry.name for entry in (tmp_path / "run").iterdir()) == ["3", "4"]
    assert [entry.name for entry in (tmp_path / "c").iterdir()] == ["version_3"]
