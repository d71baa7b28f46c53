"""Tests of the loader run on both runtimes."""

from __future__ import annotations

from typing import Any

import pytest
from flax import nnx as flax_nnx

import typed_nnx


@pytest.fixture(params=[typed_nnx, flax_nnx], ids=["typed_nnx", "flax.nnx"])
def nnx(request: pytest.FixtureRequest) -> Any:
    return request.param
