"""What is done with random streams in both libraries, and how the results are compared."""

from __future__ import annotations

import typing as tp
import warnings

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx as flax_nnx

from typed_nnx import Rngs, RngStream

Library: tp.TypeAlias = tp.Any
"""typed_nnx or flax.nnx."""


def key_data(key: jax.Array) -> list[object]:
    """A key as numbers that can be compared."""
    return np.asarray(jax.random.key_data(key)).tolist()


def describe(value: tp.Any) -> tp.Any:
    """Streams, sets of streams and keys of either library as plain comparable values."""
    if isinstance(value, Rngs | flax_nnx.Rngs):
        return [(name, describe(stream)) for name, stream in value.items()]
    if isinstance(value, RngStream | flax_nnx.RngStream):
        key, count = value.key, value.count
        return (
            (value.tag, key.tag, count.tag),
            (key_data(key[...]), str(key[...].dtype)),
            (np.asarray(count[...]).tolist(), str(count[...].dtype)),
        )
    if isinstance(value, jax.Array) and jnp.issubdtype(value.dtype, jax.dtypes.prng_key):
        return key_data(value)
    if isinstance(value, tuple | list):
        return [describe(item) for item in value]
    return value


class Failed(tp.NamedTuple):
    """The builtin exceptions that an error of a scenario is one of."""

    kinds: frozenset[type]


def outcome(scenario: tp.Callable[[Library], tp.Any], library: Library) -> tp.Any:
    """What a scenario gives with one library, described, or how it fails."""
    with warnings.catch_warnings():
        # `fork(split=...)` is deprecated in both; one test looks at the warning.
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            return describe(scenario(library))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            kinds = {AttributeError, KeyError, TypeError, ValueError}
            return Failed(frozenset(kinds.intersection(type(error).__mro__)))


def keys(count: int) -> jax.Array:
    """An array of keys."""
    return jax.random.split(jax.random.key(7), count)


def drawn(make: tp.Callable[[Library], tp.Any], *draws: str) -> tp.Callable[[Library], tp.Any]:
    """A scenario: make streams, draw from some of them, then look at keys and streams."""

    def scenario(library: Library) -> tp.Any:
        rngs = make(library)
        return [[rngs[name]() for name in draws], rngs]

    return scenario


def three(library: Library) -> tp.Any:
    """Three streams, `params` drawn from twice."""
    rngs = library.Rngs(0, params=1, dropout=jax.random.key(2))
    rngs.params(), rngs.params()
    return rngs


def renewed(change: tp.Callable[[tp.Any], tp.Any]) -> tp.Callable[[Library], tp.Any]:
    """A scenario: what a method returns for three streams, and what it leaves behind."""

    def scenario(library: Library) -> tp.Any:
        rngs = three(library)
        return [change(rngs), rngs]

    return scenario


def renewed_stream(change: tp.Callable[[tp.Any], tp.Any]) -> tp.Callable[[Library], tp.Any]:
    """A scenario: what a method returns for one stream, and what it leaves behind."""

    def scenario(library: Library) -> tp.Any:
        stream = library.RngStream(5, tag="noise")
        stream()
        return [change(stream), stream]

    return scenario


def of_first_stream(path: tuple[object, ...], value: tp.Any) -> bool:
    """A filter that is a function; streams have no path."""
    return path == () and value.tag == "params"


