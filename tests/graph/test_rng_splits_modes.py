"""`split_rngs` around a function and without graph updates; the laws hold in NNX too."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

from tests.core.libraries import both
from tests.graph.rng_splits_scenarios import (
    all_modes,
    copies,
    counts,
    data,
    functions,
    next_key,
    shapes,
    two_streams,
)


@both
@all_modes
def test_a_decorated_function_gets_split_streams_and_leaves_them_restored(lib, mode):
    rngs = two_streams(lib)

    @functions(lib).split_rngs(splits=3, **mode)
    def inside(rngs: Any, number: int, *, more: Any) -> Any:
        return shapes(rngs), shapes(more), data(rngs.params.key[...]), number

    more = two_streams(lib)
    split = {"params": (3,), "dropout": (3,)}
    expected = data(jax.random.split(next_key(0, 0), 3))
    assert inside(rngs, 7, more=more) == (split, split, expected, 7)
    for streams in (rngs, more):
        assert shapes(streams) == {"params": (), "dropout": ()}
        assert counts(streams) == {"params": 1, "dropout": 1}


@both
@all_modes
def test_the_function_of_every_mode_gives_each_lane_of_a_vmap_its_own_numbers(lib, mode):
    """A loop over the keys is the independent way."""

    @functions(lib).split_rngs(splits=4, **mode)
    def sample(rngs: Any) -> Any:
        return jax.vmap(lambda key: lib.Rngs(params=key).params.normal(()))(rngs.params.key[...])

    keys = jax.random.split(next_key(0, 0), 4)
    loop = [jax.random.normal(jax.random.fold_in(key, 0)) for key in keys]
    np.testing.assert_array_equal(sample(two_streams(lib)), np.stack(loop))


@both
def test_with_graph_updates_the_function_gets_the_object_itself(lib):
    rngs = two_streams(lib)
    assert functions(lib).split_rngs(splits=2)(lambda inside: inside)(rngs) is rngs


@both
def test_the_mode_is_that_of_the_decoration(lib):
    rngs = two_streams(lib)
    with lib.set_graph_updates(False):
        copying = functions(lib).split_rngs(splits=2)(lambda inside: inside)
    in_place = functions(lib).split_rngs(splits=2)(lambda inside: inside)
    assert copying(rngs) is not rngs
    with lib.set_graph_updates(False):
        assert in_place(rngs) is rngs


@both
def test_splits_must_be_given(lib):
    with pytest.raises(TypeError, match="splits"):
        functions(lib).split_rngs(two_streams(lib))


@both
@copies
def test_without_graph_updates_a_copy_has_the_split_streams(lib, mode):
    rngs = two_streams(lib)
    copied = functions(lib).split_rngs(rngs, splits=3, only="params", **mode)
    assert (type(copied), copied is rngs) == (type(rngs), False)
    assert shapes(copied) == {"params": (3,), "dropout": ()}
    assert counts(copied) == {"params": [0, 0, 0], "dropout": 0}
    assert data(copied.params.key[...]) == data(jax.random.split(next_key(0, 0), 3))
    assert copied.params.tag == copied.params.key.tag == "params"
    assert shapes(rngs) == {"params": (), "dropout": ()}
    assert counts(rngs) == {"params": 1, "dropout": 0}


@both
@copies
def test_the_copy_shares_the_variables_of_the_streams_that_stay(lib, mode):
    rngs = two_streams(lib)
    copied = functions(lib).split_rngs(rngs, splits=3, only="params", **mode)
    assert copied.dropout is not rngs.dropout
    assert copied.dropout.key is rngs.dropout.key
    assert copied.params.key is not rngs.params.key


@both
def test_graph_false_refuses_shared_streams(lib):
    rngs = two_streams(lib)
    with pytest.raises(ValueError, match="Duplicate"):
        functions(lib).split_rngs({"a": rngs.params, "b": rngs.params}, splits=2, graph=False)
    assert functions(lib).split_rngs([rngs, rngs], splits=2, graph_updates=False)[0] is not rngs
