"""Run the checks of transforms where the host pretends to have eight devices."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.eight_devices import passed_on_eight_devices

FILES = sorted(Path(__file__).parent.glob("eight_devices*.py"))


@pytest.mark.thorough
def test_transforms_on_eight_devices_agree_with_one_device() -> None:
    assert len(FILES) == 3
    assert passed_on_eight_devices(*FILES) >= 30
