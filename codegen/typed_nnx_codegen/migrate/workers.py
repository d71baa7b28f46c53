"""Processes that work at chunks of paths, and what happens when one of them ends too early."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from multiprocessing import active_children, get_context
from pathlib import Path
from types import TracebackType
from typing import Final, Generic, Self, TypeVar

from typed_nnx_codegen.migrate.options import Options
from typed_nnx_codegen.migrate.project import Project

Given = tuple[tuple[Path, ...], Options]
Result = TypeVar("Result")
# What can go wrong with processes: they die, memory is spent, the system has none to give.
_FAILURES: Final = (BrokenProcessPool, MemoryError, OSError, NotImplementedError)


@dataclass(frozen=True)
class Task(Generic[Result]):
    """What a process does with one path; each process has one project for all of its paths.

    Attributes:
        function: The function of the path, which other processes find by its name.
        given: The roots and options.
    """

    function: Callable[[Path, Project, Options], Result]
    given: Given

    def here(self) -> Callable[[Path], Result]:
        """Return the function of a path, with a project of its own."""
        project, options = Project(self.given[0]), self.given[1]
        return lambda path: self.function(path, project, options)


class Processes(Generic[Result]):
    """A few processes that do a task; all have ended when the block is left.

    Args:
        task: What they do.
        count: How many processes.
    """

    def __init__(self, task: Task[Result], count: int) -> None:
        self._task = task
        self._others = set(active_children())
        # Started anew, not forked: the caller may have threads, a progress bar for one.
        context = get_context("spawn")
        self._pool = ProcessPoolExecutor(count, context, _leave_interrupts)

    def __enter__(self) -> Self:
        """Start the block; processes start with the first work."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the processes; at once where an exception leaves the block, such as Ctrl-C."""
        if kind is not None:
            for child in set(active_children()) - self._others:
                child.terminate()
        # Once: a pool that was told not to wait forgets its thread, which Python's exit would disturb.
        self._pool.shutdown(cancel_futures=True)

    def start(self, paths: Sequence[Path]) -> Future[list[Result]]:
        """Let a process work at paths."""
        with _interrupts_held():
            return self._pool.submit(_work, self._task, tuple(paths))


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back for a moment: processes that start meanwhile never see it.

    It reaches all processes of a terminal, and those that have just started would complain. The
    one that started them ends them.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def in_processes(
    task: Task[Result], chunks: Sequence[Sequence[Path]], count: int
) -> Iterator[tuple[Path, Result | None]]:
    """Yield each path with its result, as they come; None where the process ended at this path."""
    done: set[int] = set()
    try:
        with Processes(task, min(count, len(chunks))) as processes:
            futures = {processes.start(chunk): i for i, chunk in enumerate(chunks)}
            for future in as_completed(futures):
                try:
                    results = future.result()
                except (BrokenProcessPool, MemoryError):
                    continue
                done.add(futures[future])
                yield from zip(chunks[futures[future]], results, strict=True)
    except _FAILURES:
        # A pool that breaks takes no more work, and what is not done is done below.
        pass
    lost = [chunk for i, chunk in enumerate(chunks) if i not in done]
    yield from _one_by_one(task, [path for chunk in lost for path in chunk])


def _one_by_one(task: Task[Result], paths: Sequence[Path]) -> Iterator[tuple[Path, Result | None]]:
    """Yield each path with its result; a path at which a process ends gets a new process after it."""
    left = list(paths)
    while left:
        try:
            with Processes(task, 1) as processes:
                processes.start(()).result()
                while left:
                    yield left[0], _result_of(processes.start(left[:1]))
                    del left[0]
        except _Ended:
            yield left.pop(0), None
        except _FAILURES:
            # Not even a process without work can be had.
            here = task.here()
            yield from ((path, here(path)) for path in left)
            return


class _Ended(Exception):
    """A process ended at the path that it worked at."""


def _result_of(future: Future[list[Result]]) -> Result:
    """Return the only result of a future."""
    try:
        return future.result()[0]
    except (BrokenProcessPool, MemoryError) as error:
        raise _Ended from error


# -- in the processes ---------------------------------------------------------------------------


def _leave_interrupts() -> None:
    """Leave Ctrl-C to the process that started this one, also where it cannot be held back."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _work(task: Task[Result], paths: tuple[Path, ...]) -> list[Result]:
    """Work at paths."""
    project, options = _ready(task.given)
    return [task.function(path, project, options) for path in paths]


@cache
def _ready(given: Given) -> tuple[Project, Options]:
    """Return the project of this process, which remembers the modules that it has read."""
    return Project(given[0]), given[1]
