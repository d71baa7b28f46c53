"""`split_rngs`, `fork_rngs`, `backup_keys`: what they do to keys and counts is what flax does."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest
from flax import nnx as flax_nnx

import typed_nnx as nnx
from tests.core.libraries import both
from tests.core.rngs_scenarios import Failed, describe, outcome
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

pytestmark = pytest.mark.filterwarnings("ignore:The 'split' argument of 'fork' is deprecated")

# -- every way to split, with every argument: keys, counts, backups and what is left ---------------


def filters(lib: Any) -> dict[str, Any]:
    return {
        "one tag": "params",
        "two tags": ("params", "dropout"),
        "all": ...,
        "none": None,
        "false": False,
        "path of a stream": lib.PathContains("dropout"),
        # A filter must match both Variables of a stream.
        "state": lib.RngState,
        "both Variables": (lib.RngKey, lib.RngCount),
        "any Variable": lib.Variable,
        "no stream": lib.Not(lib.RngStream),
        "keys": lib.RngKey,
        "counts": lib.RngCount,
        "streams": lib.RngStream,
        "no keys": lib.Not(lib.RngKey),
        "path of a key": lib.PathContains("key"),
    }


def calls(lib: Any) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return the function and the keywords of each way to split."""
    splits = {f"splits={n}": {"splits": n} for n in (1, 3, 0, (), (2, 3))}
    squeezed = {f"squeeze {n}": {"splits": n, "squeeze": True} for n in (1, 2, 0, (1,), (1, 1))}
    only = {f"only {name}": {"splits": 4, "only": one} for name, one in filters(lib).items()}
    shapes = (2, (2, 3), {"params": 2}, {"params": None}, {"params": 2, "dropout": (3, 1)})
    forks: dict[str, Any] = {f"fork {n}": {"split": n} for n in shapes}
    chosen = {f"fork {name}": {"split": {one: None}} for name, one in filters(lib).items()}
    return {
        **{name: ("split_rngs", keywords) for name, keywords in (splits | squeezed | only).items()},
        **{
            name: ("fork_rngs", keywords)
            for name, keywords in ({"fork": {}} | forks | chosen).items()
        },
    }


every_call = pytest.mark.parametrize("call", calls(nnx))


def drawn_from(lib: Any) -> Any:
    rngs = two_streams(lib)
    rngs.params()
    return rngs


def in_place(lib: Any, split: Any) -> Any:
    rngs = drawn_from(lib)
    backups = split(rngs)
    inside, kept = describe(rngs), [(stream.tag, *map(describe, rest)) for stream, *rest in backups]
    rngs.params.count[...] += 5
    return (
        type(backups).__name__,
        inside,
        kept,
        functions(lib).restore_rngs(backups),
        describe(rngs),
    )


def as_a_context(lib: Any, split: Any) -> Any:
    rngs = drawn_from(lib)
    with split(rngs) as backups:
        inside = describe(rngs)
        rngs.params.count[...] += 5
    return type(backups).__name__, len(list(backups)), inside, describe(rngs)


def as_a_decorator(lib: Any, split: Any) -> Any:
    rngs, more = drawn_from(lib), two_streams(lib)

    def function(inside: Any, number: int, *, other: Any) -> Any:
        """Look at the streams."""
        return inside is rngs, describe(inside), describe(other), number

    decorated = split()(function)
    return decorated(rngs, 7, other=more), decorated.__doc__, describe(rngs), describe(more)


def as_a_copy(lib: Any, split: Any) -> Any:
    rngs = drawn_from(lib)
    copied = split(rngs)
    kept = [
        (one is other, one.key is other.key, one.count is other.count)
        for (_, one), (_, other) in zip(copied.items(), rngs.items(), strict=True)
    ]
    return type(copied).__name__, copied is rngs, kept, describe(copied), describe(rngs)


def assert_as_in_flax(call: str, way: Callable[[Any, Any], Any], mode: dict[str, Any]) -> None:
    def run(lib: Any) -> Any:
        name, keywords = calls(lib)[call]
        return way(lib, functools.partial(getattr(functions(lib), name), **keywords, **mode))

    theirs, ours = (outcome(run, lib) for lib in (flax_nnx, nnx))
    if isinstance(theirs, Failed):
        assert isinstance(ours, Failed)
        assert theirs.kinds <= ours.kinds
    else:
        assert ours == theirs


@every_call
def test_streams_are_split_and_restored_as_in_flax(call):
    assert_as_in_flax(call, in_place, {})


@pytest.mark.parametrize("call", ["splits=3", "only one tag", "fork"])
def test_a_context_restores_on_the_way_out_as_in_flax(call):
    assert_as_in_flax(call, as_a_context, {})


@every_call
@all_modes
def test_a_decorated_function_gets_the_streams_of_flax(call, mode):
    assert_as_in_flax(call, as_a_decorator, mode)


@every_call
@copies
def test_without_graph_updates_the_copy_is_that_of_flax(call, mode):
    assert_as_in_flax(call, as_a_copy, mode)


# -- what that table does not say ------------------------------------------------------------------


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
def test_a_filter_sees_the_paths_of_both_variables(lib):
    seen = []

    def record(path: Any, value: Any) -> bool:
        seen.append((path, type(value).__name__))
        return True

    functions(lib).split_rngs({"x": lib.Rngs(params=0)}, splits=2, only=record)
    assert seen == [(("x", "params", "key"), "RngKey"), (("x", "params", "count"), "RngCount")]


@both
def test_streams_that_are_split_already_cannot_be_split(lib):
    rngs = two_streams(lib)
    functions(lib).split_rngs(rngs, splits=2)
    with pytest.raises(ValueError, match=r"\(2,\)"):
        functions(lib).split_rngs(rngs, splits=2)
    assert shapes(rngs) == {"params": (2,), "dropout": (2,)}


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
def test_graph_false_refuses_shared_streams(lib):
    rngs = two_streams(lib)
    with pytest.raises(ValueError, match="Duplicate"):
        functions(lib).split_rngs({"a": rngs.params, "b": rngs.params}, splits=2, graph=False)
    assert functions(lib).split_rngs([rngs, rngs], splits=2, graph_updates=False)[0] is not rngs


@both
@copies
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
    assert len(functions(lib).backup_keys([rngs, rngs.params])) == 2
