"""Defaults for new Variables that hold for a block of code or from now on."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import NamedTuple, overload

from typed_nnx._core.metadata import Metadata


class VarDefaults(NamedTuple):
    """What `var_defaults` returns: the defaults in force."""

    hijax: bool
    ref: bool


class Defaults:
    """The defaults of one thread and the metadata they amount to."""

    __slots__ = ("eager_sharding", "hijax", "metadata", "ref")

    def __init__(self, hijax: bool, ref: bool, eager_sharding: bool) -> None:
        self.hijax: bool = hijax
        self.ref: bool = ref
        self.eager_sharding: bool = eager_sharding
        self.metadata: Metadata = Metadata.of(
            {"hijax": hijax, "ref": ref, "eager_sharding": eager_sharding}
        )


class _Local(threading.local):
    def __init__(self) -> None:
        self.defaults = _FACTORY


_FACTORY = Defaults(hijax=False, ref=False, eager_sharding=True)
_local = _Local()


def current_defaults() -> Defaults:
    """Return the defaults of this thread."""
    return _local.defaults


class _Restore:
    """Sets defaults now; as a context manager it restores the old ones at the end."""

    __slots__ = ("_before",)

    def __init__(self, defaults: Defaults) -> None:
        self._before: Defaults = _local.defaults
        _local.defaults = defaults

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _local.defaults = self._before


class VarDefaultsContext(_Restore):
    """What `var_defaults(...)` returns when it sets something."""

    __slots__ = ()


class EagerShardingContext(_Restore):
    """What `use_eager_sharding(...)` returns."""

    __slots__ = ()


@overload
def var_defaults(*, hijax: None = None, ref: None = None) -> VarDefaults: ...
@overload
def var_defaults(*, hijax: bool, ref: bool | None = None) -> VarDefaultsContext: ...
@overload
def var_defaults(*, hijax: bool | None = None, ref: bool) -> VarDefaultsContext: ...
def var_defaults(
    *, hijax: bool | None = None, ref: bool | None = None
) -> VarDefaults | VarDefaultsContext:
    """Return the defaults for new Variables, or set them (for a block, as a context manager)."""
    old = _local.defaults
    if hijax is None and ref is None:
        return VarDefaults(old.hijax, old.ref)
    return VarDefaultsContext(
        Defaults(
            old.hijax if hijax is None else hijax,
            old.ref if ref is None else ref,
            old.eager_sharding,
        )
    )


def use_eager_sharding(value: bool, /) -> EagerShardingContext:
    """Set whether new Variables are placed by their sharding metadata at once."""
    old = _local.defaults
    return EagerShardingContext(Defaults(old.hijax, old.ref, value))


def using_eager_sharding() -> bool:
    """Whether new Variables are placed by their sharding metadata at once."""
    return _local.defaults.eager_sharding
