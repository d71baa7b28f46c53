"""`reseed` and `with_rngs`, compared with flax.nnx in the same process."""

from __future__ import annotations

import typing as tp

import jax
import pytest
from flax import nnx as flax_nnx

import typed_nnx as nnx
from tests.core.libraries import both
from tests.core.rngs_scenarios import describe
from typed_nnx.errors import ArgumentError


def with_rngs(lib: tp.Any, *args: tp.Any, **kwargs: tp.Any) -> tp.Any:
    """The oracle refuses its own default of `graph_updates`."""
    fixed = {"graph_updates": False} if lib is flax_nnx else {}
    return lib.with_rngs(*args, **fixed, **kwargs)


def model(lib: tp.Any) -> tp.Any:
    """An object with a set of streams, two further `dropout` streams and a parameter."""
    base: tp.Any = lib.Pytree

    class Layer(base):
        def __init__(self, rngs: tp.Any) -> None:
            self.noise = rngs.dropout.fork()

    class Model(base):
        def __init__(self) -> None:
            self.rngs = lib.Rngs(0, params=1, dropout=2)
            self.weight = lib.Param(jax.numpy.ones(2))
            self.layer = Layer(self.rngs)
            self.again = Layer(self.rngs)

    made = Model()
    made.rngs(), made.rngs.params(), made.layer.noise()
    return made


def streams(lib: tp.Any, node: tp.Any) -> dict[tp.Any, tp.Any]:
    """The streams of an object by path."""
    return {
        path: describe(value)
        for path, value in lib.iter_graph(node)
        if isinstance(value, lib.RngStream)
    }


RESEEDS: dict[str, dict[str, tp.Any]] = {
    "nothing": {},
    "one": {"default": 7},
    "several": {"params": 7, "dropout": jax.random.key(8)},
    "legacy": {"dropout": jax.random.PRNGKey(8)},
    "unknown_stream": {"noise": 7},
    "default_is_no_fallback": {"default": 7, "dropout": 3},
    "match_shape": {"policy": "match_shape", "default": 3, "dropout": 4},
    "function": {
        "policy": lambda path, key, shape: jax.random.fold_in(key, len(path)),
        "dropout": 1,
    },
    "as_tree": {"graph": False, "dropout": 3},
}


@pytest.mark.parametrize("keywords", RESEEDS.values(), ids=RESEEDS.keys())
def test_reseeding_gives_the_keys_and_counts_of_flax(keywords: dict[str, tp.Any]) -> None:
    def reseeded(lib: tp.Any) -> tp.Any:
        node = model(lib)
        assert lib.reseed(node, **keywords) is None
        return streams(lib, node)

    assert reseeded(nnx) == reseeded(flax_nnx)


def test_reseeding_from_a_stream_takes_its_key_as_in_flax() -> None:
    def reseeded(lib: tp.Any) -> tp.Any:
        node = model(lib)
        lib.reseed(node, params=lib.RngStream(9, tag="noise"))
        return streams(lib, node)

    assert reseeded(nnx) == reseeded(flax_nnx)


@pytest.mark.parametrize("shape", [(), 3, (2, 3)], ids=["one", "three", "two_by_three"])
def test_reseeding_arrays_of_keys_gives_the_keys_of_flax(shape: tp.Any) -> None:
    def reseeded(lib: tp.Any) -> tp.Any:
        node = lib.Rngs(0, params=1).split({"params": shape})
        lib.reseed(node, policy="match_shape", params=7, default=8)
        return describe(node)

    assert reseeded(nnx) == reseeded(flax_nnx)


def test_a_reseed_function_gets_path_key_and_shape_as_in_flax() -> None:
    def calls(lib: tp.Any) -> list[tp.Any]:
        seen: list[tp.Any] = []

        def policy(path: tp.Any, key: jax.Array, shape: tuple[int, ...]) -> jax.Array:
            seen.append((path, describe(key), shape))
            return jax.random.split(key, 5)

        node = lib.Rngs(0, params=1).split({"params": 2})
        lib.reseed(node, policy=policy, params=7, default=8)
        return [seen, describe(node)]

    assert calls(nnx) == calls(flax_nnx)


def test_streams_in_a_nest_are_reseeded_once_as_in_flax() -> None:
    def reseeded(lib: tp.Any) -> tp.Any:
        rngs = lib.Rngs(0, params=1)
        lib.reseed([rngs, {"again": rngs}, 3], params=7)
        return describe(rngs)

    assert reseeded(nnx) == reseeded(flax_nnx)


