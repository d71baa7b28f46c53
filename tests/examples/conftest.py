"""Examples run under the promotion rules that their readers have: optax does not know stricter ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import jax
import pytest

from tests.examples.linen_digits_run import Run, short_run


@pytest.fixture(autouse=True, scope="module")
def usual_promotion() -> Iterator[None]:
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


@pytest.fixture(scope="session")
def demo(shared_folder: Path) -> Run:
    """A run of the demo from Linen, with one epoch."""
    return short_run(shared_folder)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave to CI what needs a run of the demo, which takes a minute."""
    for item in items:
        if "demo" in getattr(item, "fixturenames", ()):
            item.add_marker("thorough")
