"""The process that checks a project for an editor: one that hangs or dies is replaced."""

from __future__ import annotations

import dataclasses
import os
import signal
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final, Literal

from typed_nnx_codegen.console.bugs import described
from typed_nnx_codegen.lint.linter import Linted, Linter
from typed_nnx_codegen.model_stubs.command import BadOverlay, find_overlay, request_of
from typed_nnx_codegen.model_stubs.models import Models
from typed_nnx_codegen.model_stubs.overlay_file import write_overlay
from typed_nnx_codegen.mypy_run import CouldNotRun

_SPAWN: Final = get_context("spawn")  # nothing of this process, its threads above all, goes along


@dataclass(frozen=True)
class Job:
    """What is to be done.

    Attributes:
        kind: To check the files, or to write the overlay of the models anew.
        shown: The files that are open in the editor.
    """

    kind: Literal["lint", "overlay"]
    shown: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Answer:
    """What came of a job.

    Attributes:
        linted: What was found; None where nothing was checked.
        problem: What a person has to know; empty where all is well.
        traceback: That of a bug of ours.
    """

    linted: Linted | None = None
    problem: str = ""
    traceback: str = ""


class Worker:
    """Checks a project in a process of its own.

    Args:
        folder: The folder of the project.
        python: The interpreter whose packages the code uses; None for the running one.
        cache: The folder that makes the next run quick.
        limit: The most seconds that a job may take.
    """

    def __init__(self, folder: Path, python: str | None, cache: Path, limit: float) -> None:
        self._arguments = (folder, python, cache)
        self._limit = limit
        self._begin()

    def ask(self, job: Job) -> Answer:
        """Have a job done, and wait for it."""
        if not self._process.is_alive():
            self._begin()
        try:
            self._connection.send(job)
            if not self._connection.poll(self._limit):
                self.close()
                return Answer(
                    problem=f"the check did not end within {self._limit:g} s; it was stopped"
                )
            answer: Answer = self._connection.recv()
        except (EOFError, OSError):
            self.close()
            return Answer(
                problem="the process that checks ended early; the next save starts another"
            )
        return answer

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()

    def _begin(self) -> None:
        self._connection, theirs = _SPAWN.Pipe()
        arguments = (theirs, *self._arguments)
        self._process = _SPAWN.Process(target=_serve, args=arguments, daemon=True)
        self._process.start()
        theirs.close()  # so that reading ends when the process does


def _serve(connection: Connection, folder: Path, python: str | None, cache: Path) -> None:
    """Answer jobs until the other side closes."""
    # The editor reads our standard output, and Ctrl-C is for the process that it talks to.
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.chdir(folder)
    linter, overlay = Linter(python, cache), _Overlay(folder, python)
    jobs: dict[str, Callable[[Job], Answer]] = {
        "lint": lambda job: Answer(linter.lint(shown=job.shown)),
        "overlay": lambda job: overlay.refresh(),
    }
    while True:
        try:
            job: Job = connection.recv()
        except EOFError:
            return
        connection.send(_answer(jobs[job.kind], job))


def _answer(work: Callable[[Job], Answer], job: Job) -> Answer:
    try:
        return work(job)
    except CouldNotRun as error:
        return Answer(problem=str(error))
    except Exception as error:  # noqa: BLE001  # whatever it is: the editor goes on
        return Answer(problem=described(error, "typed-nnx lsp"), traceback=traceback.format_exc())


class _Overlay:
    """Writes the overlay of the models anew, where the project has one.

    Args:
        folder: The folder of the project.
        python: The interpreter whose packages the code uses; None for the running one.
    """

    def __init__(self, folder: Path, python: str | None) -> None:
        self._folder = folder
        self._python = python
        self._last: Models | None = None

    def refresh(self) -> Answer:
        """Write it where the models are others; a file that is broken keeps those that it had."""
        overlay = find_overlay(self._folder)
        if overlay is None:
            return Answer()
        try:
            request = request_of(overlay, self._folder)
        except BadOverlay as error:
            return Answer(problem=str(error))
        if self._python is not None:
            request = dataclasses.replace(request, python=self._python)
        models = request.read()
        if models.problems and self._last is None:
            return Answer()  # its classes would lose those of the broken file
        self._last = with_last_good(models, self._last)
        if self._last.roots:
            write_overlay(request.files(self._last))
        return Answer()


def with_last_good(models: Models, last: Models | None) -> Models:
    """Return the models with those that a broken file had when it could last be read.

    While somebody types, a file is broken most of the time; its State classes stay meanwhile.
    """
    broken = {problem.path for problem in models.problems}
    if last is None or not broken:
        return models
    kept = {name: info for name, info in last.classes.items() if info.path in broken}
    if not kept:
        return models
    roots = [name for name in last.roots if name in kept and name not in models.roots]
    # What the kept classes refer to may have come from the broken file alone.
    classes = {**last.classes, **models.classes} | {
        name: info for name, info in kept.items() if name not in models.classes
    }
    return dataclasses.replace(models, classes=classes, roots=(*models.roots, *roots))