def test_a_failed_reseed_leaves_every_stream_as_it_was() -> None:
    rngs = nnx.Rngs(0, params=1).split({"params": 2})
    before = describe(rngs)
    with pytest.raises(ArgumentError) as caught:
        nnx.reseed(rngs, default=3, params=4)
    assert str(caught.value) == (
        "reseed: the stream at path ('params',) holds keys of shape (2,); the policy "
        "'scalars_only' expects single keys.\n"
        "  Fix: reseed(node, policy='match_shape', ...) if all its keys shall differ, or a policy "
        "of your own."
    )
    with pytest.raises(ArgumentError):
        nnx.reseed(rngs, default=3, params="x")  # type: ignore[arg-type]  # the error is the point
    assert describe(rngs) == before


WITH_RNGS: dict[str, dict[str, tp.Any]] = {
    "nothing": {},
    "split": {"split": 2},
    "split_shape": {"split": (2, 1)},
    "split_one": {"split": {"params": 2}},
    "fork_one": {"fork": "params"},
    "fork_all": {"fork": ...},
    "fork_list": {"fork": ["params", "default"]},
    "fork_tuple": {"fork": ("params", "default")},
    "fork_false": {"fork": False},
    "broadcast": {"broadcast": 2},
    "all_three": {"broadcast": {"dropout": 3}, "split": {"params": 2}, "fork": "default"},
    "split_before_broadcast_before_fork": {"split": 2, "broadcast": 3, "fork": True},
    "broadcast_before_fork": {"broadcast": 3, "fork": True},
    "split_the_rest_to_broadcast": {"split": {"params": 2}, "broadcast": {...: 3}},
    "only": {"split": 2, "only": "params"},
    "as_tree": {"split": 2, "graph": False},
}


@pytest.mark.parametrize("keywords", WITH_RNGS.values(), ids=WITH_RNGS.keys())
def test_with_rngs_gives_the_streams_of_flax(keywords: dict[str, tp.Any]) -> None:
    def renewed(lib: tp.Any) -> tp.Any:
        node = model(lib)
        copy = with_rngs(lib, node, **keywords)
        same = [copy is node, copy.rngs is node.rngs, copy.weight is node.weight]
        return same, streams(lib, copy), streams(lib, node)

    assert renewed(nnx) == renewed(flax_nnx)


@pytest.mark.parametrize("keywords", WITH_RNGS.values(), ids=WITH_RNGS.keys())
def test_a_function_with_rngs_gets_the_streams_of_flax(keywords: dict[str, tp.Any]) -> None:
    def called(lib: tp.Any) -> tp.Any:
        @with_rngs(lib, **keywords)
        def function(node: tp.Any, size: int, *, other: tp.Any) -> tp.Any:
            """Look at the streams."""
            return size, streams(lib, node), describe(other)

        node, other = model(lib), lib.Rngs(4)
        result = function(node, 3, other=other)
        return function.__name__, result, streams(lib, node), describe(other)

    assert called(nnx) == called(flax_nnx)


@both
def test_filters_of_with_rngs_see_the_path_of_the_stream(lib: tp.Any) -> None:
    copy = with_rngs(lib, model(lib), split={lib.PathContains("layer"): 2})
    assert copy.layer.noise.key.shape == (2,)
    assert copy.again.noise.key.shape == ()


@both
def test_a_shared_object_is_renewed_once(lib: tp.Any) -> None:
    stream = lib.RngStream(0, tag="noise")
    first, second = with_rngs(lib, [stream, stream], split=2)
    assert first is second
    assert stream.count[...] == 1


@both
def test_objects_in_plain_containers_are_renewed_and_other_values_stay(lib: tp.Any) -> None:
    renewed = with_rngs(lib, {"rngs": lib.Rngs(0), "size": 3}, split=2)
    assert renewed["rngs"].default.key.shape == (2,)
    assert renewed["size"] == 3


@both
def test_what_a_function_does_to_the_structure_of_its_copies_stays_with_them(lib: tp.Any) -> None:
    @with_rngs(lib, split=2)
    def function(node: tp.Any) -> None:
        node.weight[...] = node.weight[...] + 1
        node.extra = 3

    node = model(lib)
    function(node)
    assert node.weight[...].tolist() == [2, 2]
    assert not hasattr(node, "extra")


def test_none_in_a_mapping_passes_the_stream_on_to_the_next_rule() -> None:
    rngs = nnx.with_rngs(nnx.Rngs(0, params=1), split={"params": None, ...: 2}, broadcast=3)
    assert rngs.params.key.shape == (3,)
    assert rngs.default.key.shape == (2,)
