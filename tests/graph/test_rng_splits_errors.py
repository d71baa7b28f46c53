"""What `split_rngs` and `fork_rngs` refuse, and what they take that NNX does not."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

import jax
import pytest

import typed_nnx as nnx
from tests.graph.rng_splits_scenarios import MODES, counts, data, next_key, shapes, two_streams
from typed_nnx import SplitBackups, backup_keys, backup_rngs, fork_rngs, split_rngs
from typed_nnx.errors import ArgumentTypeError, KeyShapeError, SharedReferenceError


def test_backup_rngs_is_backup_keys():
    assert backup_rngs is backup_keys


def test_backup_keys_can_assert_a_tree():
    rngs = two_streams(nnx)
    with pytest.raises(SharedReferenceError, match="backup_keys"):
        backup_keys([rngs, rngs], graph=False)


def test_in_place_too_the_first_filter_that_matches_holds():
    """flax applies every filter that matches and then fails; its copies follow the first."""
    rngs = two_streams(nnx)
    fork_rngs(rngs, split={"params": 2, ...: None})
    assert shapes(rngs) == {"params": (2,), "dropout": ()}
    assert data(rngs.dropout.key[...]) == data(next_key(1, 0))


@pytest.mark.parametrize("decorate", [fork_rngs, functools.partial(split_rngs, splits=2)])
def test_a_function_can_be_given_directly(decorate):
    """flax takes it for an object without streams."""
    rngs = two_streams(nnx)
    before = counts(rngs)
    inside = decorate(lambda streams, extra: (streams.params.key[...], extra))
    key, extra = inside(rngs, 5)
    assert (extra, counts(rngs)) == (5, {name: count + 1 for name, count in before.items()})
    assert data(key) != data(jax.random.key(0))


def test_a_partial_can_be_given_directly():
    inside = split_rngs(functools.partial(lambda extra, rngs: (extra, shapes(rngs)), 5), splits=2)
    assert inside(two_streams(nnx)) == (5, {"params": (2,), "dropout": (2,)})


def test_backups_are_a_pytree_with_copies_of_the_streams():
    rngs = two_streams(nnx)
    backups = split_rngs(rngs, splits=3)
    copied = jax.tree.map(lambda leaf: leaf, backups)
    assert isinstance(copied, SplitBackups)
    assert [data(key) for _, key, *_ in copied] == [data(key) for _, key, *_ in backups]
    assert isinstance(backups, Iterable)


def test_an_error_in_the_middle_leaves_every_stream_as_it_was():
    rngs = nnx.Rngs(first=0, second=1)
    split_rngs(rngs, splits=2, only="second")
    for call in (fork_rngs, functools.partial(split_rngs, splits=2)):
        for mode in MODES.values():
            with pytest.raises(KeyShapeError, match="'second'"):
                call(rngs, **mode)
            assert shapes(rngs) == {"first": (), "second": (2,)}
            assert counts(rngs) == {"first": 0, "second": [0, 0]}


def test_a_bad_shape_is_found_before_any_draw():
    rngs = two_streams(nnx)
    with pytest.raises(ArgumentTypeError):
        fork_rngs(rngs, split={"params": 2, "dropout": -1})
    assert (shapes(rngs), counts(rngs)) == (
        {"params": (), "dropout": ()},
        {"params": 0, "dropout": 0},
    )


@pytest.mark.parametrize(
    "splits", [None, "a", 2.0, -1, (2, -1), {"params": 2}, {2: 3}, (2, "a"), (2, None)], ids=str
)
def test_bad_splits_name_the_argument_and_the_fix(splits):
    bad: Any = splits
    with pytest.raises(ArgumentTypeError) as caught:
        split_rngs(two_streams(nnx), splits=bad)
    assert str(caught.value) == (
        f"split_rngs: argument `splits` is {splits!r} ({type(splits).__name__}); expected how many "
        "keys each stream gets: an int of 0 or more, or a tuple of them.\n"
        "  Fix: split_rngs(..., splits=4)"
    )


def test_shared_streams_without_graph_name_both_paths():
    rngs = two_streams(nnx)
    with pytest.raises(SharedReferenceError) as caught:
        split_rngs({"a": rngs, "b": rngs}, splits=2, graph=False)
    assert "split_rngs" in str(caught.value)
    assert "a" in str(caught.value)
    assert "b" in str(caught.value)
    assert counts(rngs) == {"params": 0, "dropout": 0}


def test_streams_of_an_outer_level_cannot_be_split_inside():
    rngs = two_streams(nnx)

    @jax.jit
    def inside(x: jax.Array) -> jax.Array:
        with split_rngs(rngs, splits=2):
            return x

    with pytest.raises(nnx.errors.TraceLevelError):
        inside(jax.numpy.ones(()))
    assert counts(rngs) == {"params": 0, "dropout": 0}


def test_subclasses_of_streams_stay_what_they_are():
    class Loud(nnx.RngStream):
        pass

    streams = {"a": Loud(0, tag="a")}
    assert type(split_rngs(streams, splits=2, graph=False)["a"]) is Loud
