"""Processes that tests start: each has a timeout, and takes the processes that it started with it."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

# Seconds. Far more than any process needs on a busy machine, less than pytest gives a test.
PATIENCE = 240.0

Command = Sequence[str | Path]


def accept_interrupts() -> None:
    """Have this process and those that it starts end on SIGINT.

    Shells start a command in the background (`make test &`) with SIGINT ignored, and children inherit that.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def run_process(
    command: Command,
    *,
    timeout: float = PATIENCE,
    check: bool = False,
    capture_output: bool = True,
    input: Any = None,  # noqa: A002 - as in subprocess.run
    **options: Any,
) -> subprocess.CompletedProcess[Any]:
    """Run a process to its end, as `subprocess.run` does; after a timeout its group is killed.

    Args:
        command: The program and its arguments.
        timeout: Seconds until all of it is killed.
        check: Whether an exit code other than 0 is an error.
        capture_output: Whether to return what the process prints, as text.
        input: What the process reads.
        options: As `subprocess.Popen` takes them.

    Raises:
        subprocess.TimeoutExpired: the process took longer.
        subprocess.CalledProcessError: the process failed, and `check` is set.
    """
    if capture_output:
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **options}
    if input is not None:
        options["stdin"] = subprocess.PIPE
    with started_process(command, timeout=timeout + 5, **options) as process:
        output, errors = process.communicate(input, timeout)
    done = subprocess.CompletedProcess(command, process.returncode, output, errors)
    if check and done.returncode:
        error = subprocess.CalledProcessError(process.returncode, command, output, errors)
        error.add_note(f"{output or ''}{errors or ''}")
        raise error
    return done


@contextlib.contextmanager
def started_process(
    command: Command, *, timeout: float = PATIENCE, **options: Any
) -> Iterator[subprocess.Popen[Any]]:
    """Start a process in a group of its own; the group is killed where it outlives the block.

    Args:
        command: The program and its arguments.
        timeout: Seconds until the group is killed, also while the test waits for its output.
        options: As `subprocess.Popen` takes them.
    """
    with subprocess.Popen(command, start_new_session=True, **options) as process:
        watch = threading.Timer(timeout, _kill, [process])
        watch.daemon = True
        watch.start()
        try:
            yield process
        finally:
            watch.cancel()
            _kill(process)


def _kill(process: subprocess.Popen[Any]) -> None:
    # The number of a process that was waited for may be that of another by now.
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def free_address() -> str:
    """Return an address of this machine that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


def run_together(
    commands: Sequence[Command], folder: Path, *, timeout: float = PATIENCE, **options: Any
) -> list[str]:
    """Run processes side by side, and return what each printed; the first that fails ends all.

    Args:
        commands: The program and its arguments, of each process.
        folder: Where their output goes, to `0.out`, `0.err` and so on.
        timeout: Seconds until all of them are killed.
        options: As `subprocess.Popen` takes them.
    """
    end = time.monotonic() + timeout
    with contextlib.ExitStack() as stack:
        started = []
        for number, command in enumerate(commands):
            output, errors = (
                stack.enter_context((folder / f"{number}.{kind}").open("w"))
                for kind in ("out", "err")
            )
            settings = {**options, "stdout": output, "stderr": errors, "timeout": timeout}
            started.append(stack.enter_context(started_process(command, **settings)))
        while None in (codes := [process.poll() for process in started]):
            if any(codes) or time.monotonic() > end:
                break
            time.sleep(0.05)
    said = [(folder / f"{number}.err").read_text() for number in range(len(commands))]
    assert codes == [0] * len(commands), f"exit codes {codes}\n" + "\n".join(said)
    return [(folder / f"{number}.out").read_text() for number in range(len(commands))]
