"""Processes that run together: one that fails or hangs takes the others with it."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterable


def finished(processes: Iterable[subprocess.Popen[bytes]], patience: float) -> list[int | None]:
    """Return the exit codes of processes when all have ended, or one with an error.

    Args:
        processes: The processes; none of them is left running.
        patience: How long they may take, in seconds; the code of one that takes longer is None.
    """
    started, end = list(processes), time.monotonic() + patience
    try:
        while None in (codes := [process.poll() for process in started]):
            if any(codes) or time.monotonic() > end:
                break
            time.sleep(0.05)
    finally:
        for process in started:
            process.kill()
            process.wait()
    return codes
