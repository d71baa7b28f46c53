from __future__ import annotations

from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
FOLDERS = ("src", "mypy_plugin", "codegen", "benchmarks", "examples", "tests")
LONGEST = 400


def is_generated(source: str) -> bool:
    """Tell whether the header of a file forbids edits, as generated files do."""
    return any("Do not edit." in line for line in source.splitlines()[:5])


def test_no_written_file_is_longer_than_a_reader_can_hold() -> None:
    too_long = {}
    for folder in FOLDERS:
        for path in (REPOSITORY / folder).rglob("*.py"):
            source = path.read_text(encoding="utf-8")
            lines = source.count("\n")
            if lines > LONGEST and not is_generated(source):
                too_long[str(path.relative_to(REPOSITORY))] = lines
    assert not too_long, f"split by idea: {too_long}"
