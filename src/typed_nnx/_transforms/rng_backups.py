"""Backups of random streams: what `split_rngs` and `fork_rngs` change, and how it comes back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any, TypeAlias

import jax

from typed_nnx._core.rngs import RngStream
from typed_nnx._core.walk import iter_graph
from typed_nnx._graph.mode import require_tree

StreamBackup: TypeAlias = tuple[RngStream, jax.Array] | tuple[RngStream, jax.Array, jax.Array]
"""A stream and the key that it had, with or without the count that it had."""

StreamPath: TypeAlias = tuple[Any, ...]
"""Where a stream is: attribute names, indices and keys of any hashable type (hence `Any`)."""


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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        restore_rngs(self)


def backup_keys(node: object, /, *, graph: bool | None = None) -> list[StreamBackup]:
    """Return the random streams inside an object, each with its key, for `restore_rngs`.

    Counts are not part of it: a stream restored from it keeps the count that it has by then.

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
    found = iter_graph(node)
    return [(path, stream) for path, stream in found if isinstance(stream, RngStream)]


backup_rngs = backup_keys
"""The name that goes with `restore_rngs`; flax calls it ``rnglib.backup_keys``."""
