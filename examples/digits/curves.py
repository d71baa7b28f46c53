"""The curves of a run: loss by step, accuracy by epoch; and as JSON to compare."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple


class Curves(NamedTuple):
    """Loss in nats of each step's batch, and share of right answers after each epoch."""

    losses: list[float]
    train_accuracies: list[float]
    test_accuracies: list[float]


def write_json(curves: Mapping[str, Curves], path: Path) -> None:
    """Write the curves of models by name."""
    path.write_text(json.dumps({name: curve._asdict() for name, curve in curves.items()}))
