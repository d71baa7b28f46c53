"""`Variable`: one value that a model owns, with metadata, hooks and trace awareness."""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable, Mapping, MutableMapping
from types import EllipsisType
from typing import Any, ClassVar, Self, TypeVar, overload

import jax
import numpy as np

from typed_nnx._core.array_methods import ArrayMethods
from typed_nnx._core.cells import Membership, mark_static
from typed_nnx._core.display import VariableDisplay
from typed_nnx._core.locate import where
from typed_nnx._core.metadata import Metadata
from typed_nnx._core.operators import ArrayOperators
from typed_nnx._core.references import is_array_ref, new_array_ref
from typed_nnx._core.sharding import place_value
from typed_nnx._core.trace import context
from typed_nnx._core.variable_axes import AxisHooks
from typed_nnx._core.variable_metadata import VariableMetadata, class_hooks, named_metadata
from typed_nnx.errors import (
    IncompatibleVariableError,
    RefInVariableError,
    TraceLevelError,
    VariableAttributeError,
)

A = TypeVar("A")
B = TypeVar("B")


class _Unset:
    """The type of "no argument given", for arguments where None is a value."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<not given>"


UNSET = _Unset()

_new = object.__new__


class Variable(ArrayOperators[A], ArrayMethods[A], AxisHooks, VariableDisplay):
    """A mutable box around one value (an array or any pytree), the leaf of every model's state.

    ``v[...]`` reads the value and ``v[...] = x`` replaces it; ``v[i]`` and ``v[i] = x`` do the same
    for a part. Operators and array methods work on the value. The type of a Variable says what it
    is for (`Param`, `BatchStat`, ...) and is what filters select by.

    Args:
        value: The value, or what an initializer wrapped in metadata returned.
        hijax: Accepted for compatibility; kept as metadata.
        ref: Hold the value in a mutable array reference of jax.
        eager_sharding: Place the value by its sharding metadata at once (default True).
        **metadata: Static facts about the value, readable as attributes (``v.sharding_names``,
            ``v.tag``). ``on_get_value``, ``on_set_value``, ``on_create_value``, ``on_add_axis``
            and ``on_remove_axis`` are hooks; a subclass may define them as methods.

    Raises:
        RefInVariableError: `value` is an array reference already.
    """

    __slots__ = ("__weakref__", "_box", "_cells", "_meta", "_trace")

    # The value in a 1-tuple: exactly what jax asks for when it flattens, without a Python call.
    _box: tuple[A]
    _meta: Metadata
    _trace: Any
    _cells: Membership

    _nnx_kind: ClassVar[int] = 2  # VARIABLE of `nodes`, which is above this module
    # Names in the metadata that Variables manage themselves.
    required_metadata: ClassVar[frozenset[str]] = frozenset({"hijax", "ref", "eager_sharding"})

    def __init__(
        self,
        value: A | VariableMetadata[A],
        *,
        hijax: bool | None = None,
        ref: bool | None = None,
        eager_sharding: bool | None = None,
        **metadata: Any,
    ) -> None:
        if isinstance(value, VariableMetadata):
            metadata = {**value.as_metadata(), **metadata}
            value = value.raw_value
        if is_array_ref(value):
            raise RefInVariableError(type(self).__name__)
        meta = named_metadata(metadata, hijax, ref, eager_sharding, class_hooks(type(self)))
        self._trace = context.trace
        self._cells = ()
        self._meta = meta
        self._box = (value,)
        if len(meta) > 3:
            value = self._created(value)
        self._box = (new_array_ref(value),) if meta.ref else (value,)

    def _created(self, value: A) -> A:
        return place_value(self.create_value(value), self._meta)

    @classmethod
    def _make(cls, box: tuple[Any], meta: Metadata) -> Self:
        """Build a Variable from parts that were checked before."""
        made = _new(cls)
        made._box = box
        made._meta = meta
        made._trace = context.trace
        made._cells = ()
        return made

    # -- the value --------------------------------------------------------------------------------

    def get_value(self, *, index: Any = UNSET) -> A:
        """Return the value, or the part of it at `index`, as the get hooks present it."""
        meta = self._meta
        value: Any = self._box[0]
        if not meta.plain_get:
            if meta.ref:
                value = value[...]
            for hook in meta.on_get:
                value = hook(self, value)
        if index is UNSET or index is Ellipsis:
            return value  # type: ignore[no-any-return]  # the box holds an A
        return value[index]  # type: ignore[no-any-return]  # a part has the type its container says

    def set_value(self, value: A | Variable[A], *, index: Any = UNSET) -> None:
        """Replace the value, or the part of it at `index`, after the set hooks saw it.

        Raises:
            TraceLevelError: The Variable belongs to another trace than the current one.
        """
        if self._trace != context.trace:
            raise TraceLevelError("Variable", type(self).__name__, None, where(self))
        new: Any = value.get_value() if isinstance(value, Variable) else value
        meta = self._meta
        if index is not UNSET:
            new = _with_part(self.get_value() if meta.ref else self._box[0], index, new)
        for hook in meta.on_set:
            new = hook(self, new)
        if meta.ref:
            raw: Any = self._box[0]
            raw[...] = new
        else:
            self._box = (new,)

    @overload
    def __getitem__(self, key: EllipsisType) -> A: ...
    @overload
    def __getitem__(self: Variable[jax.Array], key: Any) -> jax.Array: ...
    @overload
    def __getitem__(self: Variable[Mapping[Any, B]], key: Any) -> B: ...
    @overload
    def __getitem__(self: Variable[list[B]], key: int) -> B: ...
    @overload
    def __getitem__(self: Variable[tuple[B, ...]], key: int) -> B: ...
    @overload
    def __getitem__(self, key: Any) -> Any: ...
    def __getitem__(self, key: Any) -> Any:
        if self._meta.plain_get:
            return self._box[0] if key is Ellipsis else self._box[0][key]  # type: ignore[index]  # the value says
        return self.get_value(index=key)

    def __setitem__(self, key: Any, value: Any) -> None:
        if key is Ellipsis and self._meta.plain_set and type(value) in _array_types:
            old: Any = self._box[0]
            # An array of another dtype or shape is cast and broadcast to the old one, as `.at` does.
            if (
                type(old) in _array_types
                and old.shape == value.shape
                and old.dtype == value.dtype
                and old.weak_type == value.weak_type
                and self._trace is context.trace
            ):
                self._box = (value,)  # type: ignore[assignment]  # A is an array here
                return
        elif isinstance(value, jax.Array):
            _array_types.add(type(value))
        self.set_value(value, index=key)

    def __delitem__(self, key: Any) -> None:
        value: Any = self.get_value()
        del value[key]

    @property
    def value(self) -> A:
        """The value, hooks applied; the older spelling of ``v[...]``."""
        return self.get_value()

    @value.setter
    def value(self, new: A) -> None:
        self.set_value(new)

    @property
    def raw_value(self) -> A:
        """What the Variable stores, before any get hook; the reference itself for ``ref=True``."""
        return self._box[0]

    def get_raw_value(self) -> A:
        """Return `raw_value`."""
        return self._box[0]

    def set_raw_value(self, value: A, *, _unsafe_bypass_check: bool = False) -> None:
        """Store `value` as it is, without hooks."""
        if not _unsafe_bypass_check and self._trace != context.trace:
            raise TraceLevelError("Variable", type(self).__name__, None, where(self))
        self._box = (value,)

    def create_value(self, value: A) -> A:
        """Return `value` as the ``on_create_value`` hooks make it."""
        hooks = self._meta.get("on_create_value", ())
        for hook in hooks if isinstance(hooks, list | tuple) else (hooks,):
            value = hook(self, value)
        return value

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the value."""
        function: Any = self.get_value()
        return function(*args, **kwargs)

    # -- metadata ---------------------------------------------------------------------------------

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
        if len(args) == 1 and isinstance(args[0], Mapping) and not metadata:
            required = {name: self._meta[name] for name in self._meta if name in self.required_metadata}
            self._replace_metadata(Metadata.of({**args[0], **required}))
            return
        if len(args) == 2 and isinstance(args[0], str):
            metadata = {args[0]: args[1], **metadata}
        elif args:
            raise TypeError(
                f"set_metadata: got {args!r}; expected keywords, a name and a value, or one "
                'mapping.\n  Fix: variable.set_metadata(name=value)'
            )
        self._replace_metadata(self._meta.updated(metadata))

    def has_metadata(self, name: str) -> bool:
        """Whether the metadata has an item `name`."""
        return name in self._meta

    def del_metadata(self, name: str) -> None:
        """Remove one item of the metadata."""
        if name not in self._meta:
            raise VariableAttributeError("delete", type(self).__name__, name, tuple(self._meta))
        self._replace_metadata(self._meta.without(name))

    def _replace_metadata(self, meta: Metadata) -> None:
        if meta is self._meta:
            return
        if self._trace != context.trace:
            raise TraceLevelError("Variable", type(self).__name__, None, where(self))
        self._meta = meta
        mark_static(self._cells, self)

    def __getattr__(self, name: str) -> Any:
        if name in _SLOTS:  # not filled yet: looking at the metadata would recurse
            raise AttributeError(f"{type(self).__name__!r} object has no {name!r} yet")
        items = self._meta.items_by_name
        if name in items:
            return items[name]
        return ArrayMethods.__getattr__(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        try:
            object.__setattr__(self, name, value)
        except AttributeError:
            raise VariableAttributeError("set", type(self).__name__, name, ()) from None

    def __delattr__(self, name: str) -> None:
        raise VariableAttributeError("delete attribute", type(self).__name__, name, ())

    # -- copies -----------------------------------------------------------------------------------

    def copy(self, value: Any = UNSET, *, _copy_ref: bool = True, **updates: Any) -> Self:
        """Return a new Variable of this type with this value (or `value`) and metadata.

        Args:
            value: The raw value of the copy.
            **updates: Metadata to change.
        """
        raw: Any = self._box[0] if value is UNSET else value
        meta = self._meta.updated(updates) if updates else self._meta
        if _copy_ref and is_array_ref(raw):
            raw = new_array_ref(raw[...])
        return type(self)._make((raw,), meta)

    def _clone(self) -> Self:
        """Return a copy; the quick form of `copy` for many Variables."""
        if self._meta.ref:
            return self.copy()
        return self._make(self._box, self._meta)

    def replace(self, value: Any = UNSET, *, _copy_ref: bool = True, **updates: Any) -> Self:
        """Return a copy with another value or other metadata; the same as `copy`."""
        return self.copy(value, _copy_ref=_copy_ref, **updates)

    def to_state(self, value: Any = UNSET, *, _copy_ref: bool = True, **updates: Any) -> Self:
        """Return a copy; the older spelling of `copy`, from when States held another type."""
        return self.copy(value, _copy_ref=_copy_ref, **updates)

    def copy_from(self, other: Variable[A]) -> None:
        """Take over the value and metadata of another Variable of the same type.

        Raises:
            IncompatibleVariableError: `other` has another type.
        """
        if type(self) is not type(other):
            raise IncompatibleVariableError(type(self).__name__, type(other).__name__)
        self.update_from_state(other)

    def update_from_state(self, variable_state: Variable[A]) -> None:
        """Take over the value and metadata of a Variable from a State."""
        if self._trace != context.trace:
            raise TraceLevelError("Variable", type(self).__name__, None, where(self))
        if self._meta.ref and variable_state._meta.ref:
            raw: Any = self._box[0]
            other: Any = variable_state._box[0]
            raw[...] = other[...]
        else:
            self._box = variable_state._box
        self._replace_metadata(variable_state._meta)

    @classmethod
    def from_metadata(cls, value: A, attributes: Mapping[str, Any]) -> Self:
        """Build a Variable from a raw value and its metadata, without hooks."""
        defaults = {"hijax": False, "ref": False, "eager_sharding": True}
        return cls._make((value,), Metadata.of({**defaults, **attributes}))

    # -- what it is -------------------------------------------------------------------------------

    @property
    def type(self) -> type[Self]:
        """The class of the Variable; what filters compare in old code."""
        return type(self)

    @property
    def var_type(self) -> type[Self]:
        """The class of the Variable."""
        return type(self)

    @property
    def ref(self) -> bool:
        """Whether the value lives in an array reference."""
        return self._meta.ref

    @property
    def hijax(self) -> bool:
        """Whether the Variable was made with ``hijax=True``."""
        return bool(self._meta.get("hijax"))

    @property
    def sharding_names(self) -> Any:
        """The names of the mesh axes of each dimension, or None."""
        return self._meta.get("out_sharding")

    def __jax_array__(self) -> jax.Array:
        value: Any = self.get_value()
        return value  # type: ignore[no-any-return]  # jax checks it

    def __copy__(self) -> Self:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        raw: Any = jax.tree.map(_copied_leaf, self._box[0])
        meta = self._meta
        if not meta.is_hashable:  # then it may hold something mutable
            meta = Metadata.of(copy.deepcopy(dict(meta), memo))
        return type(self)._make((raw,), meta)

    def __getstate__(self) -> dict[str, Any]:
        return {"value": self._box[0], "metadata": dict(self._meta)}

    def __setstate__(self, state: MutableMapping[str, Any]) -> None:
        self._box = (state["value"],)
        self._meta = Metadata.of(state["metadata"])
        self._trace = context.trace
        self._cells = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        register_with_jax(cls)


# Types of arrays and tracers that were met: a set is many times faster than isinstance.
_array_types: set[type] = set()

_SLOTS = frozenset({"_box", "_meta", "_trace", "_cells"})
_VALUE_KEY = jax.tree_util.GetAttrKey("value")
_flatten: Callable[[Any], Any] = operator.attrgetter("_box", "_meta")


def _copied_leaf(leaf: Any) -> Any:
    if is_array_ref(leaf):
        return new_array_ref(leaf[...])
    if isinstance(leaf, jax.Array) and not isinstance(leaf, jax.core.Tracer):
        return leaf.copy()
    return leaf.copy() if isinstance(leaf, np.ndarray) else leaf


def _with_part(old: Any, index: Any, new: Any) -> Any:
    """Return `old` with `new` at `index`; containers are changed in place, arrays never are."""
    if isinstance(old, jax.Array):
        return old.at[index].set(new)
    if isinstance(old, np.ndarray):
        changed = old.copy()  # someone else may hold the old array
        changed[index] = new
        return changed
    if index is Ellipsis:
        return new
    old[index] = new
    return old


def register_with_jax(cls: type[Variable[Any]]) -> None:
    """Register a Variable class as a pytree node: its value is the child, its metadata static."""
    new, trace = _new, context

    def unflatten(meta: Metadata, children: tuple[Any]) -> Variable[Any]:
        made = new(cls)
        made._box = children
        made._meta = meta
        made._trace = trace.trace
        made._cells = ()
        return made

    def flatten_with_keys(variable: Variable[Any]) -> Any:
        return ((_VALUE_KEY, variable._box[0]),), variable._meta

    jax.tree_util.register_pytree_with_keys(cls, flatten_with_keys, unflatten, _flatten)


register_with_jax(Variable)
