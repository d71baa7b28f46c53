"""The metadata of a Variable: an immutable, interned mapping that compares by identity when it can.

It is the static part of a Variable for jax, compared at each call of a jitted function, so equal
metadata is one object.
"""

from __future__ import annotations

import atexit
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from typed_nnx._core.cells import graph_lock
from typed_nnx._core.static_keys import (
    content_key,
    is_hashable,
    mutable_values,
    same_values,
    static_key,
)
from typed_nnx.errors import UnhashableMetadataError

Hook: TypeAlias = Callable[[Any, Any], Any]

HOOKS = ("on_get_value", "on_set_value", "on_create_value", "on_add_axis", "on_remove_axis")


def _hooks(value: Any) -> tuple[Hook, ...]:
    if value is None:
        return ()
    return tuple(value) if isinstance(value, list | tuple) else (value,)


class Metadata:
    """An immutable mapping from names to static values, made by `Metadata.of`.

    Equal metadata is one object, so that comparison is that of `object`, which costs jax nothing;
    only metadata with a value that has no hash is a `LooseMetadata`, compared by value.

    Attributes:
        plain_get: No hook and no ref stands between the raw value and the reader.
        plain_set: The same for the writer.
        ref: The raw value is a mutable array reference.
        on_get, on_set: The hooks, in order.
        items_by_name: The items as a dict, for quick access; never changed.
    """

    __slots__ = (
        "__weakref__", "items_by_name", "on_get", "on_set", "plain_get", "plain_set", "ref",
    )  # fmt: skip

    items_by_name: dict[str, Any]
    on_get: tuple[Hook, ...]
    on_set: tuple[Hook, ...]
    plain_get: bool
    plain_set: bool
    ref: bool

    @staticmethod
    def of(items: Mapping[str, Any]) -> Metadata:
        """Return the metadata with these items; the same object for the same items."""
        try:
            key = frozenset([(name, static_key(value)) for name, value in items.items()])
        except TypeError:  # something in it has no hash
            return _fill(LooseMetadata(), dict(items))
        known = _interned.get(key)
        if known is None:
            with graph_lock:  # two threads must not make one each
                known = _interned.setdefault(key, _fill(Metadata(), dict(items)))
        return known

    @property
    def key(self) -> Any:
        """What tells it from other metadata: itself."""
        return self

    @property
    def mutable(self) -> tuple[tuple[Any, Any], ...]:
        """The values without a hash, each with the key of its content: none."""
        return ()

    @property
    def is_hashable(self) -> bool:
        """Whether all values have a hash."""
        return not isinstance(self, LooseMetadata)

    def updated(self, items: Mapping[str, Any]) -> Metadata:
        """Return this metadata with ``items`` added or replaced."""
        return Metadata.of({**self.items_by_name, **items})

    def without(self, name: str) -> Metadata:
        """Return this metadata less one name."""
        return Metadata.of({key: value for key, value in self.items_by_name.items() if key != name})

    def __getitem__(self, name: str) -> Any:
        return self.items_by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.items_by_name)

    def __len__(self) -> int:
        return len(self.items_by_name)

    def __contains__(self, name: object) -> bool:
        return name in self.items_by_name

    def keys(self) -> Iterable[str]:
        """Return the names."""
        return self.items_by_name.keys()

    def items(self) -> Iterable[tuple[str, Any]]:
        """Return the names and values."""
        return self.items_by_name.items()

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value of a name, or the default."""
        return self.items_by_name.get(name, default)

    def __repr__(self) -> str:
        return repr(self.items_by_name)

    def __reduce__(self) -> tuple[Any, ...]:
        return Metadata.of, (self.items_by_name,)

    def __deepcopy__(self, memo: dict[int, Any]) -> Metadata:
        return self  # immutable, and its values are static


class LooseMetadata(Metadata):
    """Metadata that holds a value without a hash."""

    __slots__ = ()

    @property
    def key(self) -> Any:
        """What tells it from other metadata now; what has no hash may change in place."""
        return frozenset([(name, content_key(value)) for name, value in self.items()])

    @property
    def mutable(self) -> tuple[tuple[Any, Any], ...]:
        """The values without a hash, each with the key of its content."""
        return mutable_values(self.items_by_name.values())

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Metadata) and same_values(self.items_by_name, other.items_by_name)

    def __hash__(self) -> int:
        raise UnhashableMetadataError(
            [(name, value) for name, value in self.items() if not is_hashable(value)]
        )


_interned: weakref.WeakValueDictionary[Any, Metadata] = weakref.WeakValueDictionary()
# An entry that dies after Python began to shut down would hash its key, when what hashes is gone.
atexit.register(_interned.clear)


def _fill(made: Metadata, items: dict[str, Any]) -> Metadata:
    made.items_by_name = items
    made.on_get = _hooks(items.get("on_get_value"))
    made.on_set = _hooks(items.get("on_set_value"))
    made.ref = bool(items.get("ref"))
    made.plain_get = not made.on_get and not made.ref
    made.plain_set = not made.on_set and not made.ref
    return made
