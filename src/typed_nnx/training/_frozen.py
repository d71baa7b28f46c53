"""Frozen dataclasses that jax sees as pytrees."""

from __future__ import annotations

import dataclasses
from typing import Any, Self

import jax
from typing_extensions import dataclass_transform


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
class FrozenPytree:
    """A base that makes each subclass a frozen dataclass and a pytree node.

    Fields are children for jax; one with ``metadata={"pytree_node": False}`` is static.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__()
        dataclasses.dataclass(frozen=True, **options)(cls)
        fields: Any = dataclasses.fields(cls)  # type: ignore[arg-type]  # it is one now
        static = [f.name for f in fields if not f.metadata.get("pytree_node", True)]
        names = [f.name for f in fields if f.name not in static]
        jax.tree_util.register_dataclass(cls, data_fields=names, meta_fields=static)

    def replace(self, **updates: Any) -> Self:
        """Return a copy with other values in some of its fields."""
        made: Any = dataclasses.replace(self, **updates)  # type: ignore[type-var]  # each subclass is a dataclass
        return made  # type: ignore[no-any-return]  # a copy has the type of the original
