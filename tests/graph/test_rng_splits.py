"""`split_rngs` in place, as a function and a context; the laws hold in NNX too."""

from __future__ import annotations

from typing import Any

import jax
import pytest

from tests.core.libraries import both
from tests.graph.rng_splits_scenarios import (
    all_modes,
    counts,
    data,
    functions,
    next_key,
    shapes,
    two_streams,
)


@both
def test_restoring_brings_the_keys_back_with_one_draw_counted(lib):
    rngs = two_streams(lib)
    rngs.params(), rngs.params()
    backups = functions(lib).split_rngs(rngs, splits=3)
    assert isinstance(backups, functions(lib).SplitBackups)
    assert functions(lib).restore_rngs(backups) is None
    assert data(rngs.params.key[...]) == data(jax.random.key(0))
    assert counts(rngs) == {"params": 3, "dropout": 1}


@both
def test_as_a_context_it_restores_on_the_way_out(lib):
    rngs = two_streams(lib)
    with functions(lib).split_rngs(rngs, splits=3) as backups:
        assert shapes(rngs) == {"params": (3,), "dropout": (3,)}
        rngs.params.count[...] += 5
    assert isinstance(backups, functions(lib).SplitBackups)
    assert (shapes(rngs), counts(rngs)) == (
        {"params": (), "dropout": ()},
        {"params": 1, "dropout": 1},
    )


@both
def test_backups_hold_stream_key_and_count_of_each_changed_stream(lib):
    rngs = two_streams(lib)
    backups = functions(lib).split_rngs(rngs, splits=3, only="params")
    assert [(stream.tag, data(key), int(count)) for stream, key, count in backups] == [
        ("params", data(jax.random.key(0)), 1)
    ]
    assert list(backups) == list(backups.backups)
    assert next(iter(backups))[0] is rngs.params


@both
@pytest.mark.parametrize(
    ("splits", "shape"),
    [(1, (1,)), ((2, 3), (2, 3)), (0, (0,)), ((), ())],
    ids=str,
)
def test_splits_is_a_count_or_a_shape(lib, splits, shape):
    rngs = two_streams(lib)
    functions(lib).split_rngs(rngs, splits=splits)
    assert shapes(rngs) == {"params": shape, "dropout": shape}
    assert rngs.params.count.shape == shape


@both
@pytest.mark.parametrize(
    ("only", "changed"),
    [
        ("params", {"params"}),
        (("params", "dropout"), {"params", "dropout"}),
        (..., {"params", "dropout"}),
        (None, set()),
        (False, set()),
    ],
    ids=["one", "two", "all", "none", "false"],
)
def test_only_the_streams_that_match_are_split(lib, only, changed):
    rngs = two_streams(lib)
    functions(lib).split_rngs(rngs, splits=4, only=only)
    for name, stream in rngs.items():
        assert stream.key.shape == ((4,) if name in changed else ())
        assert stream.key[...].ndim == 0 or name in changed


@both
def test_filters_see_the_path_of_the_stream(lib):
    rngs = two_streams(lib)
    functions(lib).split_rngs(rngs, splits=4, only=lib.PathContains("dropout"))
    assert shapes(rngs) == {"params": (), "dropout": (4,)}


@both
@all_modes
@pytest.mark.parametrize(
    ("make", "split"),
    [
        (lambda lib: lib.RngState, True),
        (lambda lib: (lib.RngKey, lib.RngCount), True),
        (lambda lib: lib.Variable, True),
        (lambda lib: lib.Not(lib.RngStream), True),
        (lambda lib: lib.RngKey, False),
        (lambda lib: lib.RngCount, False),
        (lambda lib: lib.RngStream, False),
        (lambda lib: lib.Not(lib.RngKey), False),
        (lambda lib: lib.PathContains("key"), False),
    ],
    ids=["state", "both", "variable", "not_stream", "key", "count", "stream", "not_key", "path"],
)
def test_a_filter_must_match_both_variables_of_a_stream(lib, mode, make, split):
    split_streams = functions(lib).split_rngs(splits=4, only=make(lib), **mode)(shapes)
    assert split_streams(lib.Rngs(params=0)) == {"params": (4,) if split else ()}
    forked = lib.Rngs(params=0)
    functions(lib).fork_rngs(split={make(lib): None}, **mode)(shapes)(forked)
    assert counts(forked) == {"params": int(split)}


@both
def test_a_filter_sees_the_paths_of_both_variables(lib):
    seen = []

    def record(path: Any, value: Any) -> bool:
        seen.append((path, type(value).__name__))
        return True

    functions(lib).split_rngs({"x": lib.Rngs(params=0)}, splits=2, only=record)
    assert seen == [(("x", "params", "key"), "RngKey"), (("x", "params", "count"), "RngCount")]


@both
@all_modes
def test_squeeze_takes_the_axis_of_one_split_away(lib, mode):
    @functions(lib).split_rngs(splits=1, squeeze=True, **mode)
    def inside(rngs: Any) -> Any:
        return shapes(rngs), data(rngs.params.key[...]), counts(rngs)["params"]

    expected = data(jax.random.split(next_key(0, 0), 1)[0])
    assert inside(two_streams(lib)) == ({"params": (), "dropout": ()}, expected, 0)


@both
@all_modes
@pytest.mark.parametrize("splits", [2, (1,), (1, 1), 0], ids=str)
def test_squeeze_of_anything_but_one_split_is_an_error(lib, mode, splits):
    with pytest.raises(ValueError, match="squeeze=True is only supported for splits=1"):
        functions(lib).split_rngs(two_streams(lib), splits=splits, squeeze=True, **mode)


@both
def test_streams_that_are_split_already_cannot_be_split(lib):
    rngs = two_streams(lib)
    functions(lib).split_rngs(rngs, splits=2)
    with pytest.raises(ValueError, match=r"\(2,\)"):
        functions(lib).split_rngs(rngs, splits=2)
    assert shapes(rngs) == {"params": (2,), "dropout": (2,)}
