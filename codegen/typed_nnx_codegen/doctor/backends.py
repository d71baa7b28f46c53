"""What jax can compute on, found out in another process that may hang or crash."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from typed_nnx_codegen.doctor import probe
from typed_nnx_codegen.doctor.finding import FIX, NOTE, OK, Finding
from typed_nnx_codegen.doctor.versions import is_installed

AREA: Final = "backends"
DEVICES: Final = "devices"
# What jax and we read from the environment.
_VARIABLES: Final = (
    "JAX_PLATFORMS",
    "JAX_ENABLE_X64",
    "XLA_FLAGS",
    "XLA_PYTHON_CLIENT_PREALLOCATE",
    "XLA_PYTHON_CLIENT_MEM_FRACTION",
    "CUDA_VISIBLE_DEVICES",
    "TYPED_NNX_VERIFY",
)
_NEEDS: Final = {"jax": "jax", "typed_nnx": "jax", "flax.nnx": "flax", DEVICES: "jax"}


@dataclass(frozen=True)
class Answer:
    """How the other process ended.

    Attributes:
        steps: What each step that ended came to, by its name.
        unfinished: The step that it was at when it hung or crashed; empty where it ended.
        ending: How it ended where it did not by itself: a time limit, a signal.
        said: What it wrote to standard error.
    """

    steps: Mapping[str, Mapping[str, Any]]
    unfinished: str
    ending: str
    said: str


def backend_findings(limit: float) -> Iterator[Finding]:
    """Yield what can be imported and what jax computes on.

    Args:
        limit: The most seconds that all of it may take.
    """
    for name in _VARIABLES:
        if name in os.environ:
            yield Finding(AREA, name, NOTE, f"is set to {os.environ[name]!r}")
    wanted = [name for name in (*probe.IMPORTS, DEVICES) if is_installed(_NEEDS[name])]
    if DEVICES not in wanted:
        yield Finding(AREA, DEVICES, NOTE, "not checked, since jax is not installed")
        return
    answer = ask(wanted, limit)
    for name in wanted:
        yield from _findings(name, answer, limit)


def ask(
    steps: Sequence[str], limit: float, program: Sequence[str] = ("-m", probe.__name__)
) -> Answer:
    """Let another process take steps, and return how far it came.

    Args:
        steps: What it is to import, and ``devices``.
        limit: The most seconds that it may take; it is then killed with all that it started.
        program: What Python is to run.
    """
    # -P: a jax.py in the current folder is not what is looked at.
    with subprocess.Popen(
        [sys.executable, "-P", *program, *steps],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        ending = ""
        try:
            out, err = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            ending = f"no answer after {limit:g} s"
            _kill(process)
            out, err = process.communicate()
        except BaseException:
            _kill(process)
            raise
    if not ending and process.returncode:
        ending = _ending(process.returncode)
    return _answer(out, err, ending)


def _kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _ending(status: int) -> str:
    if status > 0:
        return f"it ended with status {status}"
    try:
        return f"it was killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"it was killed by signal {-status}"


def _answer(out: bytes, err: bytes, ending: str) -> Answer:
    steps: dict[str, Mapping[str, Any]] = {}
    begun = ""
    for line in out.splitlines():
        try:
            found = json.loads(line)
        except ValueError:  # cut when it was killed
            continue
        begun = found.get("begins", begun)
        if "step" in found:
            steps[found["step"]] = found
    unfinished = begun if begun not in steps else ""
    return Answer(steps, unfinished, ending, err.decode(errors="backslashreplace"))


def _findings(name: str, answer: Answer, limit: float) -> Iterator[Finding]:
    shown = name if name == DEVICES else f"import {name}"
    step = answer.steps.get(name)
    if step is None:
        if name == answer.unfinished or (not answer.unfinished and not answer.steps):
            said = answer.ending or "it ended without an answer"
            yield Finding(AREA, shown, FIX, f"{said}{_last_line(answer.said)}", _way_out(limit))
        else:
            yield Finding(AREA, shown, NOTE, "not checked, since the step before did not end")
        return
    if not step["ok"]:
        said = _first_line(step["error"])
        if name == DEVICES and ":" not in said:  # the name of an exception alone
            said = f"jax finds none: {said}"
        yield Finding(AREA, shown, FIX, said, _remedy(name, step["error"]))
        return
    if name == DEVICES:
        yield from _devices(step)
    else:
        yield Finding(AREA, shown, OK, f"{step['seconds']:.1f} s")
    for warning in step["warnings"]:
        yield Finding(AREA, shown, NOTE, _first_line(warning))


def _devices(step: Mapping[str, Any]) -> Iterator[Finding]:
    kinds = ", ".join(f"{count} x {kind}" for kind, count in step["kinds"].items())
    said = f"{step['backend']}: {kinds}"
    if not step["computes"]:
        remedy = "JAX_PLATFORMS=cpu shows whether it is the device"
        yield Finding(AREA, DEVICES, FIX, f"{said}, but a sum on it is wrong", remedy)
        return
    yield Finding(AREA, DEVICES, OK, said)
    if step["backend"] == "cpu" and "JAX_PLATFORMS" not in os.environ and _has_nvidia():
        said = "there is an NVIDIA GPU here that jax does not use"
        yield Finding(AREA, "GPU", NOTE, said, "pip install 'jax[cuda13]', or 'jax[cuda12]'")


def _has_nvidia() -> bool:
    return Path("/dev/nvidiactl").exists()


def _remedy(name: str, error: str) -> str:
    if name == DEVICES and "JAX_PLATFORMS" in os.environ:
        platforms = os.environ["JAX_PLATFORMS"]
        return f"unset JAX_PLATFORMS, which is {platforms!r}, or install that backend"
    if name == DEVICES:
        return "JAX_PLATFORMS=cpu, to go on without an accelerator"
    package = name.partition(".")[0].replace("_", "-")
    if "No module named" in error:
        return f"pip install --force-reinstall {package}"
    return f"python -c 'import {name}' shows all of it; pip install --upgrade {package}"


def _way_out(limit: float) -> str:
    return (
        "JAX_PLATFORMS=cpu typed-nnx doctor shows whether it is an accelerator plugin; "
        f"--time-limit {2 * limit:g} waits longer"
    )


def _first_line(text: str) -> str:
    return text.strip().split("\n")[0]


def _last_line(text: str) -> str:
    lines = [line for line in text.strip().split("\n") if line.strip()]
    return f"; it last said: {lines[-1].strip()}" if lines else ""
