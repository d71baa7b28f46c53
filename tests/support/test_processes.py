from __future__ import annotations

import ast
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.processes import run_process, run_together, started_process

REPOSITORY = Path(__file__).parents[2]

# Says its number and that of a process that it starts, which shares its output; ends after a minute.
TWO = (
    "import os, subprocess, sys, time\n"
    "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
    "print(os.getpid(), child.pid, flush=True)\n"
    "time.sleep(60)\n"
)
STARTING = {f"subprocess.{name}" for name in ("run", "Popen", "call", "check_call", "check_output")}

EXIT = "faulthandler_exit_on_timeout=true"
HANGING = """
import ctypes, threading
import pytest

@pytest.mark.timeout(1)
def test_hangs():
    threading.Event().wait()

def test_hangs_inside_compiled_code():
    ctypes.PyDLL(None).sleep(600)

def test_ends():
    pass
"""


def python(program: str) -> list[str]:
    return [sys.executable, "-c", program]


def test_a_process_that_hangs_is_killed_with_what_it_started() -> None:
    began = time.monotonic()
    with pytest.raises(subprocess.TimeoutExpired):
        run_process(python(TWO), timeout=1)
    assert time.monotonic() - began < 20


def test_a_process_that_leaves_another_with_its_output_ends_in_time() -> None:
    program = TWO.replace("time.sleep(60)\n", "")
    with pytest.raises(subprocess.TimeoutExpired):
        run_process(python(program), timeout=2)


def test_reading_from_a_process_that_hangs_ends() -> None:
    began = time.monotonic()
    with started_process(python(TWO), timeout=2, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert len(process.stdout.read().split()) == 2
    assert process.returncode == -signal.SIGKILL
    assert time.monotonic() - began < 20


def test_of_processes_that_run_together_the_first_that_fails_ends_all(tmp_path: Path) -> None:
    commands = [python("import time; time.sleep(60)"), python("raise SystemExit('wrong')")]
    with pytest.raises(AssertionError, match="wrong"):
        run_together(commands, tmp_path)


def test_processes_that_run_together_have_one_timeout(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="exit codes"):
        run_together([python("import time; time.sleep(60)")] * 2, tmp_path, timeout=1)


def test_children_end_on_an_interrupt() -> None:
    program = "import signal; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
    done = run_process(python(program))
    assert done.stdout == "True\n"


@pytest.mark.thorough
def test_a_test_that_hangs_is_ended_and_the_others_run(tmp_path: Path) -> None:
    """Where Python can end it by pytest-timeout; where it cannot, the process ends."""
    (tmp_path / "test_it.py").write_text(HANGING, encoding="utf-8")
    options = ["-p", "no:cacheprovider", "-q", "-n", "1"]
    done = run_process(
        [
            sys.executable,
            "-m",
            "pytest",
            *options,
            "-o",
            "faulthandler_timeout=4",
            "-o",
            EXIT,
            tmp_path,
        ],
        cwd=tmp_path,
        timeout=120,
    )
    assert re.search(r"^2 failed, 1 passed in", done.stdout, re.MULTILINE), done.stdout
    assert "Failed: Timeout" in done.stdout
    assert "crashed while running 'test_it.py::test_hangs_inside_compiled_code'" in done.stdout


def test_no_test_starts_a_process_without_a_timeout() -> None:
    """All go through `tests.support.processes`; pygls starts language servers."""
    apart = {"tests/support/processes.py"}
    found = set()
    for path in sorted((REPOSITORY / "tests").rglob("*.py")):
        name, source = path.relative_to(REPOSITORY).as_posix(), path.read_text(encoding="utf-8")
        if "subprocess" in source and name not in apart:
            calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
            found |= {
                f"{name}: {call}" for call in STARTING & {ast.unparse(one.func) for one in calls}
            }
    assert not found
