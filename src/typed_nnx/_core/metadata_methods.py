"""The methods of a Variable that read and change its metadata."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar, overload

from typed_nnx._core.cells import graph_lock, mark_static, mark_structure
from typed_nnx._core.metadata import Metadata
from typed_nnx._core.trace import context
from typed_nnx._core.unset import UNSET
from typed_nnx._core.variable_parts import VariableParts, store_meta
from typed_nnx.errors import FixedMetadataError, VariableAttributeError

A = TypeVar("A")


class MetadataMethods(VariableParts[A]):
    """`get_metadata`, `set_metadata`, `has_metadata` and `del_metadata`."""

    __slots__ = ()

    # Names in the metadata that Variables manage themselves.
    required_metadata: ClassVar[frozenset[str]] = frozenset({"hijax", "ref", "eager_sharding"})

    @overload
    def get_metadata(
        self, name: None = None, *, exclude_required: bool | None = None
    ) -> dict[str, Any]: ...
    @overload
    def get_metadata(
        self, name: str, default: Any = UNSET, *, exclude_required: bool | None = None
    ) -> Any: ...
    def get_metadata(
        self, name: str | None = None, default: Any = UNSET, *, exclude_required: bool | None = None
    ) -> Any:
        """Return one item of the metadata, or all of it as a new dict.

        Args:
            name: The item; None for all.
            default: Returned when there is no such item.
            exclude_required: Leave out the names that every Variable has.

        Raises:
            VariableAttributeError: There is no such item and no default.
        """
        items = dict(self._meta)
        if exclude_required:
            items = {k: v for k, v in items.items() if k not in self.required_metadata}
        if name is None:
            return items
        if name not in items and default is UNSET:
            raise VariableAttributeError("read", type(self).__name__, name, tuple(items))
        return items.get(name, default)

    def set_metadata(self, *args: Any, **metadata: Any) -> None:
        """Set metadata: ``set_metadata(name=value)`` or ``set_metadata("name", value)``.

        ``set_metadata({...})`` replaces all metadata but the required names.
        """
        if len(args) == 2 and isinstance(args[0], str):
            metadata = {args[0]: args[1], **metadata}
            args = ()
        if len(args) == 1 and isinstance(args[0], Mapping) and not metadata:
            required = {
                name: self._meta[name] for name in self._meta if name in self.required_metadata
            }
            self._check_free(args[0])
            self._replace_metadata(Metadata.of({**args[0], **required}))
            return
        if args or not metadata:
            raise TypeError(
                f"set_metadata: got {args!r}; expected keywords, a name and a value, or one "
                "mapping.\n  Fix: variable.set_metadata(name=value)"
            )
        self._check_free(metadata)
        self._replace_metadata(self._meta.updated(metadata))

    def has_metadata(self, name: str) -> bool:
        """Whether the metadata has an item `name`."""
        return name in self._meta

    def del_metadata(self, name: str) -> None:
        """Remove one item of the metadata."""
        if name not in self._meta:
            raise VariableAttributeError("delete", type(self).__name__, name, tuple(self._meta))
        self._check_free({name: None})
        self._replace_metadata(self._meta.without(name))

    def _check_free(self, items: Mapping[str, Any]) -> None:
        """Raise if one of the items would change how the value is stored, which is fixed."""
        for name in ("ref", "hijax"):
            if name in items and items[name] != self._meta.get(name):
                raise FixedMetadataError(type(self).__name__, name)

    def _replace_metadata(self, meta: Metadata) -> None:
        if meta is self._meta:
            return
        if self._nnx_trace != context.trace:
            self._refuse()
        with graph_lock:
            # Records look at a value that may change in place; they learn of it by a traversal.
            if self._meta.is_hashable and meta.is_hashable:
                store_meta(self, meta)
                mark_static(self._nnx_cells, self)
            else:
                store_meta(self, meta)
                mark_structure(self._nnx_cells)
