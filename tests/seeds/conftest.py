"""The documents' programs run under jax's default promotion rules, as their readers run them."""

from __future__ import annotations

import typing as tp

import jax
import pytest


@pytest.fixture(autouse=True)
def default_promotion() -> tp.Iterator[None]:
    """Undo the strict rules of the other tests: ``x @ w + b`` promotes the rank of ``b``."""
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield
