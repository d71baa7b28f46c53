"""`FlatState`: sorted pairs, a sequence and a pytree."""

from __future__ import annotations

import typing as tp

import jax
import jax.numpy as jnp

import typed_nnx as nnx
from tests.support.peer import Scenario, assert_as_in_flax, scenarios


def model(nnx: tp.Any) -> tp.Any:
    leaf = lambda x: nnx.Param(jnp.float32(x))  # noqa: E731 -- short
    return nnx.Dict(b=leaf(1), a=nnx.List([leaf(i) for i in range(11)]), c=nnx.Dict(x=leaf(2)))


def plain(flat: tp.Any) -> tp.Any:
    return [(path, float(leaf[...])) for path, leaf in flat]


def sorted_pairs(nnx: tp.Any) -> tp.Any:
    flat = nnx.to_flat_state(nnx.state(model(nnx)))
    return plain(flat), list(flat.paths), [float(v[...]) for v in flat.leaves], len(flat)


def items(nnx: tp.Any) -> tp.Any:
    flat = nnx.to_flat_state(nnx.state(model(nnx)))
    return plain([flat[0], flat[-1]])


def round_trip(nnx: tp.Any) -> tp.Any:
    state = nnx.state(model(nnx))
    flat = nnx.to_flat_state(state)
    built = [nnx.from_flat_state(flat), nnx.from_flat_state(dict(flat)), state.from_flat_path(flat)]
    return [plain(nnx.to_flat_state(x)) for x in built], nnx.from_flat_state(flat, cls=dict).keys()


def tree(nnx: tp.Any) -> tp.Any:
    flat = nnx.to_flat_state(nnx.state(model(nnx)))
    doubled = jax.tree.map(lambda x: 2 * x, flat)
    return plain(doubled), type(doubled).__name__


def state_method(nnx: tp.Any) -> tp.Any:
    return plain(nnx.state(model(nnx)).flat_state())


def grouped(nnx: tp.Any) -> tp.Any:
    flat = nnx.to_flat_state(nnx.state(model(nnx)))
    parts = flat.split(nnx.PathContains("a"), ...)
    chosen = flat.filter(nnx.PathContains("c"))
    merged = type(flat).merge(*parts)
    nested = flat.to_nested_state()
    return (
        [plain(part) for part in parts], plain(chosen), sorted(plain(merged), key=repr),
        plain(nnx.to_flat_state(nested)), isinstance(nested, nnx.State),
    )  # fmt: skip


@scenarios(grouped, sorted_pairs, items, round_trip, tree, state_method)
def test_a_flat_state_does_what_it_does_in_flax(scenario: Scenario) -> None:
    assert_as_in_flax(scenario)


def test_a_slice_is_a_flat_state() -> None:
    flat = nnx.to_flat_state(nnx.state(model(nnx)))
    part = flat[1:3]
    assert isinstance(part, nnx.FlatState)
    assert part.paths == (("a", 1), ("a", 2))


def test_pairs_are_sorted_on_demand_with_numbers_in_numeric_order() -> None:
    pairs = [(("b",), 1), (("a", 10), 2), (("a", 9), 3)]
    assert list(nnx.FlatState(pairs, sort=True)) == [(("a", 9), 3), (("a", 10), 2), (("b",), 1)]
    assert list(nnx.FlatState(pairs, sort=False)) == pairs


def test_the_leaves_are_the_variables_themselves() -> None:
    root = model(nnx)
    flat = nnx.to_flat_state(nnx.state(root))
    assert flat[0][1] is root["a"][0]
    assert dict(flat)["b",] is root["b"]
