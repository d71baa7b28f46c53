"""Runs checks in a process of their own, whose host pretends to have eight devices."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from tests.support.processes import run_process

REPOSITORY = Path(__file__).parents[2]


def passed_on_eight_devices(*files: Path) -> int:
    """Run files of tests, assert that none failed or was skipped, and return how many passed."""
    flags = os.environ.get("XLA_FLAGS", "")  # of the quick compiler
    settings = {
        "JAX_PLATFORMS": "cpu",
        "XLA_FLAGS": f"--xla_force_host_platform_device_count=8 {flags}",
        "PYTEST_ADDOPTS": "",
    }
    # Short tracebacks: where flax is the oracle, they must not show its source.
    command = [sys.executable, "-m", "pytest", "-q", "--tb=line", "-p", "no:cacheprovider"]
    done = run_process(
        [*command, "-p", "no:xdist", *map(str, files)], cwd=REPOSITORY, env=os.environ | settings
    )
    assert done.returncode == 0, done.stdout + done.stderr
    # A check that was skipped would prove nothing.
    found = re.search(r"^(\d+) passed(?:, \d+ deselected)? in ", done.stdout, re.MULTILINE)
    assert found, done.stdout
    return int(found[1])
