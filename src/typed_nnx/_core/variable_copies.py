"""The methods of a Variable that copy it, and that take over what another one holds."""

from __future__ import annotations

import copy
from collections.abc import Mapping, MutableMapping
from typing import Any, Self, TypeVar

import jax
import jax.core
import numpy as np

from typed_nnx._core.metadata import Metadata
from typed_nnx._core.metadata_methods import MetadataMethods
from typed_nnx._core.references import is_array_ref, new_array_ref
from typed_nnx._core.trace import context
from typed_nnx._core.unset import UNSET
from typed_nnx._core.variable_parts import store_cells, store_flat, store_trace, store_value
from typed_nnx.errors import IncompatibleVariableError

A = TypeVar("A")


class VariableCopies(MetadataMethods[A]):
    """`copy` and its kin, `copy_from`, and how copy, deepcopy and pickle see a Variable."""

    __slots__ = ()

    def copy(self, value: Any = UNSET, *, _copy_ref: bool = True, **updates: Any) -> Self:
        """Return a new Variable of this type with this value (or `value`) and metadata.

        Args:
            value: The raw value of the copy.
            **updates: Metadata to change.
        """
        raw: Any = self._raw if value is UNSET else value
        meta = self._meta.updated(updates) if updates else self._meta
        if "ref" in updates and is_array_ref(raw) is not meta.ref:
            raw = new_array_ref(raw) if meta.ref else raw[...]
        elif _copy_ref and is_array_ref(raw):
            raw = new_array_ref(raw[...])
        return type(self)._make(raw, meta)

    def _clone(self) -> Self:
        """Return a copy that shares no container with it; the quick form of `copy` for many Variables."""
        (value,), meta = self._flat
        if meta.ref:
            return self.copy()
        if type(value) not in _array_types:
            if isinstance(value, jax.Array):
                _array_types.add(type(value))
            else:
                value = jax.tree.map(lambda leaf: leaf, value)
        return self._make(value, meta)

    def replace(self, value: Any = UNSET, *, _copy_ref: bool = True, **updates: Any) -> Self:
        """Return a copy with another value or other metadata; the same as `copy`."""
        return self.copy(value, _copy_ref=_copy_ref, **updates)

    def to_state(self, value: Any = UNSET, *, _copy_ref: bool = True, **updates: Any) -> Self:
        """Return a copy; the older spelling of `copy`, from when States held another type."""
        return self.copy(value, _copy_ref=_copy_ref, **updates)

    def copy_from(self, other: VariableCopies[A]) -> None:
        """Take over the value and metadata of another Variable of the same type.

        Raises:
            IncompatibleVariableError: `other` has another type.
        """
        if type(self) is not type(other):
            raise IncompatibleVariableError(type(self).__name__, type(other).__name__)
        self.update_from_state(other)

    def update_from_state(self, variable_state: VariableCopies[A]) -> None:
        """Take over the value and metadata of a Variable from a State."""
        if self._nnx_trace != context.trace:
            self._refuse()
        if self._meta.ref and variable_state._meta.ref:
            raw: Any = self._raw
            other: Any = variable_state._raw
            raw[...] = other[...]
        else:
            store_value(self, variable_state._raw)
        self._replace_metadata(variable_state._meta)

    @classmethod
    def from_metadata(cls, value: A, attributes: Mapping[str, Any]) -> Self:
        """Build a Variable from a raw value and its metadata, without hooks."""
        defaults = {"hijax": False, "ref": False, "eager_sharding": True}
        return cls._make(value, Metadata.of({**defaults, **attributes}))

    def __copy__(self) -> Self:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        raw: Any = jax.tree.map(_copied_leaf, self._raw)
        meta = self._meta
        if not meta.is_hashable:  # then it may hold something mutable
            meta = Metadata.of(copy.deepcopy(dict(meta), memo))
        return type(self)._make(raw, meta)

    def __getstate__(self) -> dict[str, Any]:
        return {"value": self._raw, "metadata": dict(self._meta)}

    def __setstate__(self, state: MutableMapping[str, Any]) -> None:
        store_flat(self, ([state["value"]], Metadata.of(state["metadata"])))
        store_trace(self, context.trace)
        store_cells(self, ())


# Types of arrays that were met: many times faster than isinstance.
_array_types: set[type] = set()


def _copied_leaf(leaf: Any) -> Any:
    if is_array_ref(leaf):
        return new_array_ref(leaf[...])
    if isinstance(leaf, jax.Array) and not isinstance(leaf, jax.core.Tracer):
        return leaf.copy()
    return leaf.copy() if isinstance(leaf, np.ndarray) else leaf
