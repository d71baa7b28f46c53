"""Run the checks of sharded training where the host pretends to have eight devices."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.eight_devices import passed_on_eight_devices

HERE = Path(__file__).parent


@pytest.mark.thorough
def test_training_on_eight_devices_agrees_with_one_device() -> None:
    assert passed_on_eight_devices(HERE / "optimizer_on_eight_devices.py") >= 10
