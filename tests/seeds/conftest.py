"""The documents' programs run under jax's default promotion rules, as their readers run them."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _as_users_run_them(default_promotion: None) -> None:
    pass
