"""Streams of random keys, compared with flax.nnx in the same process."""

from __future__ import annotations

import copy
import pickle
import typing as tp

import jax
import pytest
from flax import nnx as flax_nnx

import typed_nnx as nnx
from typed_nnx import RngCount, RngKey, Rngs, RngState, RngStream
from typed_nnx.errors import KeyShapeError

from .rngs_scenarios import SCENARIOS, Failed, Library, describe, keys, outcome


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS.keys())
def test_streams_have_the_keys_and_counts_of_flax(scenario: tp.Callable[[Library], tp.Any]) -> None:
    ours, theirs = outcome(scenario, nnx), outcome(scenario, flax_nnx)
    if isinstance(theirs, Failed):
        # A missing stream is an AttributeError or a KeyError in flax and both in ours.
        assert isinstance(ours, Failed)
        assert theirs.kinds <= ours.kinds
    else:
        assert ours == theirs


@pytest.mark.parametrize("seed", [jax.random.key(3), jax.random.PRNGKey(3)], ids=["key", "legacy"])
def test_streams_made_and_drawn_from_inside_jit_have_the_keys_of_flax(seed: jax.Array) -> None:
    def draw(library: Library) -> tp.Any:
        @jax.jit
        def traced(seed: jax.Array) -> tp.Any:
            rngs = library.Rngs(seed, params=seed)
            forked = rngs.fork()
            split = rngs.split({"params": 2})
            keys = (rngs(), rngs.params(), rngs.params(), forked(), split.params.key[...])
            return keys, rngs.params.count[...]

        return traced(seed)

    assert describe(draw(nnx)) == describe(draw(flax_nnx))


def test_a_traced_int_is_no_seed_as_in_flax() -> None:
    for library in (nnx, flax_nnx):
        with pytest.raises(ValueError, match=r"expected"):
            jax.jit(lambda seed, library=library: library.Rngs(seed)())(0)


def test_keys_are_folded_in_from_the_key_and_the_count() -> None:
    rngs = Rngs(params=3)
    expected = [jax.random.fold_in(jax.random.key(3), count) for count in range(3)]
    assert describe([rngs.params() for _ in range(3)]) == describe(expected)
    assert rngs.params.count[...] == 3


def test_variables_of_a_stream_have_the_types_metadata_and_names_of_flax() -> None:
    ours, theirs = Rngs(0).default, flax_nnx.Rngs(0).default
    assert isinstance(ours.key, RngKey)
    assert isinstance(ours.count, RngCount)
    assert issubclass(RngKey, RngState)
    assert issubclass(RngCount, RngState)
    for name in ("key", "count"):
        assert getattr(ours, name).get_metadata("tag") == "default"
        assert getattr(theirs, name).get_metadata("tag") == "default"
    public = {name for name in vars(theirs) if not name.startswith("_")}
    assert {name for name in vars(ours) if not name.startswith("_")} == public


@pytest.mark.parametrize(
    "duplicate",
    [copy.copy, copy.deepcopy, lambda rngs: pickle.loads(pickle.dumps(rngs))],
    ids=["copy", "deepcopy", "pickle"],
)
def test_copies_go_on_with_the_same_keys(duplicate: tp.Callable[[Rngs], Rngs]) -> None:
    rngs = Rngs(0, params=1)
    rngs.params()
    twin = duplicate(rngs)
    assert sorted(describe(twin)) == sorted(describe(rngs))
    assert describe(twin.params()) == describe(jax.random.fold_in(jax.random.key(1), 1))


def test_a_subclass_of_a_stream_keeps_its_class_and_one_of_rngs_does_not_as_in_flax() -> None:
    for library in (nnx, flax_nnx):
        stream_class = type("Stream", (library.RngStream,), {})
        rngs_class = type("Streams", (library.Rngs,), {})
        assert type(stream_class(0, tag="a").fork()) is stream_class
        assert type(rngs_class(0).fork()) is library.Rngs


def test_private_names_are_no_streams() -> None:
    assert not hasattr(Rngs(0), "_repr_html_")
    assert not hasattr(Rngs(0), "__len_hint__")


def test_a_failed_fork_counts_nothing_on_any_stream() -> None:
    rngs = Rngs(params=1, dropout=keys(3))
    for change in (rngs.fork, lambda: rngs.split(2), lambda: rngs.broadcast(2)):
        with pytest.raises(KeyShapeError):
            change()
    assert rngs.params.count[...] == 0
    assert rngs.split({"params": 2}).dropout.key.shape == (3,)


@pytest.mark.parametrize(
    "make", [lambda: Rngs(0), lambda: RngStream(0, tag="a")], ids=["Rngs", "RngStream"]
)
def test_the_split_argument_of_fork_is_deprecated(make: tp.Callable[[], tp.Any]) -> None:
    with pytest.warns(DeprecationWarning, match=r"Fix: rngs.split\(2\)") as caught:
        make().fork(split=2)
    assert caught[0].filename == __file__
