"""Random streams split or forked for a while: `split_rngs` and `fork_rngs`.

With graph updates the streams themselves change, and a `SplitBackups` puts them back. Without
(``graph=False`` or ``graph_updates=False``) a copy with new streams takes the place of the object.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, TypeAlias, TypeVar, cast, overload

import jax
import jax.numpy as jnp

from typed_nnx._core.filters import Filter, Predicate, to_predicate
from typed_nnx._core.key_shapes import KeyShape, KeyShapes
from typed_nnx._core.nodes import LEAF, STATIC, kind_of
from typed_nnx._core.pytree import Pytree
from typed_nnx._core.rngs import RngStream
from typed_nnx._core.unset import UNSET
from typed_nnx._graph.mode import require_tree, resolve_modes
from typed_nnx._graph.walk import recursive_map
from typed_nnx._transforms.rng_backups import (
    SplitBackups,
    StreamBackup,
    StreamPath,
    restore_rngs,
    streams_of,
)
from typed_nnx.errors import InvalidRngSplitError, InvalidSplitsError, SqueezeError

A = TypeVar("A")
F = TypeVar("F", bound=Callable[..., Any])  # Any: a function of any arguments

StreamHolder: TypeAlias = Pytree | list[Any] | tuple[Any, ...] | Mapping[Any, Any] | None
"""An object, or a nest of objects of any class (hence `Any`), as against a function."""

KeyMaker: TypeAlias = Callable[[jax.Array], jax.Array]
"""Makes the new keys of a stream of the next key that it gave."""

KeyRule: TypeAlias = Callable[[StreamPath, RngStream], KeyMaker | None]
"""Says how a stream gets new keys; None for a stream that stays as it is."""


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
    node: Any = UNSET,  # Any: a function or an object of any class, told apart at run time
    /,
    *,
    splits: KeyShape,
    only: Filter = ...,
    squeeze: bool = False,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Any:
    """Give random streams arrays of keys, split from their next key; or do so around a function.

    With graph updates the streams of `node` change in place and their backups are returned: a
    context manager that restores them, with the one draw counted. Without, a copy of `node` with
    new streams is returned, which shares all other Variables with it.

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
        InvalidSplitsError: `splits` is neither an int nor a tuple of ints.
        SqueezeError: `squeeze` is set and `splits` is not 1.
        KeyShapeError: A stream to be split holds an array of keys already.
        SharedReferenceError: ``graph=False``, and an object is reached on two paths.
    """
    if squeeze and splits != 1:
        raise SqueezeError(splits)
    matches = to_predicate(only)
    new_keys = _key_maker("split_rngs", "splits", splits, squeeze=squeeze)

    def rule(path: StreamPath, stream: RngStream) -> KeyMaker | None:
        return new_keys if _takes(matches, path, stream) else None

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
    *,
    split: KeyShapes | None = ...,
    graph: bool | None = ...,
    graph_updates: bool | None = ...,
) -> Callable[[F], F]: ...
def fork_rngs(
    node: Any = UNSET,  # Any: a function or an object of any class, told apart at run time
    /,
    *,
    split: KeyShapes | None = None,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Any:
    """Let random streams go on from their next key, counting anew; or do so around a function.

    What happens inside does not move the streams outside, whatever is drawn. With graph updates
    the streams of `node` change in place and their backups are returned, a context manager;
    without, a copy of `node` with new streams is returned.

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
        InvalidRngSplitError: `split` is neither a shape nor a mapping.
        InvalidSplitsError: A value of the mapping is neither a shape nor None.
        KeyShapeError: A stream to be forked holds an array of keys.
        SharedReferenceError: ``graph=False``, and an object is reached on two paths.
    """
    return _renewed("fork_rngs", node, _fork_rule(split), graph, graph_updates)


def _fork_rule(split: KeyShapes | None) -> KeyRule:
    if split is None or isinstance(split, int | tuple):
        keys = _key_maker("fork_rngs", "split", split)
        return lambda path, stream: keys
    if not isinstance(split, Mapping):
        raise InvalidRngSplitError("fork_rngs", "split", split)
    rules = [
        (to_predicate(filter_), _key_maker("fork_rngs", f"split[{filter_!r}]", shape))
        for filter_, shape in split.items()
    ]

    def rule(path: StreamPath, stream: RngStream) -> KeyMaker | None:
        return next((keys for matches, keys in rules if _takes(matches, path, stream)), None)

    return rule


def _takes(matches: Predicate, path: StreamPath, stream: RngStream) -> bool:
    """Whether a filter matches both Variables of a stream: they only make sense together."""
    return matches((*path, "key"), stream.key) and matches((*path, "count"), stream.count)


def _key_maker(
    function: str, argument: str, shape: KeyShape | None, *, squeeze: bool = False
) -> KeyMaker:
    if shape is None and function == "fork_rngs":
        return lambda key: key
    # A list of sizes passes too, as in flax; the type says tuple.
    sizes: Any = shape
    try:
        count = (operator.index(sizes),) if hasattr(sizes, "__index__") else _sizes(sizes)
    except TypeError:
        raise InvalidSplitsError(function, argument, shape) from None
    if any(size < 0 for size in count):
        raise InvalidSplitsError(function, argument, shape)
    return lambda key: jax.random.split(key, count)[0] if squeeze else jax.random.split(key, count)


def _sizes(shape: Iterable[Any]) -> tuple[int, ...]:
    if isinstance(shape, Mapping):
        raise TypeError  # its keys would pass as sizes
    return tuple(map(operator.index, shape))


def _renewed(
    function: str, target: Any, rule: KeyRule, graph: bool | None, graph_updates: bool | None
) -> Any:
    """Renew the streams of an object, or return a decorator, or a function that is decorated."""
    graph, updates = resolve_modes(graph, graph_updates)
    renew = functools.partial(_in_place if updates else _copied, function, rule=rule, graph=graph)

    def decorate(call: F) -> F:
        @functools.wraps(call)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            new = renew((args, kwargs))
            if not isinstance(new, SplitBackups):
                args, kwargs = new
                return call(*args, **kwargs)
            with new:
                return call(*args, **kwargs)

        return cast("F", wrapper)

    if target is UNSET:
        return decorate
    # Models are callable too, and hold streams; a function holds none.
    if callable(target) and kind_of(target) in (LEAF, STATIC):
        return decorate(target)
    return renew(target)


def _in_place(function: str, node: object, *, rule: KeyRule, graph: bool) -> SplitBackups:
    del function, graph
    backups, drawn = _draw(node, rule)
    for (stream, *_), keys in zip(backups, drawn.values(), strict=True):
        stream.key.set_value(keys)
        stream.count.set_value(jnp.zeros(keys.shape, jnp.uint32))
    return SplitBackups(backups)


def _copied(function: str, node: A, *, rule: KeyRule, graph: bool) -> A:
    require_tree(function, node, graph)
    _, drawn = _draw(node, rule)

    def change(path: StreamPath, value: Any) -> Any:
        return type(value)(drawn[path], tag=value.tag) if path in drawn else value

    copy: A = recursive_map(change, node, graph=graph)
    return copy


def _draw(node: object, rule: KeyRule) -> tuple[list[StreamBackup], dict[StreamPath, jax.Array]]:
    """Draw the next key of each stream that `rule` takes; return backups and new keys by path.

    After an error every stream is as it was.
    """
    before: list[StreamBackup] = []
    drawn: dict[StreamPath, jax.Array] = {}
    try:
        for path, stream in streams_of(node):
            new_keys = rule(path, stream)
            if new_keys is None:
                continue
            start = (stream, stream.key[...], stream.count[...])
            key = stream()  # raises before it counts on
            before.append(start)
            drawn[path] = new_keys(key)
    except BaseException:
        restore_rngs(before)
        raise
    return [(stream, key, stream.count[...]) for stream, key, *_ in before], drawn
