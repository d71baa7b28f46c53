"""What the migration does with one file of other people's code, and what is wrong with that."""

from __future__ import annotations

import ast
import re
import signal
import time
import warnings
import zlib
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from typed_nnx_codegen.migrate import engine
from typed_nnx_codegen.migrate.files import migrate_bytes, migrate_source
from typed_nnx_codegen.migrate.findings import CHANGED, FileResult, Migrated
from typed_nnx_codegen.migrate.project import Project

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import FrameType

    from typed_nnx_codegen.migrate.options import Options

# One in so many of the files without NNX is migrated although the command would skip it.
SAMPLE: Final = 20
# An import at the end makes all rules look at a file; it is all that they may change.
PLANTED: Final = b"from flax import nnx"
PATIENCE: Final = 120  # seconds for a file
_IMPORTS_NNX: Final = re.compile(
    rb"^\s*(?:from|import)\b.*\b(?:flax|nnx|typed_nnx)\b", re.MULTILINE
)
_BUG: Final = (
    "a bug of typed-nnx migrate",
    "the rules do not come to an end",
    "the new text would",
)


@dataclass(frozen=True)
class Checked:
    """What happened to one file.

    Attributes:
        lines: How many lines it has.
        mentions: Whether the file was looked at, for it mentions flax or NNX.
        changed: How many places were changed.
        to_decide: How many places are left to a person.
        left: Why the file was left as it is: its syntax, its encoding.
        forced: Whether it was migrated with a planted import.
        problems: What the migration did wrong.
        remarks: What a person should look at.
        seconds: How long the migration took.
        after: The new bytes where they differ.
    """

    lines: int
    mentions: bool = False
    changed: int = 0
    to_decide: int = 0
    left: str = ""
    forced: bool = False
    problems: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    seconds: float = 0.0
    after: bytes | None = None


@dataclass
class _Notes:
    """What is noted while a file is checked."""

    problems: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


def check_sampled(path: Path, project: Project, options: Options) -> Checked:
    """Migrate a file as the command does; one that it skips only if it is in the sample."""
    return _check(path, project, options, zlib.crc32(str(path).encode()) % SAMPLE == 0)


def check_all(path: Path, project: Project, options: Options) -> Checked:
    """Migrate a file, also if the command would skip it."""
    return _check(path, project, options, True)


def _check(path: Path, project: Project, options: Options, is_sampled: bool) -> Checked:
    data = path.read_bytes()
    lines = data.count(b"\n")
    start = time.perf_counter()
    with _patience():
        result = migrate_bytes(data, path, project, options)
    seconds = time.perf_counter() - start
    notes = _Notes()
    if not result.skipped:
        _judge(result, project, options, notes)
        count = sum(one.kind == CHANGED for one in result.findings)
        return Checked(
            lines,
            mentions=True,
            changed=count,
            to_decide=len(result.findings) - count,
            left=result.error,
            problems=tuple(notes.problems),
            remarks=tuple(notes.remarks),
            seconds=seconds,
            after=result.after if result.is_changed else None,
        )
    left = _force(path, data, options, notes) if is_sampled else ""
    seconds = time.perf_counter() - start
    return Checked(
        lines, left=left, forced=is_sampled, problems=tuple(notes.problems), seconds=seconds
    )


def _judge(result: FileResult, project: Project, options: Options, notes: _Notes) -> None:
    """Judge the migration of a file that mentions flax or NNX."""
    if result.error.startswith(_BUG):
        notes.problems.append(result.error)
    if not result.is_changed:
        return
    if not _IMPORTS_NNX.search(result.before):
        notes.remarks.append("it was changed, and imports neither flax nor nnx by name")
    if _parses(result.before) and not _parses(result.after):
        notes.problems.append("it does not parse any more")
    with _patience():
        again = migrate_bytes(result.after, result.path, project, options)
    if again.error:
        notes.problems.append(f"a second run fails: {again.error}")
    elif not again.skipped and again.after != result.after:
        notes.problems.append("a second run changes it again")


def _force(path: Path, data: bytes, options: Options, notes: _Notes) -> str:
    """Migrate a file with a planted import; return why it was left as it is."""
    end = b"\r\n" if b"\r\n" in data else b"\n"
    before = data + end + PLANTED + end
    alone = Project((path,))

    def migrate(text: str) -> Migrated:
        """Migrate one text."""
        return engine.migrate_text(text, path, alone, options)

    with _patience():
        result = migrate_source(before, path, migrate)
    if result.error.startswith(_BUG):
        notes.problems.append(result.error)
    elif not result.error:
        if result.after == before:
            notes.problems.append("a planted import was not migrated")
        elif not result.after.startswith(data + end) or result.after.count(end) != before.count(
            end
        ):
            notes.problems.append("more than the planted import was changed")
    return result.error


def _parses(data: bytes) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


@contextmanager
def _patience() -> Iterator[None]:
    """Raise TimeoutError in the block where it takes too long; it is then reported as a bug."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"it takes more than {PATIENCE} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(PATIENCE)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
