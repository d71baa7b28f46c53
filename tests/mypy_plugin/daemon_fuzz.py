"""Random edits, after each of which the daemon and a run from the cache say what a run from nothing does.

``python -m tests.mypy_plugin.daemon_fuzz EDITS [SEED]`` prints each difference, and the edit it came with.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from importlib import import_module
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Self

from mypy.build import build
from mypy.dmypy_server import Server
from mypy.errors import CompileError
from mypy.fscache import FileSystemCache
from mypy.main import process_options

from tests.mypy_plugin.edits import Program, edited
from tests.mypy_plugin.same_project import FOR_DAEMON

START: Final = 120.0
LIMIT: Final = 20.0
"""Seconds of processor time that the first run and each further one may take."""

_SPAWN: Final = get_context("spawn")
_OPTIONS: Final = ("--no-error-summary", "--show-traceback", "--local-partial-types")
Said = frozenset[str]
Checker = Callable[[list[str]], list[str]]


@dataclass(frozen=True)
class Difference:
    """Where a way to check says something else than a run from nothing.

    Attributes:
        way: The way.
        number: The edits so far.
        edit: The last one.
        more, missing: The reports that only it has, and that it does not have.
    """

    way: str
    number: int
    edit: str
    more: Said
    missing: Said

    def __str__(self) -> str:
        lines = [f"{self.way} after edit {self.number}, {self.edit}:"]
        lines += [f"  more: {each}" for each in sorted(self.more)]
        lines += [f"  missing: {each}" for each in sorted(self.missing)]
        return "\n".join(lines)


def differences(
    edits: Iterable[tuple[str, Program]], folder: Path, log: list[str]
) -> Iterator[Difference]:
    """Yield where a way to check says something else.

    A line of which mypy itself, without the plugin, says something else is left out: the plugin has
    the types from there.

    Args:
        edits: Programs, each with what was done to the one before.
        folder: Where to work.
        log: Takes a line for each edit.
    """
    programs: list[Program] = []
    with ExitStack() as stack:
        nothing = stack.enter_context(CheckerProcess(folder / "nothing", from_files))
        ways = {
            name: stack.enter_context(CheckerProcess(folder / name, _WAYS[name])) for name in _WAYS
        }
        alone = {name: stack.enter_context(_Alone(name, folder / "alone")) for name in _WAYS}
        for number, (said, program) in enumerate(edits):
            programs.append(program)
            start = time.monotonic()
            expected = nothing.check(program.files(), f"# {number}\n")
            times = [f"from nothing {time.monotonic() - start:.2f} s"]
            for name, checker in ways.items():
                start = time.monotonic()
                try:
                    found = checker.check(program.files())
                except EOFError:  # a crash of mypy, or of the plugin
                    if not alone[name].crashes(programs):
                        raise
                    checker.begin_anew()
                    alone[name].begin_anew(number + 1)
                    times.append(f"{name} crashes, as mypy alone does")
                    continue
                times.append(f"{name} {time.monotonic() - start:.2f} s")
                if found == expected:
                    continue
                more, missing = found - expected, expected - found
                more = frozenset(each for each in more if not _is_early(each, program.files()))
                if more or missing:
                    of_mypy = set(map(_line, alone[name].difference(programs)))
                    more, missing = (
                        frozenset(each for each in said_otherwise if _line(each) not in of_mypy)
                        for said_otherwise in (more, missing)
                    )
                    times.append("which differs" if more or missing else "as mypy alone differs")
                if more or missing:
                    yield Difference(name, number, said, more, missing)
                    # What it got wrong stays wrong.
                    checker.begin_anew()
                    alone[name].begin_anew(number + 1)
            log.append(f"{number} {said}: {len(expected)} reports, {', '.join(times)}")


class CheckerProcess(AbstractContextManager["CheckerProcess"]):
    """Checks programs in a process of its own: mypy has state that two runs in one would share.

    Args:
        folder: Where to write the programs.
        kind: How to check them.
        config: The configuration of mypy.
    """

    def __init__(self, folder: Path, kind: Callable[[], Checker], config: str = FOR_DAEMON) -> None:
        self._folder = folder
        self._kind = kind
        self._time = time.time()
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "mypy.ini").write_text(config, encoding="utf-8")
        (folder / "pyproject.toml").touch()
        self._begin()

    def _begin(self) -> None:
        self._limit = START
        self._connection, theirs = _SPAWN.Pipe()
        arguments = (theirs, self._folder, self._kind)
        self._process = _SPAWN.Process(target=_serve, args=arguments, daemon=True)
        self._process.start()
        theirs.close()

    def begin_anew(self) -> None:
        """Forget all that was checked."""
        self._process.kill()
        self._process.join()
        shutil.rmtree(self._folder / "mypy_cache", ignore_errors=True)
        self._begin()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.kill()
        self._process.join()

    def check(self, files: Mapping[str, str], end: str = "") -> Said:
        """Return the reports of files, by their names, which get a last line.

        Raises:
            EOFError: mypy ends, with a crash.
            TimeoutError: It takes too long.
        """
        for path in self._folder.glob("*.py*"):
            if path.name not in files:
                path.unlink()
        self._time += 2  # mypy takes a file of the same size and second for unchanged
        for name, text in files.items():
            path = self._folder / name
            if not path.exists() or path.read_text(encoding="utf-8") != text + end:
                path.write_text(text + end, encoding="utf-8")
                os.utime(path, (self._time, self._time))
        try:
            self._connection.send((sorted(files), self._limit))
            said: list[str] = self._connection.recv()
        except (EOFError, BrokenPipeError):
            self._process.join()
            status = self._process.exitcode
            if status != -signal.SIGPROF:
                raise EOFError(f"mypy ends with status {status}") from None
            raise TimeoutError(f"mypy takes more than {self._limit} s") from None
        self._limit = LIMIT
        return frozenset(filter(_counts, said))


class _Alone(AbstractContextManager["_Alone"]):
    """mypy without the plugin, after the same programs as one of the ways.

    Args:
        way: The way.
        folder: Where to write the programs.
    """

    def __init__(self, way: str, folder: Path) -> None:
        config = FOR_DAEMON.replace("plugins = typed_nnx_mypy\n", "")
        self._nothing = CheckerProcess(folder / way / "nothing", from_files, config)
        self._checker = CheckerProcess(folder / way, _WAYS[way], config)
        self._checked = 0

    def begin_anew(self, number: int) -> None:
        """Forget all programs; the next one has a number."""
        self._checker.begin_anew()
        self._checked = number

    def __exit__(self, *error: object) -> None:
        self._nothing.__exit__(*error)
        self._checker.__exit__(*error)

    def crashes(self, programs: list[Program]) -> bool:
        """Tell whether mypy ends early after these programs."""
        try:
            self.difference(programs)
        except EOFError:
            return True
        return False

    def difference(self, programs: list[Program]) -> Said:
        """Return the reports of the last program that only one has: the way, or a run from nothing."""
        said = self._nothing.check(programs[-1].files(), f"# {len(programs)}\n")
        found = [self._checker.check(each.files()) for each in programs[self._checked :]]
        self._checked = len(programs)
        return said ^ found[-1]


def _line(report: str) -> tuple[str, ...]:
    """Return the file and the line that a report is about."""
    return tuple(report.split(":")[:2])


def _is_early(report: str, files: Mapping[str, str]) -> bool:
    """Tell whether a report of the plugin is at the top of a file, outside functions and classes.

    mypy checks that once, file by file of an import cycle, so that a run from nothing does not know
    types that a later file infers; of its own errors, "Cannot determine type" says the same.
    """
    file, line, *_ = report.split(":")
    above = reversed(files[file].splitlines()[: int(line)])
    start = next(each for each in above if each[:1].strip())
    return "[nnx-" in report and not start.startswith(("@", "class ", "def "))


def _counts(line: str) -> bool:
    """Tell whether a line is a report that does not depend on which file is read first."""
    return "running_mypy.html#missing-imports" not in line


def _serve(connection: Connection, folder: Path, kind: Callable[[], Checker]) -> None:
    os.chdir(folder)
    check = kind()
    while True:
        try:
            names, limit = connection.recv()
        except EOFError:
            return
        # A run of `mypy` is a process of its own: it leaves all that it has read in memory.
        child = os.fork() if kind is from_files else 0
        if child:
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            if status:
                os.kill(
                    os.getpid(), signal.SIGPROF if status == -signal.SIGPROF else signal.SIGTERM
                )
            continue
        signal.setitimer(signal.ITIMER_PROF, limit)  # which ends the process
        said = check(names)
        signal.setitimer(signal.ITIMER_PROF, 0)
        connection.send(said)
        if kind is from_files:
            os._exit(0)


def daemon() -> Checker:
    """Return what the daemon of mypy does, without a second process of its own."""
    servers: list[Server] = []

    def check(names: list[str]) -> list[str]:
        sources, options = process_options([*_OPTIONS, *names], server_options=True)
        if not servers:
            servers.append(Server(options, "status.json"))
        answer = servers[0].check(sources, export_types=False, is_tty=False, terminal_width=80)
        return f"{answer['out']}{answer['err']}".splitlines()

    return check


def from_files() -> Checker:
    """Return runs of mypy. One knows nothing of files that are all changed since the last one."""
    import_module("typed_nnx_mypy.hooks")  # once, for all runs

    def check(names: list[str]) -> list[str]:
        sources, options = process_options([*_OPTIONS, *names])
        said: list[str] = []
        try:
            build(
                sources,
                options,
                flush_errors=lambda path, messages, serious: said.extend(messages),
                fscache=FileSystemCache(),
            )
        except CompileError as error:
            said += error.messages
        return said

    return check


_WAYS: Final = {"cache": from_files, "daemon": daemon}


def main(arguments: list[str]) -> int:
    """Run and print; return the exit status."""
    edits = int(arguments[0])
    seed = int(arguments[1]) if len(arguments) > 1 else 0
    log: list[str] = []
    found = 0
    with TemporaryDirectory() as folder:
        try:
            for each in differences(edited(edits, seed), Path(folder), log):
                print(each, flush=True)
                found += 1
        except (TimeoutError, EOFError) as error:
            print(f"after {log[-1:]}: {error!r}")
            found += 1
    if "-v" in arguments:
        print(*log, sep="\n")
    print(f"{found} differences in {len(log)} programs")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
