"""Random streams split or forked for a while: `split_rngs` and `fork_rngs`.

With graph updates the streams themselves change, and a `SplitBackups` puts them back. Without
(``graph=False`` or ``graph_updates=False``) a copy with new streams takes the place of the object.
"""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypeVar, cast, overload

import jax
import jax.numpy as jnp

from typed_nnx._core.filters import Filter, Predicate, to_predicate
from typed_nnx._core.nodes import LEAF, STATIC, kind_of
from typed_nnx._core.nodes import iter_graph as walk_graph
from typed_nnx._core.paths import Node, Path
from typed_nnx._core.pytree import Pytree
from typed_nnx._core.rngs import (
    KeyShape,
    KeyShapes,
    Rngs,
    RngStream,
    RngValue,
    ShapeRules,
    not_key_shapes,
)
from typed_nnx._core.settings import MISSING
from typed_nnx._graph.mode import require_tree, resolve_modes
from typed_nnx._graph.walk import recursive_map
from typed_nnx.errors import ArgumentError, ArgumentTypeError
from typed_nnx.errors._base_error import listed

A = TypeVar("A")

StreamPath: TypeAlias = Path
"""Where a stream is."""

ReseedFunction: TypeAlias = Callable[[StreamPath, jax.Array, tuple[int, ...]], jax.Array]
"""Gets path, a single new key and the shape of the old keys; returns the keys of the stream."""

ReseedPolicy: TypeAlias = Literal["scalars_only", "match_shape"] | ReseedFunction

StreamBackup: TypeAlias = tuple[RngStream, jax.Array] | tuple[RngStream, jax.Array, jax.Array]
"""A stream and the key that it had, with or without the count that it had."""

KeyRule: TypeAlias = Callable[[StreamPath, RngStream], jax.Array | None]
"""Returns the new keys of a stream, drawn from it or not; None for one that stays as it is."""

F = TypeVar("F", bound=Callable[..., Any])  # Any: a function of any arguments

StreamHolder: TypeAlias = Pytree | list[Any] | tuple[Any, ...] | Mapping[Any, Any] | None
"""An object, or a nest of objects of any class (hence `Any`), as against a function."""


@jax.tree_util.register_dataclass
@dataclass(frozen=True, eq=False)
class SplitBackups(Iterable[StreamBackup]):
    """What random streams were before a split or fork; as a context manager it restores them.

    Attributes:
        backups: The streams with their keys and counts, in the order of the walk.
    """

    backups: list[StreamBackup]

    def __iter__(self) -> Iterator[StreamBackup]:
        return iter(self.backups)

    def __enter__(self) -> SplitBackups:
        return self

    def __exit__(self, *_: object) -> None:
        restore_rngs(self)


def backup_keys(node: object, /, *, graph: bool | None = None) -> list[StreamBackup]:
    """Return the random streams inside an object, each with its key, for `restore_rngs`.

    Counts are not saved: restoring does not change the count of a stream.

    Args:
        node: An object with random streams, or a nest of such objects.
        graph: False asserts that `node` is a tree, without shared references.

    Raises:
        SharedReferenceError: ``graph=False``, and an object is reached on two paths.
    """
    require_tree("backup_keys", node, graph)
    return [(stream, stream.key[...]) for _, stream in streams_of(node)]


def restore_rngs(backups: Iterable[StreamBackup], /) -> None:
    """Put random streams back to the keys, and counts where there are any, of their backups.

    Args:
        backups: What `split_rngs`, `fork_rngs` or `backup_keys` returned.
    """
    for stream, key, *count in backups:
        stream.key.set_value(key)
        if count:
            stream.count.set_value(count[0])


def streams_of(node: object) -> list[tuple[StreamPath, RngStream]]:
    """Return the random streams inside an object and their paths, each stream once."""
    found = walk_graph(node)
    return [(path, stream) for path, stream in found if isinstance(stream, RngStream)]


backup_rngs = backup_keys
"""The name that goes with `restore_rngs`; flax calls it ``rnglib.backup_keys``."""


# -- the engine: new keys for the streams that a rule takes, in place or in a copy ------------------


def _new_keys(
    node: object, rule: KeyRule
) -> tuple[list[StreamBackup], dict[StreamPath, jax.Array]]:
    """Return the new keys of streams by path, and the backups of these streams.

    After an error every stream is as it was.
    """
    before: list[tuple[RngStream, jax.Array, jax.Array]] = []
    keys: dict[StreamPath, jax.Array] = {}
    try:
        for path, stream in streams_of(node):
            before.append((stream, stream.key[...], stream.count[...]))
            new = rule(path, stream)
            if new is None:
                before.pop()
            else:
                keys[path] = new
    except BaseException:
        restore_rngs([each for each in before if each[0].count[...] is not each[2]])
        raise
    return [(stream, key, stream.count[...]) for stream, key, _ in before], keys


