"""`typed-nnx` run as a shell runs it, and on a terminal of its own."""

from __future__ import annotations

import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping
from fcntl import ioctl
from pathlib import Path

from tests.support.processes import run_process, started_process

PROGRAM = (sys.executable, "-c", "from typed_nnx_codegen.cli import main; main()")
# What decides on colours and tracebacks; a test says itself what it wants of it.
_DECIDING = ("NO_COLOR", "FORCE_COLOR", "TYPED_NNX_DEBUG", "COLUMNS")


def environment(more: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of this process without what decides on output, and with more."""
    kept = {name: value for name, value in os.environ.items() if name not in _DECIDING}
    return {**kept, "TERM": "xterm-256color", **more}


def run(
    *arguments: str, folder: Path | None = None, more: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command with its output in pipes."""
    return run_process(
        [*PROGRAM, *arguments], cwd=folder, env=environment(more or {}), stdin=subprocess.DEVNULL
    )


def run_on_terminal(
    *arguments: str,
    folder: Path | None = None,
    more: Mapping[str, str] | None = None,
    width: int = 80,
) -> tuple[int, str]:
    """Run the command on a terminal; return its status and all that the terminal got."""
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    with started_process(
        [*PROGRAM, *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=folder,
        env=environment(more or {}),
    ) as process:
        os.close(theirs)
        found = bytearray()
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            if not select.select([ours], [], [], 0.5)[0]:
                continue
            try:
                data = os.read(ours, 65536)
            except OSError:  # the other side is closed
                break
            if not data:
                break
            found += data
        status = process.wait(timeout=10)
    os.close(ours)
    return status, found.decode().replace("\r\n", "\n")