MADE = {
    "int": lambda lib: lib.Rngs(0),
    "negative_int": lambda lib: lib.Rngs(-1),
    "bool": lambda lib: lib.Rngs(True),
    "nothing": lambda lib: lib.Rngs(),
    "default_by_name": lambda lib: lib.Rngs(default=3),
    "int_and_key": lambda lib: lib.Rngs(params=0, dropout=jax.random.key(1)),
    "default_and_names": lambda lib: lib.Rngs(0, params=1, dropout=2),
    "mapping": lambda lib: lib.Rngs({"params": 0, "default": 1, "dropout": 2}),
    "mapping_and_names": lambda lib: lib.Rngs({"params": 0, "a": 1}, dropout=2, params=3),
    "empty_mapping": lambda lib: lib.Rngs({}),
    "typed_key": lambda lib: lib.Rngs(jax.random.key(4)),
    "typed_keys": lambda lib: lib.Rngs(keys(3)),
    "rbg_key": lambda lib: lib.Rngs(jax.random.key(4, impl="rbg")),
    "legacy_key": lambda lib: lib.Rngs(jax.random.PRNGKey(4)),
    "legacy_keys": lambda lib: lib.Rngs(jnp.arange(6, dtype=jnp.uint32).reshape(3, 2)),
    "legacy_key_by_name": lambda lib: lib.Rngs(params=jax.random.PRNGKey(4)),
    "stream": lambda lib: lib.Rngs(lib.RngStream(5, tag="noise")),
    "stream_by_name": lambda lib: lib.Rngs(params=lib.RngStream(5, tag="noise")),
    "stream_in_mapping": lambda lib: lib.Rngs({"params": lib.RngStream(5, tag="noise")}),
    "stream_drawn_from": lambda lib: lib.Rngs(params=three(lib).params),
    "name_of_a_method": lambda lib: lib.Rngs(fork=1, normal=2, items=3),
    "float": lambda lib: lib.Rngs(1.5),
    "string": lambda lib: lib.Rngs("0"),
    "list": lambda lib: lib.Rngs([1, 2]),
    "none_by_name": lambda lib: lib.Rngs(params=None),
    "none_in_mapping": lambda lib: lib.Rngs({"params": None}),
    "numpy_int": lambda lib: lib.Rngs(np.int32(3)),
    "numpy_legacy_key": lambda lib: lib.Rngs(np.array([0, 3], np.uint32)),
    "int_array": lambda lib: lib.Rngs(jnp.array(3)),
    "float_array": lambda lib: lib.Rngs(jnp.float32(3)),
    "key_variable": lambda lib: lib.Rngs(lib.RngStream(0, tag="a").key),
    "stream_alone": lambda lib: lib.RngStream(3, tag="noise"),
    "stream_without_tag": lambda lib: lib.RngStream(3),
    "stream_with_positional_tag": lambda lib: lib.RngStream(3, "noise"),
}

DRAWS = {
    "default": drawn(lambda lib: lib.Rngs(0), "default", "default"),
    "by_name": drawn(lambda lib: lib.Rngs(0, params=1), "params", "default", "params"),
    "unknown_is_default": drawn(lambda lib: lib.Rngs(0, params=1), "dropout", "noise", "default"),
    "item_that_is_unknown": drawn(lambda lib: lib.Rngs(params=1), "dropout"),
    "rbg": drawn(lambda lib: lib.Rngs(jax.random.key(0, impl="rbg")), "default", "default"),
    "legacy": drawn(lambda lib: lib.Rngs(jax.random.PRNGKey(3)), "default", "default"),
    "array_of_keys": drawn(lambda lib: lib.Rngs(keys(3)), "default"),
    "call": lambda lib: [lib.Rngs(0)(), lib.Rngs(0, params=1)()],
    "call_without_default": lambda lib: lib.Rngs(params=1)(),
    "attribute": lambda lib: [lib.Rngs(0).params(), lib.Rngs(0).next(), lib.Rngs(0, a=1).a()],
    "attribute_that_is_unknown": lambda lib: lib.Rngs(params=1).dropout,
    "special_attribute": lambda lib: lib.Rngs(0).__array_interface__,
    "sampler_without_default": lambda lib: lib.Rngs(params=1).normal((2,)),
    "names": lambda lib: [list(three(lib)), len(three(lib)), len(lib.Rngs()), list(lib.Rngs())],
    "contains": lambda lib: [n in three(lib) for n in ("params", "default", "noise", "fork", 0)],
    "added_later": lambda lib: with_extra_stream(lib),
    "added_later_forked": lambda lib: with_extra_stream(lib).fork(),
    "added_later_split_by_tag": lambda lib: with_extra_stream(lib).split({"noise": 2}),
    "added_later_split_by_name": lambda lib: with_extra_stream(lib).split({"extra": 2}),
}


