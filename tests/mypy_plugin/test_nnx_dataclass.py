"""Field specifiers of NNX are checked as those of the standard library are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.mypy_plugin.case_files import RUNTIMES, CaseFile, case_files
from tests.mypy_plugin.run import FOLDER, Report, reports, write

_SPECIFIER = re.compile(r"nnx\.(data|static)\((?=\)|\w+=)")


def _standard(source: str) -> str:
    """Return the source with `dataclasses` in place of NNX, up to where they differ."""
    return _SPECIFIER.sub(
        "dataclasses.field(", source.replace("nnx.dataclass", "dataclasses.dataclass")
    )


def _comparable(said: list[Report], last: int) -> list[tuple[int, str, str, str]]:
    """Return what mypy itself says up to a line, without the names of specifiers and files."""
    return sorted(
        (
            each.line,
            each.kind,
            each.code,
            re.sub(r'"(data|static|field)"', '"field"', each.message)
            .replace("standard_dataclass.", "")
            .replace("nnx_dataclass.", ""),
        )
        for each in said
        if each.line < last and not each.code.startswith("nnx")
    )


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_what_mypy_says_is_what_it_says_of_the_standard_library(runtime: str) -> None:
    (file,) = case_files(runtime, ["nnx_dataclass"])
    folder = FOLDER / runtime
    names = [*write([file], folder), _write_standard(file, folder)]
    said = reports(names, folder)
    last = file.source()[: file.source().index("# -- unsure")].count("\n") + 1
    ours, theirs = (_comparable(said[name], last) for name in names)
    assert ours == theirs
    assert len(ours) > 60


def _write_standard(file: CaseFile, folder: Path) -> str:
    path = folder / "standard_dataclass.py"
    path.write_text(_standard(file.source()), encoding="utf-8")
    return path.name
