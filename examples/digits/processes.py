"""Several processes of one machine that train together: how the demo starts and joins them."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import jax

ROOT = Path(__file__).parents[2]
PATIENCE = 60  # seconds for the processes to find each other


def free_address() -> str:
    """Return an address of this machine that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


def run(count: int, options: Sequence[str], logs: Path) -> int:
    """Run the demo in several processes, and return the first exit code other than 0, if any.

    Process 0 speaks to this terminal, the others into `logs`. One that fails ends them all.
    """
    logs.mkdir(parents=True, exist_ok=True)
    address = free_address()
    settings = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    started: list[subprocess.Popen[bytes]] = []
    # A plain SIGTERM would leave the others behind: jax.distributed makes them deaf to it.
    before = signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        for number in range(count):
            who = ["--process", str(number), "--coordinator", address]
            command = [sys.executable, "-m", "examples.digits", *options, *who]
            if number == 0:
                started.append(subprocess.Popen(command, env=settings))
                continue
            with (logs / f"process_{number}.log").open("w") as log:
                started.append(subprocess.Popen(command, env=settings, stdout=log, stderr=log))
        while None in (codes := [process.poll() for process in started]) and not any(codes):
            time.sleep(0.05)
        return next((code for code in codes if code), 0)
    finally:
        for process in started:
            process.kill()
            process.wait()
        signal.signal(signal.SIGTERM, before)


def join(coordinator: str, processes: int, process: int) -> None:
    """Make this process one of several; to be called before jax is first used for an array."""
    jax.config.update("jax_cpu_collectives_implementation", "gloo")  # type: ignore[no-untyped-call]  # jax has no types for it
    jax.distributed.initialize(coordinator, processes, process, initialization_timeout=PATIENCE)


def leave() -> None:
    """Wait for the other processes, and part from them."""
    jax.distributed.shutdown()  # type: ignore[no-untyped-call]  # jax has no types for it
