"""The metadata of a Variable: an immutable, interned mapping that compares by identity when it can.

It is the static part of a Variable for jax, compared at each call of a jitted function, so equal
metadata is one object.
"""

from __future__ import annotations

import atexit
import contextlib
import dataclasses
import functools
import threading
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Generic, Self, TypeAlias, TypeVar, overload

from typed_nnx._core.cells import (
    content_key,
    graph_lock,
    is_hashable,
    mutable_values,
    same_values,
    static_key,
)
from typed_nnx._core.jax_runtime import stacklevel_of_caller
from typed_nnx._core.settings import Restoring, Setting
from typed_nnx.errors import UnhashableError

Hook: TypeAlias = Callable[[Any, Any], Any]

HOOKS = ("on_get_value", "on_set_value", "on_create_value", "on_add_axis", "on_remove_axis")


def hooks_of(value: Any) -> tuple[Hook, ...]:
    """Return the hooks in a value of the metadata: one function, several, or none."""
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
        return Metadata.of({**self.items_by_name, **items})

    def without(self, name: str) -> Metadata:
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
        return self.items_by_name.keys()

    def items(self) -> Iterable[tuple[str, Any]]:
        return self.items_by_name.items()

    def get(self, name: str, default: Any = None) -> Any:
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
        kinds = {n: type(value).__name__ for n, value in self.items() if not is_hashable(value)}
        named = ", ".join([f"{name!r} ({kind})" for name, kind in kinds.items()])
        raise UnhashableError(
            "Variable metadata",
            f"{named} has no hash, and a hash is needed here.",
            "use a hashable value, a tuple for a list: "
            f"variable.set_metadata({next(iter(kinds))}=tuple(...))",
        )


_interned: weakref.WeakValueDictionary[Any, Metadata] = weakref.WeakValueDictionary()
# An entry that dies after Python began to shut down would hash its key, when what hashes is gone.
atexit.register(_interned.clear)


def _fill(made: Metadata, items: dict[str, Any]) -> Metadata:
    made.items_by_name = items
    made.on_get = hooks_of(items.get("on_get_value"))
    made.on_set = hooks_of(items.get("on_set_value"))
    made.ref = bool(items.get("ref"))
    made.plain_get = not made.on_get and not made.ref
    made.plain_set = not made.on_set and not made.ref
    return made


F = TypeVar("F", bound=Callable[..., Any])


@dataclasses.dataclass(frozen=True)
class VarDefaults(Mapping[str, bool]):
    """What `var_defaults` returns: the current defaults, as attributes and as a mapping."""

    hijax: bool
    ref: bool

    def __getitem__(self, key: str) -> bool:
        found: bool = vars(self)[key]
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(vars(self))

    def __len__(self) -> int:
        return len(vars(self))


class use_eager_sharding(Setting):  # lower case: it is called like a function
    """Set whether new Variables are placed by their sharding metadata at once.

    It holds from now on, for a block or for the calls of a function.
    """

    __slots__ = ()

    @classmethod
    def _apply(cls, value: bool) -> None:
        old = _local.defaults
        _local.defaults = Defaults(old.hijax, old.ref, value if cls.get_stack() else None)


class Defaults:
    """The defaults of one thread and the metadata they amount to.

    `given` is what the thread has set of `use_eager_sharding`; None is its default.
    """

    __slots__ = ("eager_sharding", "given", "hijax", "metadata", "ref")

    def __init__(self, hijax: bool, ref: bool, given: bool | None) -> None:
        self.hijax: bool = hijax
        self.ref: bool = ref
        self.given: bool | None = given
        eager_sharding = use_eager_sharding.get_default() if given is None else given
        self.eager_sharding: bool = eager_sharding
        self.metadata: Metadata = Metadata.of(
            {"hijax": hijax, "ref": ref, "eager_sharding": eager_sharding}
        )


class _Local(threading.local):
    def __init__(self) -> None:
        self.defaults = Defaults(hijax=False, ref=False, given=None)


_local = _Local()


def current_defaults() -> Defaults:
    found = _local.defaults
    if found.given is None and found.eager_sharding is not use_eager_sharding._default:
        found = _local.defaults = Defaults(found.hijax, found.ref, None)
    return found


def _set(hijax: bool, ref: bool) -> None:
    _local.defaults = Defaults(hijax, ref, _local.defaults.given)


def warn_of_hijax() -> None:
    """Warn that ``hijax=True`` does less than in flax, where it makes a Variable a reference of jax."""
    warnings.warn(
        "hijax=True is only metadata here: what a function under a transform of jax itself, such as "
        "jax.jit, does to the Variable does not come out.\n"
        "  Fix: the transform of nnx, such as nnx.jit; or ref=True, a mutable array of jax",
        UserWarning,
        stacklevel=stacklevel_of_caller(),
    )


