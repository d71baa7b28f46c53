"""The case files, checked in one run of mypy for each runtime that the workers of a test run share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.mypy_plugin.case_files import case_files
from tests.mypy_plugin.run import FOLDER, Report, reports, write
from tests.support.once import once

SWITCHED_OFF = Path(__file__).parent / "switched_off.py"
"""Runs mypy with each check silent in the case file that is named after it."""

Reports = dict[str, list[Report]]


def said_of_cases(runtime: str, shared_folder: Path) -> Reports:
    """Return what mypy says of the case files, by file name."""

    def work() -> Reports:
        folder = FOLDER / runtime
        return reports(write(case_files(runtime), folder), folder)

    return _shared(f"plugin_cases_{runtime}", shared_folder, work)


def said_when_switched_off(runtime: str, shared_folder: Path) -> Reports:
    """Return what mypy says of the case files where each one's own check is switched off."""

    def work() -> Reports:
        folder = FOLDER / runtime
        files = case_files(runtime)
        # Other names of the modules, so that mypy keeps both results.
        for name in write(files, folder):
            (folder / f"off_{name}").write_bytes((folder / name).read_bytes())
        names = [f"off_{file.path.name}" for file in files]
        found = reports(names, folder, mypy=(str(SWITCHED_OFF),))
        return {name.removeprefix("off_"): said for name, said in found.items()}

    return _shared(f"plugin_cases_off_{runtime}", shared_folder, work)


def _shared(name: str, folder: Path, work: Callable[[], Reports]) -> Reports:
    loaded = once(name, folder, work)  # JSON has lists in the place of tuples
    return {file: [Report(*one) for one in said] for file, said in loaded.items()}
