"""Cells and bounded caches: objects tell the records that they belong to of changes, without keeping models alive."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import jax.numpy as jnp
import pytest

import typed_nnx as nnx
from typed_nnx._core.cells import Bounded


class Layer(nnx.Module):
    def __init__(self) -> None:
        self.kernel = nnx.Param(jnp.ones(2), tag="t")
        self.size = 3


class Model(nnx.Module):
    def __init__(self, shared: Layer | None = None) -> None:
        self.layer = Layer() if shared is None else shared
        self.items = nnx.List([Layer()])


def paths(node: Any) -> set[Any]:
    return {path for path, _ in nnx.to_flat_state(nnx.state(node))}


def test_an_object_taken_out_no_longer_concerns_its_old_root() -> None:
    model = Model()
    nnx.state(model)
    old = model.layer
    model.layer = Layer()
    graphdef = nnx.graphdef(model)
    old.size = 99
    setattr(old, "more", nnx.Param(1))  # noqa: B010 -- no class declares it
    assert nnx.graphdef(model) == graphdef


@pytest.mark.thorough
@pytest.mark.parametrize("survivor", ["layer", "kernel"])
def test_a_survivor_does_not_keep_its_model_alive(survivor: str) -> None:
    model = Model()
    nnx.state(model)
    watch = weakref.ref(model)
    kept: Any = model.layer if survivor == "layer" else model.layer.kernel
    del model
    gc.collect()
    assert watch() is None
    if survivor == "layer":
        kept.size = 4
        kept.new = nnx.Param(1)
        assert len(paths(kept)) == 2
    else:
        kept.set_metadata(tag="u")
        kept[...] = jnp.zeros(2)


# -- a bounded cache keeps what is asked for and forgets the rest -----------------------------------


def test_what_is_asked_for_stays_and_what_is_not_goes() -> None:
    cache: Bounded[int, str] = Bounded(10)
    cache.add(-1, "kept")
    for number in range(1000):
        cache.add(number, str(number))
        assert cache[-1] == "kept"
    assert [number for number in range(1000) if cache[number] is not None][-1] == 999
    assert sum(cache[number] is not None for number in range(900)) == 0


def test_it_never_holds_more_than_it_may() -> None:
    cache: Bounded[int, object] = Bounded(10)
    for number in range(100):
        cache.add(number, object())
        assert len(cache.all_values()) <= 10


def test_the_first_value_of_a_key_counts() -> None:
    cache: Bounded[str, int] = Bounded(4)
    assert cache.add("a", 1) == 1
    assert cache.add("a", 2) == 1
    cache.clear()
    assert cache["a"] is None
