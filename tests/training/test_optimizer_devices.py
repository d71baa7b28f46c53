"""Run the checks of sharded training in a process whose host pretends to have eight devices."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

FILE = Path(__file__).parent / "optimizer_on_eight_devices.py"


def test_training_on_eight_devices_agrees_with_one_device() -> None:
    settings = {
        "JAX_PLATFORMS": "cpu",
        "XLA_FLAGS": "--xla_force_host_platform_device_count=8",
        "PYTEST_ADDOPTS": "",
    }
    command = [sys.executable, "-m", "pytest", "-q", "--tb=line", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "-p", "no:xdist", str(FILE)],
        cwd=FILE.parent.parent.parent,
        env=os.environ | settings,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    # A check that was skipped would prove nothing.
    assert re.search(r"^\d\d passed in ", done.stdout, re.MULTILINE), done.stdout
