"""optax promotes dtypes and ranks by jax's default rules, so its tests run under them."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _as_users_run_them(default_promotion: None) -> None:
    pass
