"""`split_rngs` in place, as a function and a context; the laws hold in NNX too."""

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


# -- modes -----------------------------------------------------------------------------------------


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


# -- fork ------------------------------------------------------------------------------------------


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
