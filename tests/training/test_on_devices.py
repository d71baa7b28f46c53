"""Run the checks of sharded training and checkpoints where the host pretends to have eight devices."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.eight_devices import passed_on_eight_devices

FILES = sorted(Path(__file__).parent.glob("*_on_eight_devices.py"))


@pytest.mark.thorough
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_training_on_eight_devices_agrees_with_one_device(file: Path) -> None:
    assert len(FILES) == 2
    assert passed_on_eight_devices(file) >= 10
