"""Files are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.git import git
from tests.support.processes import started_process
from typed_nnx_codegen.migrate.writing import GitError, WriteError, dirty_files, write_atomically


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.py"
    path.write_bytes(b"old\r\n")
    return path


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


def refused(path: Path, message: str, before: bytes = b"old\r\n") -> None:
    """See that a file is refused and that all stays as it is."""
    listed = names(path.parent)
    with pytest.raises(WriteError, match=message):
        write_atomically(path, before, b"new\r\n")
    assert names(path.parent) == listed


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o664, 0o755, 0o200])
def test_bytes_are_replaced_and_the_mode_stays(file: Path, mode: int) -> None:
    file.chmod(mode)
    os.utime(file, (1, 1))
    if not os.access(file, os.R_OK):
        pytest.skip("only the administrator reads files with this mode")
    write_atomically(file, b"old\r\n", b"new\r\n")
    assert file.read_bytes() == b"new\r\n"
    assert file.stat().st_mode & 0o7777 == mode
    assert time.time() - file.stat().st_mtime < 60
    assert names(file.parent) == ["a.py"]


@pytest.mark.skipif(os.getuid() != 0, reason="only the administrator gives files away")
def test_the_owner_stays(file: Path) -> None:
    os.chown(file, 1234, 2345)
    write_atomically(file, b"old\r\n", b"new\r\n")
    assert (file.stat().st_uid, file.stat().st_gid) == (1234, 2345)


def test_a_file_that_has_changed_is_refused(file: Path) -> None:
    refused(file, "has changed since it was read(.|\n)*Fix: ", before=b"older")
    assert file.read_bytes() == b"old\r\n"


def test_a_file_that_changes_during_the_write_is_refused(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interfere(handle: int) -> None:
        file.write_bytes(b"of somebody else")

    monkeypatch.setattr(os, "fsync", interfere)
    refused(file, "has changed while it was written")
    assert file.read_bytes() == b"of somebody else"


def test_links_are_refused(file: Path) -> None:
    link = file.with_name("link.py")
    link.symlink_to(file)
    refused(link, "symbolic link(.|\n)*Fix: migrate the file that it leads to, .*a.py")
    link.unlink()
    link.hardlink_to(file)
    refused(file, "2 names")
    assert link.read_bytes() == file.read_bytes() == b"old\r\n"


def test_what_is_read_only_or_no_file_is_refused(file: Path) -> None:
    file.chmod(0o444)
    refused(file, "read-only(.|\n)*Fix: chmod")
    refused(file.parent, "not a file")
    refused(file.with_name("gone.py"), "cannot be written: No such file")


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError(28, "No space left"), KeyboardInterrupt()])
def test_nothing_is_left_behind_where_a_step_fails(
    file: Path, monkeypatch: pytest.MonkeyPatch, step: str, error: BaseException
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(os, step, fail)
    with pytest.raises((WriteError, KeyboardInterrupt)):
        write_atomically(file, b"old\r\n", b"new\r\n")
    assert names(file.parent) == ["a.py"]
    assert file.read_bytes() == b"old\r\n"


_WRITER = """
import sys
from pathlib import Path
from typed_nnx_codegen.migrate.writing import write_atomically
path = Path(sys.argv[1])
old, new = b"a" * 300_000, b"b" * 200_000
print("ready", flush=True)
while True:
    write_atomically(path, old, new)
    write_atomically(path, new, old)
