"""Defaults for new Variables that hold for a block of code or from now on."""

from __future__ import annotations

import dataclasses
import functools
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar, overload

from typed_nnx._core.locate import stacklevel_of_caller
from typed_nnx._core.metadata import Metadata
from typed_nnx._core.restoring import Restoring
from typed_nnx._core.setting import Setting

F = TypeVar("F", bound=Callable[..., Any])


@dataclasses.dataclass(frozen=True, eq=False)
class VarDefaults(Mapping[str, bool]):
    """What `var_defaults` returns: the defaults in force, as attributes and as a mapping."""

    hijax: bool
    ref: bool

    def __getitem__(self, key: str) -> bool:
        return self._entries[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def _entries(self) -> dict[str, bool]:
        return {"hijax": self.hijax, "ref": self.ref}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VarDefaults) and self._entries == other._entries

    def __hash__(self) -> int:
        return hash((self.hijax, self.ref))


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

    Args:
        hijax: The flag of that name.
        ref: The flag of that name.
        given: What the thread has set of `use_eager_sharding`; None is its default.
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
    """Return the defaults of this thread."""
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


class VarDefaultsContext(Restoring):
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

        @functools.wraps(f)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with VarDefaultsContext(self._hijax, self._ref):
                return f(*args, **kwargs)

        return wrapped  # type: ignore[return-value]  # it has the signature of the function


@overload
def var_defaults(*, hijax: None = None, ref: None = None) -> VarDefaults: ...
@overload
def var_defaults(*, hijax: bool, ref: bool | None = None) -> VarDefaultsContext: ...
@overload
def var_defaults(*, hijax: bool | None = None, ref: bool) -> VarDefaultsContext: ...
def var_defaults(
    *, hijax: bool | None = None, ref: bool | None = None
) -> VarDefaults | VarDefaultsContext:
    """Return the defaults for new Variables, or set them (for a block, or the calls of a function)."""
    old = _local.defaults
    if hijax is None and ref is None:
        return VarDefaults(old.hijax, old.ref)
    if hijax:
        warn_of_hijax()
    return VarDefaultsContext(hijax, ref)


def using_eager_sharding() -> bool:
    """Whether new Variables are placed by their sharding metadata at once."""
    return current_defaults().eager_sharding
