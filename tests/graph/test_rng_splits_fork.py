"""`fork_rngs` and `backup_keys`; the laws hold in NNX too."""

from __future__ import annotations

import jax
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
def test_a_fork_goes_on_from_the_next_key(lib):
    rngs = two_streams(lib)
    rngs.params()
    backups = functions(lib).fork_rngs(rngs)
    assert isinstance(backups, functions(lib).SplitBackups)
    assert data(rngs.params.key[...]) == data(next_key(0, 1))
    assert counts(rngs) == {"params": 0, "dropout": 0}
    functions(lib).restore_rngs(backups)
    assert data(rngs.params.key[...]) == data(jax.random.key(0))
    assert counts(rngs) == {"params": 2, "dropout": 1}


@both
@all_modes
@pytest.mark.filterwarnings("ignore:The 'split' argument of 'fork' is deprecated")
@pytest.mark.parametrize(
    ("split", "inside_shapes", "moved"),
    [
        (2, {"params": (2,), "dropout": (2,)}, {"params": 1, "dropout": 1}),
        ((2, 3), {"params": (2, 3), "dropout": (2, 3)}, {"params": 1, "dropout": 1}),
        ({"params": 2}, {"params": (2,), "dropout": ()}, {"params": 1, "dropout": 0}),
        ({"params": None}, {"params": (), "dropout": ()}, {"params": 1, "dropout": 0}),
        ({"params": 2, "dropout": (3, 1)}, {"params": (2,), "dropout": (3, 1)},
         {"params": 1, "dropout": 1}),
    ],
    ids=str,
)  # fmt: skip
def test_a_fork_splits_the_streams_by_the_filter_that_matches(
    lib, mode, split, inside_shapes, moved
):
    rngs = two_streams(lib)
    assert functions(lib).fork_rngs(split=split, **mode)(shapes)(rngs) == inside_shapes
    assert counts(rngs) == moved


@both
@pytest.mark.filterwarnings("ignore:The 'split' argument of 'fork' is deprecated")
def test_a_forked_and_split_stream_has_the_splits_of_its_next_key(lib):
    rngs = two_streams(lib)
    functions(lib).fork_rngs(rngs, split=3)
    assert data(rngs.params.key[...]) == data(jax.random.split(next_key(0, 0), 3))


@both
@copies
def test_without_graph_updates_a_fork_is_a_copy(lib, mode):
    rngs = two_streams(lib)
    forked = functions(lib).fork_rngs(rngs, **mode)
    assert forked is not rngs
    assert data(forked.params.key[...]) == data(next_key(0, 0))
    assert (counts(forked), counts(rngs)) == (
        {"params": 0, "dropout": 0},
        {"params": 1, "dropout": 1},
    )


@both
@copies
@pytest.mark.filterwarnings("ignore:The 'split' argument of 'fork' is deprecated")
def test_the_first_filter_that_matches_a_stream_holds(lib, mode):
    forked = functions(lib).fork_rngs(two_streams(lib), split={"params": 2, ...: None}, **mode)
    assert shapes(forked) == {"params": (2,), "dropout": ()}


@both
def test_backed_up_keys_come_back_and_counts_stay(lib):
    rngs = two_streams(lib)
    backups = functions(lib).backup_keys(rngs)
    assert [(stream.tag, data(key)) for stream, key in backups] == [
        ("dropout", data(jax.random.key(1))),
        ("params", data(jax.random.key(0))),
    ]
    rngs.params(), rngs.params()
    functions(lib).fork_rngs(rngs)
    rngs.params()
    functions(lib).restore_rngs(backups)
    assert data(rngs.params.key[...]) == data(jax.random.key(0))
    assert counts(rngs) == {"params": 1, "dropout": 0}


@both
def test_a_shared_stream_is_backed_up_once(lib):
    rngs = two_streams(lib)
    assert len(functions(lib).backup_keys([rngs, rngs.params])) == 2
