"""Users of other type checkers get what the plugin reports: its own cases, through ``typed-nnx lint``."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pytest

from tests.codegen.command.running import run
from tests.mypy_plugin.case_files import RUNTIMES, CaseFile, Mark, case_files
from tests.mypy_plugin.run import FOLDER, Report, differences, footer
from tests.support.once import once

# What a runtime has at least; plain pyright finds eight of them.
EXPECTED = 466


class OursOnly(CaseFile):
    """A case file without what mypy itself says of it."""

    def marks(self) -> list[Mark]:
        """Return what a check reports."""
        return [mark for mark in super().marks() if mark.code.startswith("nnx")]


def linted(runtime: str, shared_folder: Path) -> dict[str, list[Report]]:
    """Return what lint finds in the case files, by file name, in a project without any settings."""

    def work() -> dict[str, list[Report]]:
        folder = FOLDER / f"lint_{runtime}"
        (folder / ".git").mkdir(parents=True, exist_ok=True)  # mypy looks for settings up to there
        for file in case_files(runtime):
            (folder / file.path.name).write_text(file.source() + footer(), encoding="utf-8")
        done = run("lint", "--format", "json", "--quiet", folder=folder)
        assert done.returncode == 1, done.stderr
        found = defaultdict(list)
        for each in json.loads(done.stdout):
            kind = "E" if each["severity"] == "error" else "N"
            text = each["message"] + (f" Fix: {each['fix']}" if each["fix"] else "")
            found[each["file"]].append(Report(each["line"], kind, text, each["code"]))
        return found

    loaded = once(f"lint_cases_{runtime}", shared_folder, work)
    return {file: [Report(*one) for one in said] for file, said in loaded.items()}


@pytest.mark.thorough
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_lint_reports_of_each_line_what_the_case_files_say(
    runtime: str, shared_folder: Path
) -> None:
    said = linted(runtime, shared_folder)
    files = [OursOnly(file.path, runtime) for file in case_files(runtime)]
    found = [line for file in files for line in differences(file, said.get(file.path.name, []))]
    assert found == []
    assert sum(len(file.marks()) for file in files) >= EXPECTED
