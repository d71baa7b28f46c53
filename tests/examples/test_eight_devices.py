"""Run the checks on eight devices in a process of their own, whose host pretends to have eight."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def test_on_eight_devices_examples_compute_what_they_do_on_one() -> None:
    settings = {
        "JAX_PLATFORMS": "cpu",
        "XLA_FLAGS": "--xla_force_host_platform_device_count=8",
        "PYTEST_ADDOPTS": "",
    }
    command = [sys.executable, "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "-p", "no:xdist", str(HERE / "eight_devices.py")],
        cwd=HERE.parent.parent,
        env=os.environ | settings,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    # A check that was skipped would prove nothing.
    assert re.search(r"^7 passed in ", done.stdout, re.MULTILINE), done.stdout
