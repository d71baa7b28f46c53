"""Where the metadata of a new Variable comes from: keywords, class hooks and wrapped initializers."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeAlias, TypeVar

from typed_nnx._core.metadata import HOOKS, Metadata
from typed_nnx._core.var_defaults import current_defaults, warn_of_hijax

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
    return tuple([(name, getattr(cls, name)) for name in HOOKS if name in _hook_names(cls)])


# With this type mypy does not ask whether the *instances* of the class have a hash.
class_hooks: Callable[[type], ClassHooks] = functools.lru_cache(maxsize=512)(_class_hooks)


def _hook_names(cls: type) -> set[str]:
    # `add_axis` and the like are methods of every Variable; hooks exist only where a class adds them.
    return {name for name in HOOKS for base in cls.__mro__ if name in vars(base)}


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
