"""Runs what the user names, and returns the records of the Linen modules that it called."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from typed_nnx_codegen.migrate.linen.trace import recording
from typed_nnx_codegen.migrate.linen.trace.recording import FOLDER, STEPS, Entry

_EXAMPLES: Final = "typed_nnx_codegen.verify.recording"
# Standard output is for the diff: what a program prints goes to standard error.
_ERRORS: Final = 2
_VARIABLE: Final = re.compile(r"[A-Za-z_]\w*=")


class NotTraced(Exception):
    """A program could not be run, or nothing of Linen ran in it; the message says why."""


@dataclass(frozen=True)
class Ended:
    """A program that was traced.

    Attributes:
        name: What ran, as the user wrote it.
        records: What each of its processes recorded.
        status: Its exit status; negative for the signal that ended it.
        seconds: How long it ran.
        was_interrupted: Whether the user stopped it with Ctrl-C.
        problem: Why some of its calls could not be recorded; empty where all were.
    """

    name: str
    records: list[Entry] = field(default_factory=list)
    status: int = 0
    seconds: float = 0.0
    was_interrupted: bool = False
    problem: str = ""

    @property
    def how(self) -> str:
        """How it ended."""
        end = f"it ended with status {self.status}"
        if self.status < 0:
            known = {one.value: f" ({one.name})" for one in signal.Signals}
            end = f"it was ended by signal {-self.status}{known.get(-self.status, '')}"
        end = "Ctrl-C ended it" if self.was_interrupted else end
        return f"{end} after {self.seconds:.1f} s"

    @property
    def calls(self) -> int:
        """How many different calls were recorded."""
        return sum(len(record["calls"]) for record in self.records)


def trace_command(command: str, steps: int, beside: Path) -> Ended:
    """Run a command with a recorder in each process of Python that it starts.

    Args:
        command: The command, as in a shell but without its operators; or the path of a notebook.
        steps: How many outermost calls of modules a process goes on for; 0 for no end.
        beside: The folder in which the processes leave their records.

    Raises:
        NotTraced: It cannot be started, or calls no module of Linen.
    """
    words, variables, folder = _words(command)
    with _parts_folder(beside) as parts:
        shutil.copyfile(recording.__file__, parts / "sitecustomize.py")
        path = variables.get("PYTHONPATH", os.environ.get("PYTHONPATH"))
        search = [str(parts), *filter(None, [path])]
        # IPython would leave a history of the cells.
        home = {"IPYTHONDIR": str(parts)} if folder is not None else {}
        environment = {
            **home,
            FOLDER: str(parts),
            STEPS: str(steps),
            "PYTHONPATH": os.pathsep.join(search),
        }
        began = time.monotonic()
        try:
            status, was_interrupted = _run(words, {**variables, **environment}, folder)
        except OSError as error:
            raise NotTraced(
                f"--trace {command!r}: {words[0]!r} cannot be started: {error.strerror or error}\n"
                "  Fix: a program as the shell finds it, like python, pytest or a path"
            ) from error
        found = [{**each, "runs": [{"name": command, "status": status}]} for each in _read(parts)]
    problems = sorted({one["problem"] for one in found if one["problem"]})
    seconds = time.monotonic() - began
    ended = Ended(command, found, status, seconds, was_interrupted, "; ".join(problems))
    if not ended.calls and problems:
        raise NotTraced(f"--trace {command!r}: nothing could be recorded: {ended.problem}")
    if not ended.calls:
        raise NotTraced(
            f"--trace {command!r}: it ended with status {status}, and called no module of"
            " flax.linen.\n  Fix: a command that builds a model and calls it, with the Python"
            " (`which python`) that has flax; not with -I, -E or -S, which hide the recorder from it"
        )
    return ended


def trace_examples(files: Sequence[Path], examples: Path, beside: Path) -> Ended:
    """Run the examples of a file on shapes alone, in a process that imports the files.

    Args:
        files: The files whose classes the examples build.
        examples: The file of the examples.
        beside: The folder in which the process leaves its record.

    Raises:
        NotTraced: They cannot be run, or Linen fails at one of them.
    """
    with _parts_folder(beside) as parts:
        words = [sys.executable, "-m", _EXAMPLES, str(parts), str(examples), *map(str, files)]
        try:
            status, _ = _run(words, {}, None)
        except OSError as error:
            raise NotTraced(f"--example {examples}: Python cannot be started: {error}") from error
        found = list(_read(parts))
    if not found:
        raise NotTraced(f"--example {examples}: its process ended with status {status}")
    problems = [one["problem"] for one in found if one["problem"]]
    if problems:
        raise NotTraced(f"--example {examples}: {problems[0]}")
    failed = [f"    {run['name']}: {run['error']}" for run in found[0]["runs"] if run["error"]]
    if failed:
        listed = "\n".join(failed)
        raise NotTraced(
            f"--example {examples}: Linen itself fails at these examples:\n{listed}\n"
            "  Fix: correct the examples, or leave them out"
        )
    return Ended(str(examples), found, status)


def _words(command: str) -> tuple[list[str], dict[str, str], Path | None]:
    """Return the words of a command, the variables before them, and the folder that it runs in."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise NotTraced(
            f"--trace {command!r}: it is no command: {error}\n  Fix: quote it as in a shell"
        ) from error
    variables: dict[str, str] = {}
    while words and _VARIABLE.match(words[0]):
        name, _, value = words.pop(0).partition("=")
        variables[name] = value
    if not words:
        raise NotTraced(
            f'--trace {command!r}: it names no program.\n  Fix: --trace "python train.py"'
        )
    if len(words) == 1 and words[0].endswith(".ipynb"):
        path = Path(words[0])
        return _notebook(path), variables, path.parent
    return words, variables, None


