"""What pytest calls: the option, the setting, the marker, the line of the header."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from typed_nnx_pytest.mode import VARIABLE, VerifyingMode, asked_by_environment

OPTION = "--typed-nnx-verify"
SETTING = "typed_nnx_verify"
MARKER = "typed_nnx_unverified"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option and the setting of the configuration file."""
    text = "verify each cached record of typed-nnx on use: slow, finds writes that went past it"
    parser.getgroup("typed-nnx").addoption(OPTION, action="store_true", default=False, help=text)
    parser.addini(SETTING, f"as {OPTION} on every run (true or false)", type="bool", default=False)


def pytest_configure(config: pytest.Config) -> None:
    """Name the marker, and switch the mode on where somebody asked for it."""
    config.addinivalue_line(
        "markers", f"{MARKER}: run this test without the verifying mode that {OPTION} turns on"
    )
    reason = _who_asked(config)
    if reason:
        config.pluginmanager.register(Verification(reason), "typed_nnx_verification")


def _who_asked(config: pytest.Config) -> str:
    """Return what switches the mode on, or nothing."""
    if config.getoption(OPTION):
        return OPTION
    if config.getini(SETTING):
        return f"{SETTING} in the settings of pytest"
    return f"{VARIABLE} in the environment" if asked_by_environment() else ""


class Verification:
    """The hooks of a run with the verifying mode; pytest does not have them in any other run.

    Args:
        reason: What switched the mode on, for the header.
    """

    def __init__(self, reason: str) -> None:
        self._reason = reason
        self._mode = VerifyingMode()

    def pytest_report_header(self) -> str:
        """Say that the mode is on, and why."""
        return f"typed-nnx: each use of a cached record is verified ({self._reason})"

    # The older kind of wrapper, which every pytest takes: an error here would end runs that never
    # asked for the mode.
    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Run a test and its fixtures in the mode, or without it where the marker says so."""
        # For each test anew: the one before may have left the mode as it liked it.
        self._mode.switch(on=item.get_closest_marker(MARKER) is None)
        yield
        self._mode.switch(on=True)

    def pytest_unconfigure(self) -> None:
        """Leave the mode as the run found it."""
        self._mode.restore()