class VarDefaultsContext(Restoring, contextlib.ContextDecorator):
    """What `var_defaults(...)` returns when it sets something."""

    __slots__ = ("_hijax", "_ref")

    def __init__(self, hijax: bool | None, ref: bool | None) -> None:
        old = _local.defaults
        super().__init__(functools.partial(_set, old.hijax, old.ref))
        self._hijax: bool | None = hijax
        self._ref: bool | None = ref
        _set(old.hijax if hijax is None else hijax, old.ref if ref is None else ref)

    def __call__(self, f: F) -> F:
        """Return the function with the defaults set while it runs; now they are as before again."""
        self._restore()
        return super().__call__(f)

    def _recreate_cm(self) -> Self:
        return type(self)(self._hijax, self._ref)  # for each call


@overload
def var_defaults(*, hijax: None = None, ref: None = None) -> VarDefaults: ...
@overload
def var_defaults(*, hijax: bool, ref: bool | None = None) -> VarDefaultsContext: ...
@overload
def var_defaults(*, hijax: bool | None = None, ref: bool) -> VarDefaultsContext: ...
def var_defaults(
    *, hijax: bool | None = None, ref: bool | None = None
) -> VarDefaults | VarDefaultsContext:
    """Return the defaults for new Variables, or set them, also for a block or as a decorator.

    Args:
        hijax: Metadata only, for compatibility.
        ref: Whether new Variables keep their value in a mutable array of jax.
    """
    old = _local.defaults
    if hijax is None and ref is None:
        return VarDefaults(old.hijax, old.ref)
    if hijax:
        warn_of_hijax()
    return VarDefaultsContext(hijax, ref)


def using_eager_sharding() -> bool:
    """Whether new Variables are placed by their sharding metadata at once."""
    return current_defaults().eager_sharding


A = TypeVar("A")

ClassHooks: TypeAlias = tuple[tuple[str, Any], ...]


@dataclasses.dataclass
class VariableMetadata(Generic[A]):
    """A value together with the metadata and hooks that the Variable made of it shall have.

    `with_metadata` and `with_partitioning` make initializers return it.
    """

    raw_value: A
    on_set_value: tuple[Any, ...] = ()
    on_get_value: tuple[Any, ...] = ()
    on_create_value: tuple[Any, ...] = ()
    on_add_axis: tuple[Any, ...] = ()
    on_remove_axis: tuple[Any, ...] = ()
    metadata: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def as_metadata(self, keywords: Mapping[str, Any]) -> dict[str, Any]:
        """Return the metadata for a Variable that is made with these keywords.

        The initializer's metadata wins over the keywords, a keyword over the initializer's hook.
        """
        hooks = {name: getattr(self, name) for name in HOOKS if getattr(self, name)}
        return {**hooks, **keywords, **self.metadata}


def _class_hooks(cls: type) -> ClassHooks:
    """Return the hooks that a class defines as methods."""
    # `add_axis` and the like are methods of every Variable; hooks exist only where a class adds them.
    names = [name for name in HOOKS if any(name in vars(base) for base in cls.__mro__)]
    return tuple([(name, getattr(cls, name)) for name in names])


# With this type mypy does not ask whether the *instances* of the class have a hash.
class_hooks: Callable[[type], ClassHooks] = functools.lru_cache(maxsize=512)(_class_hooks)


def named_metadata(
    metadata: dict[str, Any],
    hijax: bool | None,
    ref: bool | None,
    eager_sharding: bool | None,
    hooks: ClassHooks,
) -> Metadata:
    """Return the full metadata of a new Variable.

    The older names ``sharding`` and ``sharding_names`` become ``out_sharding``.
    """
    defaults = current_defaults()
    if not metadata and not hooks and hijax is None and ref is None and eager_sharding is None:
        return defaults.metadata
    for old in ("sharding", "sharding_names"):
        if old in metadata:
            metadata["out_sharding"] = metadata.pop(old)
    if hijax:
        warn_of_hijax()
    metadata["hijax"] = defaults.hijax if hijax is None else hijax
    metadata["ref"] = defaults.ref if ref is None else ref
    metadata["eager_sharding"] = (
        metadata.get("eager_sharding", defaults.eager_sharding)
        if eager_sharding is None
        else eager_sharding
    )
    for name, hook in hooks:
        metadata.setdefault(name, hook)
    return Metadata.of(metadata)