def _notebook(path: Path) -> list[str]:
    """Return the command that runs the cells of a notebook, in its folder as Jupyter does."""
    if not path.is_file():
        raise NotTraced(f"--trace {path}: there is no such notebook")
    if importlib.util.find_spec("IPython") is None:
        raise NotTraced(
            f"--trace {path}: notebooks are run by IPython, which this Python does not have.\n"
            f'  Fix: pip install ipython, or --trace "jupyter execute {path}"'
        )
    return [sys.executable, "-m", __spec__.name, str(path.resolve())]


@contextmanager
def _parts_folder(beside: Path) -> Iterator[Path]:
    try:
        made = tempfile.TemporaryDirectory(
            prefix=".typed_nnx_trace-", dir=beside, ignore_cleanup_errors=True
        )
    except OSError as error:
        raise NotTraced(
            f"{beside}: the record cannot be written here: {error.strerror or error}\n"
            "  Fix: run the command in a folder that can be written"
        ) from error
    with made as name:
        yield Path(name).resolve()


def _run(
    words: Sequence[str], environment: Mapping[str, str], folder: Path | None
) -> tuple[int, bool]:
    """Run a program to its end; return its status, and whether Ctrl-C ended it.

    A terminal sends Ctrl-C to the program too, which ends as it likes; a second one ends it.
    """
    interrupts = 0
    with subprocess.Popen(
        words, env={**os.environ, **environment}, cwd=folder, stdout=_ERRORS
    ) as process:
        while True:
            try:
                return process.wait(), interrupts > 0
            except KeyboardInterrupt:
                interrupts += 1
                if interrupts > 1:
                    process.kill()


def _read(parts: Path) -> Iterator[Entry]:
    for path in sorted(parts.glob("*.json")):
        yield json.loads(path.read_text(encoding="utf-8"))


def main(arguments: Sequence[str]) -> int:
    """Run the cells of a notebook in IPython, up to the first that fails; return the status."""
    base: Any = importlib.import_module("IPython.core.interactiveshell").InteractiveShell
    # There are no windows here, whatever `%matplotlib` asks for.
    without_windows: Any = type("Shell", (base,), {"enable_gui": lambda *_: None})
    shell = without_windows.instance()
    notebook = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            source = cell["source"]
            result = shell.run_cell(source if isinstance(source, str) else "".join(source))
            if not result.success:
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
