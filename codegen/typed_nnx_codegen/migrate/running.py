"""Migrates many files in several processes; the results do not depend on how many there are."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final, TypeVar

from typed_nnx_codegen.migrate.files import NO_NNX, migrate_file
from typed_nnx_codegen.migrate.findings import FileResult
from typed_nnx_codegen.migrate.options import Options
from typed_nnx_codegen.migrate.project import Project
from typed_nnx_codegen.migrate.scanning import mentions_nnx
from typed_nnx_codegen.migrate.workers import Given, Task, in_processes

OnResult = Callable[[FileResult], None]
Result = TypeVar("Result")

# Starting processes costs as much as scanning thousands of files, or migrating a few.
_FILES_TO_SCAN_HERE: Final = 10_000
_FILES_OF_A_SCAN: Final = 1000
_BYTES_TO_MIGRATE_HERE: Final = 50_000
# Small, so that no process is left with the work at the end; a folder stays together.
_FILES_OF_A_CHUNK: Final = 8
_BYTES_OF_A_CHUNK: Final = 150_000
_NO_SIZE: Final = -1
_DIED: Final = (
    "a process ended while it worked at this file: it ran out of memory, or a parser crashed"
)


def migrate_all(
    files: Sequence[Path],
    roots: Sequence[Path],
    options: Options,
    jobs: int,
    on_result: OnResult | None = None,
) -> list[FileResult]:
    """Migrate files; nothing is written.

    Args:
        files: The files.
        roots: What imports may lead to, and what a person named.
        options: What is asked for.
        jobs: How many processes may work.
        on_result: Called with each result as it comes, in any order.

    Returns:
        The results, in the order of the files. Those of files without NNX have no bytes.
    """
    tell = on_result or _ignore
    given: Given = (tuple(roots), options)
    sizes = dict(_scanned(list(dict.fromkeys(files)), given, jobs))
    results: dict[Path, FileResult] = {}
    for path, size in sizes.items():
        if size == _NO_SIZE:
            results[path] = FileResult(path, skipped=NO_NNX)
            tell(results[path])
    affected = {path: size for path in files if (size := sizes[path]) != _NO_SIZE}
    # Closed also where `on_result` raises, so that no process goes on.
    with closing(_migrated(affected, given, jobs)) as migrated:
        for path, result in migrated:
            results[path] = result
            tell(result)
    return [results[path] for path in files]


def _ignore(result: FileResult) -> None:
    """Do nothing with a result."""


def _scanned(files: Sequence[Path], given: Given, jobs: int) -> Iterator[tuple[Path, int]]:
    """Yield each file with its size, which is below zero where the file has nothing of NNX."""
    task = Task(size_to_migrate, given)
    if jobs == 1 or len(files) <= _FILES_TO_SCAN_HERE:
        yield from _here(task, files)
        return
    starts = range(0, len(files), _FILES_OF_A_SCAN)
    chunks = [files[start : start + _FILES_OF_A_SCAN] for start in starts]
    for path, size in in_processes(task, chunks, jobs):
        yield path, 0 if size is None else size


def _migrated(
    sizes: Mapping[Path, int], given: Given, jobs: int
) -> Generator[tuple[Path, FileResult], None, None]:
    """Yield each file with its result."""
    task = Task(migrate_file, given)
    if jobs == 1 or len(sizes) == 1 or sum(sizes.values()) <= _BYTES_TO_MIGRATE_HERE:
        yield from _here(task, sizes)
        return
    for path, result in in_processes(task, _chunks(sizes, jobs), jobs):
        yield path, FileResult(path).failed(_DIED) if result is None else result


def _here(task: Task[Result], paths: Iterable[Path]) -> Iterator[tuple[Path, Result]]:
    """Yield each path with its result from this process."""
    work = task.here()
    return ((path, work(path)) for path in paths)


def _chunks(sizes: Mapping[Path, int], jobs: int) -> list[list[Path]]:
    """Split files into chunks; neighbours stay together, since they import the same modules."""
    most = max(1, min(_FILES_OF_A_CHUNK, len(sizes) // (4 * jobs)))
    chunks: list[list[Path]] = []
    room = 0
    for path, size in sizes.items():
        if not chunks or len(chunks[-1]) == most or room < size:
            chunks.append([])
            room = _BYTES_OF_A_CHUNK
        chunks[-1].append(path)
        room -= size
    return chunks


def size_to_migrate(path: Path, project: Project, options: Options) -> int:
    """Return the size of a file, in bytes; below zero where it has nothing of NNX."""
    del project, options
    try:
        data = path.read_bytes()
    except OSError:
        # Migrating it says what is wrong.
        return 0
    return len(data) if mentions_nnx(data) else _NO_SIZE
