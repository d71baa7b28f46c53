"""Functions that change the random streams inside an object: `reseed` and `with_rngs`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias, TypeVar, overload

import jax
import jax.numpy as jnp

from typed_nnx._core.filters import Filter, to_predicate
from typed_nnx._core.key_shapes import KeyShapes, ShapeRules
from typed_nnx._core.rngs import Rngs, RngStream, RngValue
from typed_nnx._core.unset import UNSET
from typed_nnx._graph.walk import iter_graph, recursive_map
from typed_nnx.errors import AmbiguousStreamError, ReseedPolicyError, ReseedShapeError

A = TypeVar("A")

StreamPath: TypeAlias = tuple[Any, ...]
"""Where a stream is: attribute names, indices and keys of any hashable type (hence `Any`)."""

ReseedFunction: TypeAlias = Callable[[StreamPath, jax.Array, tuple[int, ...]], jax.Array]
"""Gets path, a single new key and the shape of the old keys; returns the keys of the stream."""

ReseedPolicy: TypeAlias = Literal["scalars_only", "match_shape"] | ReseedFunction

StreamChange: TypeAlias = Callable[[StreamPath, object], object]

# Any object, None included, can be an argument of `with_rngs`.


def reseed(
    node: object,
    /,
    *,
    graph: bool | None = None,
    policy: ReseedPolicy = "scalars_only",
    **stream_keys: RngValue | RngStream,
) -> None:
    """Give the random streams inside `node` new keys, in place; they start counting again.

    Streams with the same name get different keys, drawn one after the other from the new seed.

    Args:
        node: An object with random streams, or a nest of such objects.
        graph: False asserts that `node` is a tree, without shared references.
        policy: What becomes of a stream with an array of keys. ``"scalars_only"`` refuses it,
            ``"match_shape"`` splits the new key to the shape of the old ones; a function gets path,
            new key and old shape and returns the keys.
        **stream_keys: New seed or key by name of stream. Other streams stay as they are.

    Raises:
        ReseedPolicyError: `policy` is unknown.
        ReseedShapeError: A stream has an array of keys under the policy ``"scalars_only"``.
        InvalidSeedError: One of `stream_keys` is neither an int, a PRNG key nor a stream.
    """
    new_keys = _reseed_function(policy)
    seeds = Rngs(**stream_keys)
    # All keys first: an error in the middle must leave every stream as it was.
    changes = [
        (stream, new_keys(path, seeds[stream.tag](), stream.key.shape))
        for path, stream in iter_graph(node, graph=graph)
        if isinstance(stream, RngStream) and stream.tag in stream_keys
    ]
    for stream, key in changes:
        # Not `[...] = `: a policy may return another shape.
        stream.key.set_value(key)
        stream.count.set_value(jnp.zeros(key.shape, jnp.uint32))


@overload
def with_rngs(
    node: A,
    /,
    *,
    split: KeyShapes | None = ...,
    fork: Filter = ...,
    broadcast: KeyShapes | None = ...,
    only: Filter = ...,
    graph: bool | None = ...,
    graph_updates: bool | None = ...,
) -> A: ...
@overload
def with_rngs(
    *,
    split: KeyShapes | None = ...,
    fork: Filter = ...,
    broadcast: KeyShapes | None = ...,
    only: Filter = ...,
    graph: bool | None = ...,
    graph_updates: bool | None = ...,
) -> Callable[[A], A]: ...
def with_rngs(
    node: Any = UNSET,  # Any: a function or an object of any class, told apart at run time
    /,
    *,
    split: KeyShapes | None = None,
    fork: Filter = None,
    broadcast: KeyShapes | None = None,
    only: Filter = True,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Any:
    """Return a copy of `node` with new random streams; or let a function get such copies.

    The copy has new objects and the same Variables, except for those of the new streams. Each
    stream is split, else repeated, else forked, by the first of the three that matches it; only
    one of them may do so by another filter than `...`.

    >>> @with_rngs(split={"params": 4}, broadcast={"dropout": 4})
    ... def shapes(rngs):
    ...     return rngs.params.key.shape, rngs.dropout.key.shape, rngs.default.key.shape
    >>> shapes(Rngs(0, params=1, dropout=2))
    ((4,), (4,), ())

    Args:
        node: An object, a nest of objects, or a function: its arguments are then copied at each
            call. Without it, a decorator is returned.
        split: Streams that get different keys, and how many: a shape or a mapping from filters.
        fork: Filters of streams that start from a next key of their own.
        broadcast: Streams that get one key repeated, and how often.
        only: Filter of the streams that may change at all.
        graph: False asserts that `node` is a tree, without shared references.
        graph_updates: Without effect: what a function does to its copies never comes back. flax
            has the parameter, and refuses its own default.

    Raises:
        InvalidRngSplitError: `split` or `broadcast` is neither a shape nor a mapping.
        KeyShapeError: A stream to be changed holds an array of keys.
        AmbiguousStreamError: Filters of two of the three match a stream.
    """
    change = _stream_change(split=split, fork=fork, broadcast=broadcast, only=only)

    def decorate(target: Any) -> Any:
        # Models are callable too, so only functions and methods are taken as functions.
        if not inspect.isroutine(target):
            return recursive_map(change, target, graph=graph)

        @functools.wraps(target)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            new_args, new_kwargs = recursive_map(change, (args, kwargs), graph=graph)
            return target(*new_args, **new_kwargs)

        return wrapper

    return decorate if node is UNSET else decorate(node)


def _stream_change(
    *,
    split: KeyShapes | None,
    fork: Filter,
    broadcast: KeyShapes | None,
    only: Filter,
) -> StreamChange:
    splits = ShapeRules("with_rngs", "split", split)
    broadcasts = ShapeRules("with_rngs", "broadcast", broadcast)
    every_fork = fork if isinstance(fork, Sequence) and not isinstance(fork, str) else [fork]
    forks = [(filter_, to_predicate(filter_)) for filter_ in every_fork]
    allowed = to_predicate(only)

    def change(path: StreamPath, value: object) -> object:
        if not isinstance(value, RngStream) or not allowed(path, value):
            return value
        split_by, count = splits.rule_of(value, path)
        broadcast_by, repeats = broadcasts.rule_of(value, path)
        fork_by = next((given for given, matches in forks if matches(path, value)), None)
        rules = {
            "split": None if count is None else split_by,
            "broadcast": None if repeats is None else broadcast_by,
            "fork": fork_by,
        }
        chosen = {
            n: f for n, f in rules.items() if f is not None and f is not ... and f is not True
        }
        if len(chosen) > 1:
            raise AmbiguousStreamError(path, chosen)
        if count is not None:
            return value.split(count)
        if repeats is not None:
            return value.broadcast(repeats)
        return value if fork_by is None else value.fork()

    return change


def _reseed_function(policy: ReseedPolicy) -> ReseedFunction:
    if policy == "scalars_only":
        return _scalars_only
    if policy == "match_shape":
        return _match_shape
    if callable(policy):
        return policy
    raise ReseedPolicyError(policy)


def _scalars_only(path: StreamPath, key: jax.Array, shape: tuple[int, ...]) -> jax.Array:
    if shape:
        raise ReseedShapeError(path, shape)
    return key


def _match_shape(path: StreamPath, key: jax.Array, shape: tuple[int, ...]) -> jax.Array:
    del path
    return jax.random.split(key, shape) if shape else key
