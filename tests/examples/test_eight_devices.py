"""Run the checks of the examples where the host pretends to have eight devices."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.eight_devices import passed_on_eight_devices

HERE = Path(__file__).parent


@pytest.mark.thorough
def test_on_eight_devices_examples_compute_what_they_do_on_one() -> None:
    assert passed_on_eight_devices(HERE / "eight_devices.py") == 7
