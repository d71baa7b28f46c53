"""Run the checks of checkpoints between meshes where the host pretends to have eight devices."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.eight_devices import passed_on_eight_devices

HERE = Path(__file__).parent


@pytest.mark.thorough
def test_checkpoints_go_from_mesh_to_mesh() -> None:
    assert passed_on_eight_devices(HERE / "checkpoint_on_eight_devices.py") >= 10
