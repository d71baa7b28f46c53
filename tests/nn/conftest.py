"""Promotion of dtypes is what layers do, so it is allowed here; elsewhere in the tests it is not."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import pytest


@pytest.fixture(autouse=True, scope="module")
def promotion_as_users_have_it() -> Iterator[None]:
    """Let jax promote dtypes by its standard rules."""
    with jax.numpy_dtype_promotion("standard"):
        yield
