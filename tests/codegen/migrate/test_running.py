"""Many files in several processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from multiprocessing import active_children
from pathlib import Path

import pytest

from tests.codegen.migrate.text_migrations import lose_process, rename_old
from tests.support.processes import started_process
from typed_nnx_codegen.migrate import engine, running, workers
from typed_nnx_codegen.migrate.files import migrate_file
from typed_nnx_codegen.migrate.findings import FileResult, Migrated
from typed_nnx_codegen.migrate.options import Options
from typed_nnx_codegen.migrate.running import migrate_all
from typed_nnx_codegen.migrate.workers import Task, in_processes

OPTIONS = Options()


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Twelve files in three folders: with NNX, without, and broken."""
    texts = {
        "with.py": "from flax import nnx\nnnx.Param\n",
        "without.py": "import jax\n",
        "broken.py": "import nnx\n(\n",
        "undecodable.py": "# nnx \udcff\n",
    }
    made: list[Path] = []
    for folder in ("c", "a", "b"):
        (tmp_path / folder).mkdir()
        for name, text in texts.items():
            made.append(tmp_path / folder / name)
            made[-1].write_text(text, encoding="utf-8", errors="surrogateescape")
    return made


def everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let processes do all, however little it is."""
    monkeypatch.setattr(running, "_FILES_TO_SCAN_HERE", 0)
    monkeypatch.setattr(running, "_BYTES_TO_MIGRATE_HERE", 0)
    monkeypatch.setattr(running, "_FILES_OF_A_SCAN", 5)


@pytest.mark.thorough
def test_results_do_not_depend_on_the_number_of_processes(
    files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = files[0].parent.parent
    seen: list[FileResult] = []
    alone = migrate_all(files, [folder], OPTIONS, 1, seen.append)
    everywhere(monkeypatch)
    told: list[FileResult] = []
    assert migrate_all(files, [folder], OPTIONS, 2, told.append) == alone
    assert [result.path for result in alone] == files
    assert sorted(result.path for result in seen) == sorted(files)
    assert sorted(result.path for result in told) == sorted(files)
    without, broken, undecodable = alone[1], alone[2], alone[3]
    assert without == FileResult(files[1], skipped="no NNX")
    assert "line 2" in broken.error
    assert "utf-8" in undecodable.error


def test_few_files_need_no_processes(files: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(running, "in_processes", fail)
    assert len(migrate_all(files, [], OPTIONS, 8)) == len(files)
    assert migrate_all([], [], OPTIONS, 8) == []


def test_a_file_that_cannot_be_read_is_an_error_of_this_file(files: list[Path]) -> None:
    files[0].unlink()
    first, *others = migrate_all(files, [], OPTIONS, 1)
    assert first.error == "it cannot be read: No such file or directory"
    assert not others[0].error


def test_a_file_that_is_given_twice_is_migrated_once(
    files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []

    def migrate(text: str, *_: object) -> Migrated:
        calls.append(text)
        return rename_old(text)

    monkeypatch.setattr(engine, "migrate_text", migrate)
    assert len(migrate_all([files[0], files[0]], [], OPTIONS, 1)) == 2
    assert len(calls) == 1


def test_chunks_keep_order_and_stay_small() -> None:
    sizes = {Path(f"{i}.py"): 1000 * i for i in range(200)}
    chunks = running._chunks(sizes, 2)
    assert [path for chunk in chunks for path in chunk] == list(sizes)
    assert max(map(len, chunks)) <= 8
    assert all(len(c) == 1 or sum(sizes[p] for p in c) <= 150_000 for c in chunks)
    assert len(running._chunks(dict(list(sizes.items())[:9]), 2)) >= 8


@pytest.mark.thorough
def test_a_process_that_is_killed_costs_only_its_file() -> None:
    names = ["a", "b", "killer", "c", "killer too", "d"]
    chunks = [[Path(name) for name in names[:3]], [Path(name) for name in names[3:]]]
    results = dict(in_processes(Task(lose_process, ((), OPTIONS)), chunks, 2))
    assert sorted(results) == sorted(Path(name) for name in names)
    died = {path.name for path, result in results.items() if result is None}
    assert died == {"killer", "killer too"}


def test_the_file_at_which_a_process_ended_gets_an_error(
    files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(_: object, chunks: list[list[Path]], count: int) -> list[tuple[Path, None]]:
        assert count == 2
        return [(path, None) for chunk in chunks for path in chunk]

    monkeypatch.setattr(running, "_BYTES_TO_MIGRATE_HERE", 0)
    monkeypatch.setattr(running, "in_processes", die)
    first, second, *_ = migrate_all(files, [], OPTIONS, 2)
    assert "a process ended" in first.error
    assert not first.is_changed
    assert second.skipped


def test_without_processes_all_is_done_here(
    files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(workers, "ProcessPoolExecutor", refuse)
    results = list(in_processes(Task(migrate_file, ((), OPTIONS)), [files[:2], files[2:]], 2))
    assert [path for path, _ in results] == files
    assert all(result is not None for _, result in results)


def test_processes_end_where_the_caller_stops(files: list[Path]) -> None:
    class StopError(Exception):
        pass

    def stop(result: FileResult) -> None:
        raise StopError

    with pytest.raises(StopError):
        migrate_all(files, [], OPTIONS, 2, stop)
    assert not active_children()


_SLOW = """
import sys, time
from pathlib import Path
from tests.codegen.migrate.text_migrations import sleep
from typed_nnx_codegen.migrate.options import Options
from typed_nnx_codegen.migrate.workers import Task, in_processes

if __name__ == "__main__":
    chunks = [[Path(sys.argv[1]) / str(i)] for i in range(20)]
    try:
        for path, _ in in_processes(Task(sleep, ((), Options())), chunks, 2):
            pass
    except KeyboardInterrupt:
        print("stopped")
"""


@pytest.mark.thorough
@pytest.mark.parametrize("to_all", [True, False], ids=["to all processes", "to the first one"])
def test_ctrl_c_ends_all_processes_at_once_and_without_noise(tmp_path: Path, to_all: bool) -> None:
    script = tmp_path / "slow.py"
    script.write_text(_SLOW)
    environment = {**os.environ, "PYTHONPATH": str(Path.cwd())}
    with started_process(
        [sys.executable, script, tmp_path],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    ) as process:
        deadline = time.monotonic() + 60
        while not (tmp_path / "0").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        started = time.monotonic()
        (os.killpg if to_all else os.kill)(process.pid, signal.SIGINT)
        output, errors = process.communicate(timeout=60)
        took = time.monotonic() - started
    assert (output, errors, process.returncode) == (b"stopped\n", b"", 0)
    # The output of all processes has ended by then, so they have too.
    assert took < 20