"""


def test_a_killed_run_leaves_whole_files_and_the_next_one_cleans_up(file: Path) -> None:
    whole = {b"a" * 300_000, b"b" * 200_000}
    for delay in (0.0, 0.003, 0.011):
        file.write_bytes(b"a" * 300_000)
        command = [sys.executable, "-c", _WRITER, str(file)]
        with started_process(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(delay)
            process.send_signal(signal.SIGKILL)
        assert file.read_bytes() in whole
    leftover = file.with_name(".typed-nnx-migrate-x.tmp")
    leftover.write_bytes(b"half")
    fresh = file.with_name(".typed-nnx-migrate-y.tmp")
    fresh.write_bytes(b"of a run that goes on")
    for name in names(file.parent):
        if name.endswith(".tmp") and name != fresh.name:
            os.utime(file.with_name(name), (1, 1))
    write_atomically(file, file.read_bytes(), b"done")
    assert names(file.parent) == [fresh.name, "a.py"]


# -- Git ----------------------------------------------------------------------------------------


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    top = tmp_path / "re pö"
    (top / "sub").mkdir(parents=True)
    for name in ("same.py", "changed.py", "staged.py", "sub/ä b.py"):
        (top / name).write_text("x")
    (top / ".gitignore").write_text("ignored.py\n")
    git(top, "init", "-q")
    git(top, "add", ".")
    git(top, "commit", "-qm", "x")
    return top


def test_files_without_another_copy_are_dirty(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("changed.py", "staged.py", "untracked.py", "ignored.py", "sub/ä b.py"):
        (repository / name).write_text("y")
    git(repository, "add", "staged.py")
    outside = repository.parent / "outside.py"
    monkeypatch.chdir(repository / "sub")
    # As in a hook of another repository.
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    paths = [Path("..") / name for name in ("same.py", "changed.py", "staged.py", "untracked.py")]
    paths += [repository / "ignored.py", Path("ä b.py"), outside]
    assert dirty_files(paths) == set(paths) - {Path("../same.py"), outside}


def test_without_git_no_file_is_dirty(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert dirty_files([repository / "untracked.py"]) == set()


def test_a_repository_that_git_does_not_read_is_an_error(repository: Path) -> None:
    (repository / ".git" / "HEAD").write_text("nonsense")
    with pytest.raises(GitError, match=r"git cannot say(.|\n)*Fix: "):
        dirty_files([repository / "same.py"])


# -- a checkout of somebody else --------------------------------------------------------------------
ATTACKS = {
    "a clean filter": {"filter.evil.clean": "{run}; cat", "attributes": "*.py filter=evil"},
    "a filter process": {
        "filter.evil.process": "{run}",
        "filter.evil.required": "true",
        "attributes": "*.py filter=evil",
    },
    "a filter with signs in its name": {
        "filter.e=v.il.clean": "{run}; cat",
        "attributes": "*.py filter=e=v.il",
    },
    "a filter of an included file": {"included": "{run}; cat", "attributes": "*.py filter=evil"},
    "a watcher of files": {"core.fsmonitor": "{run}"},
    "a hook": {"hook": "{run}"},
    "hooks elsewhere": {"core.hooksPath": "hooks", "hook": "{run}"},
    "a diff driver": {
        "diff.evil.textconv": "{run}; cat",
        "diff.evil.command": "{run}",
        "diff.external": "{run}",
        "attributes": "*.py diff=evil",
    },
    "a pager": {"core.pager": "{run}", "pager.status": "true", "pager.ls-files": "true"},
}


def set_up_attack(repository: Path, attack: dict[str, str], mark: Path) -> None:
    """Have the configuration of a repository name a program that leaves a mark."""
    program = f"touch '{mark}'"
    for name, value in attack.items():
        command = value.replace("{run}", program)
        if name == "attributes":
            (repository / ".gitattributes").write_text(value + "\n")
        elif name == "included":
            (repository / "more.cfg").write_text(f'[filter "evil"]\n\tclean = "{command}"\n')
            git(repository, "config", "include.path", "../more.cfg")
        elif name == "hook":
            for folder in (repository / ".git" / "hooks", repository / "hooks"):
                folder.mkdir(exist_ok=True)
                hook = folder / "post-index-change"
                hook.write_text(f"#!/bin/sh\n{command}\n")
                hook.chmod(0o755)
        else:
            git(repository, "config", name, f'sh -c "{command}"' if "{run}" in value else value)


@pytest.mark.parametrize("name", ATTACKS)
def test_no_program_that_a_repository_names_is_run(tmp_path: Path, name: str) -> None:
    repository, mark = tmp_path / "repository", tmp_path / "mark"
    repository.mkdir()
    changed, touched = repository / "changed.py", repository / "touched.py"
    for file in (changed, touched):
        file.write_text("x = 1\n")
    git(repository, "init", "-q")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "x")
    set_up_attack(repository, ATTACKS[name], mark)
    changed.write_text("x = 2\n")
    later = changed.stat().st_mtime + 5
    for file in (changed, touched):
        os.utime(file, (later, later))
    assert dirty_files([changed, touched]) == {changed}
    assert not mark.exists()


def test_the_attacks_would_work_on_git_itself(tmp_path: Path) -> None:
    """Otherwise the test above would prove nothing."""
    worked = 0
    for number, attack in enumerate(ATTACKS.values()):
        repository, mark = tmp_path / str(number), tmp_path / f"mark{number}"
        repository.mkdir()
        (repository / "a.py").write_text("x = 1\n")
        git(repository, "init", "-q")
        git(repository, "add", ".")
        git(repository, "commit", "-qm", "x")
        set_up_attack(repository, attack, mark)
        (repository / "a.py").write_text("x = 2\n")
        with contextlib.suppress(subprocess.CalledProcessError):
            git(repository, "status")
        worked += mark.exists()
    assert worked >= 6


def test_a_filter_that_the_user_set_up_for_all_repositories_stays(
    repository: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As that which leaves the outputs out of notebooks: they do not count as changes."""
    own = tmp_path / "gitconfig"
    own.write_text('[filter "strip"]\n\tclean = "grep -v output"\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(own))
    (repository / ".gitattributes").write_text("*.py filter=strip\n")
    file = repository / "stripped.py"
    file.write_text("x = 1\n# output 1\n")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "x")
    file.write_text("x = 1\n# output 2\n")
    assert dirty_files([file]) == set()
    file.write_text("x = 2\n# output 2\n")
    assert dirty_files([file]) == {file}