def _in_place(node: object, rule: KeyRule) -> SplitBackups:
    """Give streams their new keys; they start counting again."""
    backups, new = _new_keys(node, rule)
    for (stream, *_), keys in zip(backups, new.values(), strict=True):
        # Not `[...] = `: the shape may be another one.
        stream.key.set_value(keys)
        stream.count.set_value(jnp.zeros(keys.shape, jnp.uint32))
    return SplitBackups(backups)


def _in_copy(node: A, rule: KeyRule, graph: bool | None) -> A:
    """Return a copy that has new streams, and shares all other Variables."""
    _, new = _new_keys(node, rule)

    def change(path: StreamPath, value: object) -> object:
        if path in new and isinstance(value, RngStream):
            return type(value)(new[path], tag=value.tag)
        return value

    copy: A = recursive_map(change, node, graph=graph)
    return copy


def _around(call: F, renew: Callable[[Node], Any]) -> F:
    """Return a function whose arguments have new streams while it runs."""

    @functools.wraps(call)
    def wrapper(*args: object, **kwargs: object) -> object:
        new = renew((args, kwargs))
        if isinstance(new, SplitBackups):
            with new:
                return call(*args, **kwargs)
        args, kwargs = new
        return call(*args, **kwargs)

    return cast("F", wrapper)


def _renewed(
    function: str, target: Any, rule: KeyRule, graph: bool | None, graph_updates: bool | None
) -> Any:
    """Renew the streams of an object, or return a decorator, or a function that is decorated."""
    graph, updates = resolve_modes(graph, graph_updates)

    def renew(node: object) -> object:
        if updates:
            return _in_place(node, rule)
        require_tree(function, node, graph)
        return _in_copy(node, rule, graph)

    if target is MISSING:
        return lambda call: _around(call, renew)
    # Models are callable too, and hold streams; a function holds none.
    is_function = callable(target) and kind_of(target) in (LEAF, STATIC)
    return _around(target, renew) if is_function else renew(target)


# -- reseed and with_rngs ---------------------------------------------------------------------------


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
        policy: What to do with a stream that has an array of keys. ``"scalars_only"`` refuses it,
            ``"match_shape"`` splits the new key to the shape of the old ones; a function gets path,
            new key and old shape and returns the keys.
        **stream_keys: New seed or key by name of stream. Other streams stay as they are.

    Raises:
        ArgumentError: `policy` is unknown, or a stream has an array of keys under the policy
            ``"scalars_only"``, or one of `stream_keys` is neither an int, a PRNG key nor a stream.
    """
    new_keys = _reseed_function(policy)
    seeds = Rngs(**stream_keys)
    require_tree("iter_graph", node, graph)

    def rule(path: StreamPath, stream: RngStream) -> jax.Array | None:
        if stream.tag not in stream_keys:
            return None
        return new_keys(path, seeds[stream.tag](), stream.key.shape)

    _in_place(node, rule)


def _reseed_function(policy: ReseedPolicy) -> ReseedFunction:
    if policy == "scalars_only":
        return _scalars_only
    if policy == "match_shape":
        return _match_shape
    if callable(policy):
        return policy
    raise ArgumentError(
        "reseed",
        f"argument `policy` is {policy!r}; expected 'scalars_only', 'match_shape' or a function of "
        "path, key and shape that returns a key.",
        "reseed(node, policy='match_shape', ...)",
    )


def _scalars_only(path: StreamPath, key: jax.Array, shape: tuple[int, ...]) -> jax.Array:
    if shape:
        raise ArgumentError(
            "reseed",
            f"the stream at path {path!r} holds keys of shape {shape}; the policy 'scalars_only' "
            "expects single keys.",
            "reseed(node, policy='match_shape', ...) if all its keys shall differ, or a policy of "
            "your own.",
        )
    return key


def _match_shape(path: StreamPath, key: jax.Array, shape: tuple[int, ...]) -> jax.Array:
    del path
    return jax.random.split(key, shape) if shape else key


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
    node: object = MISSING,  # Any: a function or an object of any class, told apart at run time
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
        ArgumentTypeError: `split` or `broadcast` is neither a shape nor a mapping.
        ArgumentError: Filters of two of the three match a stream.
        KeyShapeError: A stream to be changed holds an array of keys.
    """
    rule = _rule_of_three(split=split, fork=fork, broadcast=broadcast, only=only)

    def renew(target: object) -> Any:
        return _in_copy(target, rule, graph)

    def decorate(target: object) -> Any:
        # Models are callable too, so only functions and methods are taken as functions.
        return _around(target, renew) if inspect.isroutine(target) else renew(target)

    return decorate if node is MISSING else decorate(node)


