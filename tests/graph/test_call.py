"""`call`: methods on a (GraphDef, State) pair; compared with flax.nnx."""

from __future__ import annotations

import functools
import typing as tp

import jax
import jax.numpy as jnp
import pytest

import typed_nnx as nnx
from tests.support.peer import Scenario, assert_as_in_flax, scenarios


@functools.cache
def counter_class(nnx: tp.Any) -> tp.Any:
    class Counter(nnx.Module):
        def __init__(self) -> None:
            self.count = nnx.Variable(jnp.zeros((), jnp.int32))
            self.steps = nnx.List([])

        def add(self, by: int, times: int = 1) -> int:
            self.count[...] = self.count[...] + by * times
            return by * times

        def grow(self) -> None:
            self.steps.append(nnx.Param(jnp.ones(())))

        def __call__(self, x: tp.Any) -> tp.Any:
            self.add(1)
            return x + self.count[...]

    return Counter


def plain(nnx: tp.Any, pair: tp.Any) -> tp.Any:
    return [(path, float(x[...])) for path, x in nnx.to_flat_state(pair[1])]


def called(nnx: tp.Any) -> tp.Any:
    pair = nnx.split(counter_class(nnx)())
    out, once = nnx.call(pair)(jnp.int32(3))
    after_one = plain(nnx, once)
    out2, twice = nnx.call(once).add(5, times=2)
    return int(out), out2, after_one, plain(nnx, twice)


def inner_methods(nnx: tp.Any) -> tp.Any:
    pair = nnx.split({"a": counter_class(nnx)(), "b": [counter_class(nnx)()]})
    out, new = nnx.call(pair)["b"][0].add(4)
    return out, plain(nnx, new)


def structure_changes(nnx: tp.Any) -> tp.Any:
    pair = nnx.split(counter_class(nnx)())
    _, new = nnx.call(pair).grow()
    return plain(nnx, new), new[0] == pair[0]


@scenarios(called, inner_methods, structure_changes)
def test_a_call_does_what_it_does_in_flax(scenario: Scenario) -> None:
    assert_as_in_flax(scenario)


def test_the_state_that_went_in_is_not_changed() -> None:
    # flax changes the Variables in it, where it is not called under jit.
    model = counter_class(nnx)()
    pair = nnx.split(model)
    nnx.call(pair).add(7)
    assert int(model.count[...]) == 0


def test_a_call_inside_jit_is_traced_once() -> None:
    traces: list[int] = []

    @jax.jit
    def step(pair: tp.Any) -> tp.Any:
        traces.append(1)
        return nnx.call(pair).add(1)[1]

    pair = nnx.split(counter_class(nnx)())
    for _ in range(3):
        pair = step(pair)
    assert int(nnx.merge(*pair).count[...]) == 3
    assert len(traces) == 1


def test_an_unknown_method_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nope"):
        nnx.call(nnx.split(counter_class(nnx)())).nope()
