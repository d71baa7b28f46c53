"""`EMA`: averages of Variables."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.training.models import FLAX, OURS, both, contents, modes, network
from typed_nnx import errors

DECAY = 0.75


def moved(lib: Any, model: Any, by: float = 1.0) -> Any:
    """Return a model with other values."""
    return jax.tree.map(lambda x: x + jnp.asarray(by, x.dtype), lib.clone(model))


@both
def test_an_update_follows_the_formula(lib: Any) -> None:
    model = lib.Dict(w=lib.Param(jnp.array([1.0, 3.0])))
    average, wanted = lib.EMA(model, DECAY), np.array([1.0, 3.0])
    for value in (2.0, 5.0, -1.0):
        model.w[...] = jnp.full(2, value)
        assert average.update(model) is None
        wanted = DECAY * wanted + (1 - DECAY) * value
        np.testing.assert_allclose(average.params.w[...], wanted, rtol=1e-6)


FILTERS: dict[str, Any] = {
    "all": lambda lib: ...,
    "params": lambda lib: lib.Param,
    "a path": lambda lib: lib.PathContains("layers"),
    "a tag": lambda lib: lib.WithTag("matrix"),
    "nothing": lambda lib: lib.Cache,
}


@pytest.mark.parametrize("kind", list(FILTERS))
@pytest.mark.parametrize("form", ["model", "state"])
def test_averages_equal_those_of_flax_bit_for_bit(kind: str, form: str) -> None:
    found = []
    for lib in (OURS, FLAX):
        model = network(lib)
        average = lib.EMA(model, DECAY, only=FILTERS[kind](lib))
        for _ in range(2):
            model = moved(lib, model)
            average.update(model if form == "model" else lib.state(model))
        found.append((contents(lib, average), contents(lib, average.apply_to(model))))
    assert found[0] == found[1]


@both
def test_apply_to_replaces_what_is_averaged_and_shares_the_rest(lib: Any) -> None:
    model = network(lib)
    average = lib.EMA(model, DECAY, only=lib.Param)
    later = moved(lib, model)
    made = average.apply_to(later)
    assert type(made) is type(later)
    assert made is not later
    assert made.scale is average.params.scale
    assert made.layers[0].calls is later.layers[0].calls
    assert np.array_equal(made.layers[0].w[...], model.layers[0].w[...])


@both
@modes
def test_it_is_updated_in_jit(lib: Any, graph: bool) -> None:
    with lib.set_graph_mode(graph):
        model = network(lib)
        eager, jitted = (lib.EMA(model, DECAY, only=lib.Param, graph=graph) for _ in range(2))
        later = moved(lib, model)
        update = lib.jit(lambda average, model: average.update(model))
        for _ in range(2):
            eager.update(later)
            update(jitted, later)
        for mine, other in zip(
            jax.tree.leaves(lib.state(jitted)), jax.tree.leaves(lib.state(eager)), strict=True
        ):
            np.testing.assert_allclose(
                np.asarray(mine, np.float32), np.asarray(other, np.float32), 1e-2
            )


@both
def test_params_in_references_are_averaged(lib: Any) -> None:
    model = lib.Dict(w=lib.Param(jnp.ones(2), ref=True))
    average = lib.EMA(model, DECAY)
    model.w[...] = jnp.full(2, 5.0)
    average.update(model)
    np.testing.assert_allclose(average.params.w[...], 2.0)
    assert average.params.w.get_raw_value() is not model.w.get_raw_value()


@both
def test_wrong_use_raises_what_flax_raises(lib: Any) -> None:
    model = network(lib)
    average = lib.EMA(model, DECAY)
    for error, does in (
        (TypeError, lambda: lib.EMA({"a": jnp.ones(2)}, DECAY)),
        (ValueError, lambda: average.update(lib.filter_state(lib.state(model), lib.Param))),
        (ValueError, lambda: average.update({"scale": jnp.ones(2)})),
        (TypeError, lambda: lib.EMA(model)),
    ):
        with pytest.raises(error):
            does()


def test_a_failed_update_changes_nothing() -> None:
    model = network(OURS)
    average = OURS.EMA(model, DECAY)
    before = contents(OURS, average)
    other = moved(OURS, model)
    del other.scale
    with pytest.raises(errors.StateMismatchError, match="scale"):
        average.update(other)
    with pytest.raises(errors.StateMismatchError, match="scale"):
        average.apply_to(other)
    assert contents(OURS, average) == before


@settings(max_examples=15, deadline=None)
@given(
    st.floats(0.0, 1.0, width=32), st.lists(st.floats(-8.0, 8.0, width=32), min_size=1, max_size=4)
)
def test_averages_of_any_decay_equal_those_of_flax(decay: float, values: list[float]) -> None:
    found = []
    for lib in (OURS, FLAX):
        model = lib.Dict(a=lib.Param(jnp.ones(2)), b=lib.BatchStat(jnp.ones(2, jnp.bfloat16)))
        average = lib.EMA(model, decay)
        for value in values:
            model.a[...] = jnp.full(2, value)
            model.b[...] = jnp.full(2, value, jnp.bfloat16)
            average.update(model)
        found.append(contents(lib, average))
    assert found[0] == found[1]
