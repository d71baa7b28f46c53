"""Two processes of `jax.distributed` on this machine write one checkpoint together."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.support.processes import free_address, run_together

ROOT = Path(__file__).parents[2]
PROCESSES = 2


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
    commands = [[*command, str(number), str(tmp_path)] for number in range(PROCESSES)]
    logs = tmp_path / "logs"
    logs.mkdir()
    said = run_together(commands, logs, timeout=120, cwd=ROOT, env=os.environ | settings)
    assert [output.splitlines()[-1] for output in said] == ["done [3, 4]"] * PROCESSES
    assert sorted(entry.name for entry in (tmp_path / "run").iterdir()) == ["3", "4"]
    assert [entry.name for entry in (tmp_path / "c").iterdir()] == ["version_3"]
