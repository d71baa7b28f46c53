"""Run the checks of checkpoints between meshes where the host pretends to have eight devices."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

CHECKS = Path(__file__).with_name("checkpoint_on_eight_devices.py")


def test_checkpoints_go_from_mesh_to_mesh() -> None:
    settings = {
        "JAX_PLATFORMS": "cpu",
        "XLA_FLAGS": "--xla_force_host_platform_device_count=8",
        "PYTEST_ADDOPTS": "",
    }
    command = [sys.executable, "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "-p", "no:xdist", str(CHECKS)],
        cwd=CHECKS.parents[2],
        env=os.environ | settings,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    # A check that was skipped would prove nothing.
    assert re.search(r"^\d\d passed in ", done.stdout, re.MULTILINE), done.stdout