def _rule_of_three(
    *, split: KeyShapes | None, fork: Filter, broadcast: KeyShapes | None, only: Filter
) -> KeyRule:
    splits = ShapeRules("with_rngs", "split", split)
    broadcasts = ShapeRules("with_rngs", "broadcast", broadcast)
    every_fork = fork if isinstance(fork, Sequence) and not isinstance(fork, str) else [fork]
    forks = [(filter_, to_predicate(filter_)) for filter_ in every_fork]
    allowed = to_predicate(only)

    def rule(path: StreamPath, stream: RngStream) -> jax.Array | None:
        if not allowed(path, stream):
            return None
        split_by, count = splits.rule_of(stream, path)
        broadcast_by, repeats = broadcasts.rule_of(stream, path)
        fork_by = next((given for given, matches in forks if matches(path, stream)), None)
        rules = {
            "split": None if count is None else split_by,
            "broadcast": None if repeats is None else broadcast_by,
            "fork": fork_by,
        }
        chosen = {
            n: f for n, f in rules.items() if f is not None and f is not ... and f is not True
        }
        if len(chosen) > 1:
            raise ArgumentError(
                "with_rngs",
                f"RngStream at path {path!r} matches multiple rules:"
                + listed([f"{rule}: {given!r}" for rule, given in chosen.items()]),
                "let one of `split`, `broadcast` and `fork` match it, or `...` in the others",
            )
        if count is not None:
            return jax.random.split(stream(), count)
        if repeats is not None:
            return jnp.broadcast_to(stream(), (repeats,) if isinstance(repeats, int) else repeats)
        return None if fork_by is None else stream()

    return rule


# -- split_rngs and fork_rngs ----------------------------------------------------------------------