def with_extra_stream(lib: Library) -> tp.Any:
    """A stream whose attribute and tag differ, beside an attribute that is no stream."""
    rngs = lib.Rngs(0, params=1)
    rngs.extra = lib.RngStream(4, tag="noise")
    rngs.size = 3
    return rngs


RENEWED = {
    "fork": lambda rngs: rngs.fork(),
    "fork_none": lambda rngs: rngs.fork(split=None),
    "fork_split_int": lambda rngs: rngs.fork(split=2),
    "fork_split_one": lambda rngs: rngs.fork(split=1),
    "fork_split_tuple": lambda rngs: rngs.fork(split=(2, 3)),
    "fork_split_empty_tuple": lambda rngs: rngs.fork(split=()),
    "fork_split_empty_mapping": lambda rngs: rngs.fork(split={}),
    "fork_split_one_stream": lambda rngs: rngs.fork(split={"params": 2}),
    "fork_split_mapping": lambda rngs: rngs.fork(split={"params": 2, ...: (3, 1)}),
    "fork_split_none_in_mapping": lambda rngs: rngs.fork(split={"params": None, ...: 3}),
    "fork_split_first_filter_holds": lambda rngs: rngs.fork(split={...: 2, "params": 3}),
    "fork_split_or": lambda rngs: rngs.fork(split={("params", "dropout"): 2}),
    "fork_split_function": lambda rngs: rngs.fork(split={of_first_stream: 2}),
    "fork_split_nothing": lambda rngs: rngs.fork(split={False: 2}),
    "fork_positional": lambda rngs: rngs.fork(2),
    "fork_twice": lambda rngs: [rngs.fork(), rngs.fork().fork()],
    "fork_of_keys": lambda rngs: rngs.split(2).fork(),
    "split_int": lambda rngs: rngs.split(2),
    "split_zero": lambda rngs: rngs.split(0),
    "split_tuple": lambda rngs: rngs.split((2, 3)),
    "split_mapping": lambda rngs: rngs.split({"params": 2}),
    "split_mapping_none": lambda rngs: rngs.split({"params": 2, ...: None}),
    "split_mapping_shapes": lambda rngs: rngs.split({"params": (2, 2), ...: 3}),
    "split_of_keys": lambda rngs: rngs.split(2).split(3),
    "split_without_argument": lambda rngs: rngs.split(),
    "broadcast_int": lambda rngs: rngs.broadcast(2),
    "broadcast_tuple": lambda rngs: rngs.broadcast((2, 3)),
    "broadcast_none": lambda rngs: rngs.broadcast(None),
    "broadcast_mapping": lambda rngs: rngs.broadcast({"dropout": 2}),
    "broadcast_mapping_none": lambda rngs: rngs.broadcast({"dropout": 2, ...: None}),
}

RENEWED_STREAM = {
    "fork": lambda stream: stream.fork(),
    "fork_split": lambda stream: stream.fork(split=2),
    "fork_split_tuple": lambda stream: stream.fork(split=(2, 3)),
    "split": lambda stream: stream.split(3),
    "split_tuple": lambda stream: stream.split((2, 3)),
    "split_empty": lambda stream: stream.split(()),
    "broadcast": lambda stream: stream.broadcast(3),
    "broadcast_tuple": lambda stream: stream.broadcast((2, 3)),
    "broadcast_none": lambda stream: stream.broadcast(None),
}

SCENARIOS = {
    **{f"make_{name}": scenario for name, scenario in MADE.items()},
    **{f"draw_{name}": scenario for name, scenario in DRAWS.items()},
    **{f"rngs_{name}": renewed(change) for name, change in RENEWED.items()},
    **{f"stream_{name}": renewed_stream(change) for name, change in RENEWED_STREAM.items()},
}
