"""Streams to split and what they look like; the functions of ours and of the oracle."""

from __future__ import annotations

from typing import Any

import jax
import pytest

MODES: dict[str, dict[str, Any]] = {
    "updates": {},
    "no_updates": {"graph_updates": False},
    "tree": {"graph": False},
}
copies = pytest.mark.parametrize("mode", [MODES["no_updates"], MODES["tree"]], ids=str)
all_modes = pytest.mark.parametrize("mode", list(MODES.values()), ids=list(MODES))


def functions(lib: Any) -> Any:
    return lib.rnglib


def two_streams(lib: Any) -> Any:
    return lib.Rngs(params=0, dropout=1)


def shapes(rngs: Any) -> dict[str, tuple[int, ...]]:
    return {name: stream.key.shape for name, stream in rngs.items()}


def counts(rngs: Any) -> dict[str, Any]:
    return {name: stream.count[...].tolist() for name, stream in rngs.items()}


def data(key: Any) -> Any:
    return jax.random.key_data(key).tolist()


def next_key(seed: int, count: int) -> jax.Array:
    """What a stream of this seed gives after `count` keys."""
    return jax.random.fold_in(jax.random.key(seed), count)