@overload
def split_rngs(
    node: A,
    /,
    *,
    splits: KeyShape,
    only: Filter = ...,
    squeeze: bool = ...,
    graph: Literal[False],
    graph_updates: bool | None = ...,
) -> A: ...
@overload
def split_rngs(
    node: A,
    /,
    *,
    splits: KeyShape,
    only: Filter = ...,
    squeeze: bool = ...,
    graph: bool | None = ...,
    graph_updates: Literal[False],
) -> A: ...
@overload
def split_rngs(
    node: StreamHolder,
    /,
    *,
    splits: KeyShape,
    only: Filter = ...,
    squeeze: bool = ...,
    graph: Literal[True] | None = ...,
    graph_updates: Literal[True] | None = ...,
) -> SplitBackups: ...
@overload
def split_rngs(
    node: F,
    /,
    *,
    splits: KeyShape,
    only: Filter = ...,
    squeeze: bool = ...,
    graph: Literal[True] | None = ...,
    graph_updates: Literal[True] | None = ...,
) -> F: ...
@overload
def split_rngs(
    *,
    splits: KeyShape,
    only: Filter = ...,
    squeeze: bool = ...,
    graph: bool | None = ...,
    graph_updates: bool | None = ...,
) -> Callable[[F], F]: ...
def split_rngs(
    node: object = MISSING,  # Any: a function or an object of any class, told apart at run time
    /,
    *,
    splits: KeyShape,
    only: Filter = ...,
    squeeze: bool = False,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Any:
    """Replace the keys of random streams by arrays of keys, split from the next key.

    With a function it works as a decorator. With graph updates the streams of `node` change in place
    and their backups are returned: a context manager that restores them, with the one draw counted.
    Without, a copy of `node` with new streams is returned, which shares all other Variables with it.

    >>> from typed_nnx import Rngs
    >>> rngs = Rngs(params=0, dropout=1)
    >>> with split_rngs(rngs, splits=3, only="params"):
    ...     rngs.params.key.shape, rngs.dropout.key.shape
    ((3,), ())
    >>> rngs.params.key.shape, int(rngs.params.count[...])
    ((), 1)

    Args:
        node: An object, a nest of objects, or a function: its arguments are then split at each
            call. Without it, a decorator is returned.
        splits: How many keys each stream gets: a count or a shape.
        only: Filter of the streams that are split; it must match both Variables of a stream.
        squeeze: Take the axis of a single split away: each stream gets one new key.
        graph: False asserts that `node` is a tree, without shared references.
        graph_updates: Whether the streams change in place; the default is that of the decoration.

    Raises:
        ArgumentTypeError: `splits` is neither an int nor a tuple of ints.
        ArgumentError: `squeeze` is set and `splits` is not 1.
        KeyShapeError: A stream to be split holds an array of keys already.
        SharedReferenceError: ``graph=False``, and an object is reached on two paths.
    """
    if squeeze and splits != 1:
        raise ArgumentError(
            "split_rngs",
            f"squeeze=True is only supported for splits=1, got splits={splits!r}; only an axis of "
            "one split can be removed.",
            "split_rngs(..., splits=1, squeeze=True), or leave out `squeeze`",
        )
    matches = to_predicate(only)
    shape = _shape("split_rngs", "splits", splits)

    def rule(path: StreamPath, stream: RngStream) -> jax.Array | None:
        if not _takes(matches, path, stream):
            return None
        keys = jax.random.split(stream(), shape)
        return keys[0] if squeeze else keys

    return _renewed("split_rngs", node, rule, graph, graph_updates)


@overload
def fork_rngs(
    node: A,
    /,
    *,
    split: KeyShapes | None = ...,
    graph: Literal[False],
    graph_updates: bool | None = ...,
) -> A: ...
@overload
def fork_rngs(
    node: A,
    /,
    *,
    split: KeyShapes | None = ...,
    graph: bool | None = ...,
    graph_updates: Literal[False],
) -> A: ...
@overload
def fork_rngs(
    node: StreamHolder,
    /,
    *,
    split: KeyShapes | None = ...,
    graph: Literal[True] | None = ...,
    graph_updates: Literal[True] | None = ...,
) -> SplitBackups: ...
@overload
def fork_rngs(
    node: F,
    /,
    *,
    split: KeyShapes | None = ...,
    graph: Literal[True] | None = ...,
    graph_updates: Literal[True] | None = ...,
) -> F: ...
@overload
def fork_rngs(
    *, split: KeyShapes | None = ..., graph: bool | None = ..., graph_updates: bool | None = ...
) -> Callable[[F], F]: ...
def fork_rngs(
    node: object = MISSING,  # Any: a function or an object of any class, told apart at run time
    /,
    *,
    split: KeyShapes | None = None,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Any:
    """Fork random streams: each continues from its next key with a new count.

    Draws inside do not advance the streams outside. With a function it works as a decorator. With
    graph updates the streams of `node` change in place and their backups are returned, a context
    manager; without, a copy of `node` with new streams is returned.

    >>> from typed_nnx import Rngs
    >>> rngs = Rngs(params=0)
    >>> with fork_rngs(rngs):
    ...     keys = [rngs.params() for _ in range(5)]
    >>> int(rngs.params.count[...])
    1

    Args:
        node: An object, a nest of objects, or a function: its arguments are then forked at each
            call. Without it, a decorator is returned.
        split: How many keys the streams get: a shape for all; or a mapping from filters, of which
            the first that matches both Variables of a stream holds, to a shape or to None for a single key. Streams
            that no filter matches stay as they are.
        graph: False asserts that `node` is a tree, without shared references.
        graph_updates: Whether the streams change in place; the default is that of the decoration.

    Raises:
        ArgumentTypeError: `split` is neither a shape nor a mapping, or a value of the mapping is
            neither a shape nor None.
        KeyShapeError: A stream to be forked holds an array of keys.
        SharedReferenceError: ``graph=False``, and an object is reached on two paths.
    """
    return _renewed("fork_rngs", node, _fork_rule(split), graph, graph_updates)


def _fork_rule(split: KeyShapes | None) -> KeyRule:
    if isinstance(split, Mapping):
        named = [(f"split[{given!r}]", given, shape) for given, shape in split.items()]
    elif split is None or isinstance(split, int | tuple):
        named = [("split", ..., split)]
    else:
        raise not_key_shapes("fork_rngs", "split", split)
    rules = [
        (to_predicate(given), None if shape is None else _shape("fork_rngs", name, shape))
        for name, given, shape in named
    ]

    def rule(path: StreamPath, stream: RngStream) -> jax.Array | None:
        for matches, shape in rules:
            if _takes(matches, path, stream):
                return stream() if shape is None else jax.random.split(stream(), shape)
        return None

    return rule


def _takes(matches: Predicate, path: StreamPath, stream: RngStream) -> bool:
    """Whether a filter matches both Variables of a stream: they only make sense together."""
    return matches((*path, "key"), stream.key) and matches((*path, "count"), stream.count)


def _shape(function: str, argument: str, shape: KeyShape) -> tuple[int, ...]:
    # A list of sizes passes too, as in flax; the type says tuple.
    sizes: Any = shape
    try:
        if isinstance(shape, Mapping):
            raise TypeError  # its keys would pass as sizes
        count = (
            (operator.index(sizes),)
            if hasattr(sizes, "__index__")
            else tuple(map(operator.index, sizes))
        )
    except TypeError:
        raise _not_a_shape(function, argument, shape) from None
    if any(size < 0 for size in count):
        raise _not_a_shape(function, argument, shape)
    return count


def _not_a_shape(function: str, argument: str, got: object) -> ArgumentTypeError:
    option, _, filter_ = argument.partition("[")
    example = f"{option}={{{filter_[:-1]}: 4}}" if filter_ else f"{option}=4"
    return ArgumentTypeError.of_argument(
        function,
        argument,
        got,
        "how many keys each stream gets: an int of 0 or more, or a tuple of them",
        f"{function}(..., {example})",
    )
