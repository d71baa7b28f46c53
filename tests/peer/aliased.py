"""A pytest plugin: `flax.nnx` is typed_nnx, and what became of each test goes to a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import typed_nnx


class Outcomes:
    """Collects the outcome of each test."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.found: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the worst that the phases and subtests of a test had."""
        known = self.found.get(report.nodeid, "passed")
        if report.failed or (report.skipped and known == "passed"):
            known = report.outcome
        self.found[report.nodeid] = known

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note a file that cannot be imported as one failed test."""
        if report.failed:
            self.found[report.nodeid] = "failed"

    def pytest_sessionfinish(self) -> None:
        """Write what was found."""
        self.path.write_text(json.dumps(self.found))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option for the file."""
    parser.addoption("--outcomes", type=Path, help="where outcomes are written, as JSON")


def pytest_configure(config: pytest.Config) -> None:
    """Alias in each process; collect outcomes in the one that has the reports of all."""
    typed_nnx.install_as_flax_nnx()
    path = config.getoption("outcomes")
    if path is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Outcomes(path))
