"""The diff for other programs makes the new tree of the old one; the one for people is harmless."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from rich.console import Console

from tests.support.processes import run_process
from typed_nnx_codegen.migrate.diff import coloured_patch_of, patch_of
from typed_nnx_codegen.migrate.findings import FileResult

PAIRS = {
    "plain.py": (b"a\nb\nc\n", b"a\nB\nc\n"),
    "windows.py": (b"a\r\nb\r\nc\r\n", b"a\r\nB\r\nnew\r\nc\r\n"),
    "mixed.py": (b"a\r\nb\nc\rd\n", b"a\r\nB\nc\rD\n"),
    "bom.py": (b"\xef\xbb\xbfa\nb\n", b"\xef\xbb\xbfnew\na\nb\n"),
    "no_end.py": (b"a\nb", b"a\nc"),
    "end_comes.py": (b"a\nb", b"a\nb\n"),
    "end_goes.py": (b"a\nb\n", b"a\nb"),
    "latin.py": (b"# coding: latin-1\nx = '\xe9'\n", b"# coding: latin-1\ny = '\xe9\x85'\n"),
    "any_bytes.py": (bytes(range(256)), bytes(range(256)) + b"\n"),
    "form_feed.py": (b"a\n\x0c\nb\x1c\n", b"a\n\x0c\nc\x1c\n"),
    "emptied.py": (b"a\n", b"\n"),
    "like a diff.py": (b"--- a\n+++ b\n@@ x\n", b"--- a\n+++ c\n@@ x\n"),
    'folder/quo"te\\.py': (b"a\n", b"b\n"),
    "folder/back\\slash.py": (b"a\n", b"b\n"),
    "folder/t\tab.py": (b"a\n", b"b\n"),
    "folder/na\u00efve.py": (b"a\n", b"b\n"),
}
LINES = [b"a", b"b", b"", b"    c", b"-d", b"+e", b"\\ No newline at end of file", b"f\r", b"\xff"]


def random_pairs() -> dict[str, tuple[bytes, bytes]]:
    """Return texts with random lines, and the same with some lines changed, added or gone."""
    chance = random.Random(7)
    pairs = {}
    for number in range(60):
        old = chance.choices(LINES, k=chance.randint(1, 30))
        new = [
            line
            for each in old
            for line in chance.choice(([each], [each], [each], [], [each, b"new"], [b"other"]))
        ]
        ends = [chance.choice((b"", b"\n")) for _ in range(2)]
        before, after = (b"\n".join(x) + end for x, end in zip((old, new), ends, strict=True))
        # No name of its own says in a diff without times that a file begins or ends to be there.
        if before and after and before != after:
            pairs[f"random{number}.py"] = (before, after)
    return pairs


def written(folder: Path, pairs: dict[str, tuple[bytes, bytes]]) -> bytes:
    """Write the old tree and return the diff."""
    patches = []
    for name, (before, after) in pairs.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(before)
        patches.append(patch_of(FileResult(path, before, after), folder))
    return b"".join(patches)


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(("git", "apply", "-p1"), id="git"),
        pytest.param(("patch", "-p1", "--no-backup-if-mismatch"), id="patch"),
    ],
)
@pytest.mark.parametrize("inside", [False, True], ids=["no-repository", "folder-of-repository"])
def test_the_diff_applied_to_the_old_tree_gives_the_new_one(
    program: tuple[str, ...], inside: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    if inside:
        run_process(["git", "init", "--quiet", tmp_path], check=True)
    folder = tmp_path / "project"
    pairs = PAIRS | random_pairs()
    patch = written(folder, pairs)
    done = run_process(program, cwd=folder, input=patch, text=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert {name: (folder / name).read_bytes() for name in pairs} == {
        name: after for name, (_, after) in pairs.items()
    }
    assert len([path for path in folder.rglob("*") if path.is_file()]) == len(pairs)


def test_a_path_elsewhere_begins_at_the_root_of_the_disk(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    patch = patch_of(FileResult(path, b"a\n", b"b\n"), tmp_path / "other")
    assert patch.startswith(f"--- a{path.as_posix()}\n+++ b{path.as_posix()}\n".encode())


def shown_on_a_terminal(before: bytes, after: bytes, name: str = "x.py") -> str:
    """Return what a terminal is sent."""
    console = Console(force_terminal=True, color_system="standard", width=80)
    with console.capture() as capture:
        text = coloured_patch_of(FileResult(Path(name), before, after), Path())
        console.print(text, end="", soft_wrap=True)
    return capture.get()


def test_a_person_sees_what_goes_in_red_and_what_comes_in_green() -> None:
    seen = shown_on_a_terminal(b"same\nold\n", b"same\nnew\n")
    assert "\x1b[31m-old" in seen
    assert "\x1b[32m+new" in seen
    assert "\n same\n" in seen.replace("\x1b[0m", "")


@pytest.mark.parametrize(
    ("line", "sees"),
    [
        pytest.param(b"x = '\x1b]0;title\x07'", "\u241b]0;title\u2407", id="escape"),
        pytest.param("x = '\u202e'".encode(), "\\u202e", id="reading-direction"),
        pytest.param(b"x = '\x9b31m'", "\ufffd31m", id="not-utf-8"),
        pytest.param(b"[bold]x[/bold]", "[bold]x[/bold]", id="markup-of-rich"),
    ],
)
def test_a_file_cannot_steer_the_terminal(line: bytes, sees: str) -> None:
    seen = shown_on_a_terminal(line + b"\n", line + b" # new\n")
    assert sees in seen
    assert "\x1b]" not in seen
    assert "\x07" not in seen


def test_a_person_sees_a_file_in_its_own_encoding_without_marks_of_lines() -> None:
    head = b"# coding: latin-1\r\n"
    seen = shown_on_a_terminal(head + b"x = '\xe9'\r\n", head + b"y = '\xe9'\r\n")
    assert "+y = 'é'" in seen
    assert "\r" not in seen
    assert "␍" not in seen
    assert "�" not in seen
