"""`Variable`: one value that a model owns, with metadata, hooks and trace awareness."""

from __future__ import annotations

import builtins
import copy
import operator
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from types import EllipsisType
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    NoReturn,
    Self,
    TypeAlias,
    TypeVar,
    overload,
)

import jax
import jax.core
import numpy as np

from typed_nnx._core.cells import Membership, graph_lock, mark_static, mark_structure
from typed_nnx._core.display import VariableDisplay
from typed_nnx._core.filters import TypeFilterHooks
from typed_nnx._core.jax_runtime import context, is_array_ref, new_array_ref, where
from typed_nnx._core.metadata import (
    Metadata,
    VariableMetadata,
    class_hooks,
    hooks_of,
    named_metadata,
)
from typed_nnx._core.operators import ArrayMethods, ArrayOperators
from typed_nnx._core.serialization import register_serialization
from typed_nnx._core.settings import MISSING
from typed_nnx._core.sharding import place_value
from typed_nnx.errors import (
    ArgumentTypeError,
    TraceLevelError,
    VariableAttributeError,
    VariableError,
)

A = TypeVar("A")

_new = object.__new__


class VariableParts(Generic[A]):
    """The slots of a Variable.

    Attributes:
        _flat: The value in a list of one, the box, and the metadata: exactly what jax asks for when
            it flattens, so that it gets it without a Python call. A Variable keeps its box for life.
        _nnx_trace: The jax trace that the Variable belongs to.
        _nnx_cells: The records that it is part of; unset (and then found empty) until it is in one.
    """

    __slots__ = ("__weakref__", "_flat", "_nnx_cells", "_nnx_trace")

    _flat: tuple[list[A], Metadata]
    _nnx_trace: Any
    _nnx_cells: Membership

    @property
    def _raw(self) -> A:
        return self._flat[0][0]

    @property
    def _meta(self) -> Metadata:
        return self._flat[1]

    @classmethod
    def _make(cls, value: object, meta: Metadata) -> Self:
        """Build a Variable from parts that were checked before."""
        made = _new(cls)
        store_flat(made, ([value], meta))
        store_trace(made, context.trace)
        return made

    def _refuse(self) -> NoReturn:
        """Raise for a mutation under another trace than the one the Variable belongs to."""
        raise TraceLevelError("Variable", type(self).__name__, None, where(self))


# Assignment goes through `Variable.__setattr__`, which exists for the sake of a good message; these
# write the slot itself, several times faster.
store_flat: Callable[[Any, tuple[list[Any], Metadata]], None] = VariableParts.__dict__[
    "_flat"
].__set__
store_trace: Callable[[Any, Any], None] = VariableParts.__dict__["_nnx_trace"].__set__
store_cells: Callable[[Any, Membership], None] = VariableParts.__dict__["_nnx_cells"].__set__


def store_value(variable: VariableParts[Any], value: object) -> None:
    """Replace the raw value of a Variable and tell the records."""
    variable._flat[0][0] = value
    for cell in variable._nnx_cells:
        cell.values = None


def store_meta(variable: VariableParts[Any], meta: Metadata) -> None:
    store_flat(variable, (variable._flat[0], meta))


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
        self, name: str, default: Any = MISSING, *, exclude_required: bool | None = None
    ) -> Any: ...
    def get_metadata(
        self,
        name: str | None = None,
        default: Any = MISSING,
        *,
        exclude_required: bool | None = None,
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
        if name not in items and default is MISSING:
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
            raise ArgumentTypeError(
                "set_metadata",
                f"got {args!r}; expected keywords, a name and a value, or one mapping.",
                "variable.set_metadata(name=value)",
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
                raise VariableError(
                    type(self).__name__,
                    f"metadata {name!r} says how the value is stored; it is set when the Variable "
                    "is made and cannot be changed or deleted.",
                    f"make another one: nnx.with_vars(node, {name}=True)",
                )

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


class AxisHooks(VariableParts[A]):
    """`add_axis` and `remove_axis`, which run the hooks in the metadata."""

    __slots__ = ()

    def add_axis(self, axis_index: int, axis_name: str | None) -> None:
        """Run the ``on_add_axis`` hooks: a transform put a new axis at `axis_index`."""
        self._run("on_add_axis", axis_index, axis_name)

    def remove_axis(self, axis_index: int, axis_name: str | None) -> None:
        """Run the ``on_remove_axis`` hooks: a transform took the axis at `axis_index` away."""
        self._run("on_remove_axis", axis_index, axis_name)

    def _run(self, name: str, axis_index: int, axis_name: str | None) -> None:
        hooks: tuple[Callable[..., None], ...] = hooks_of(self._meta.get(name))
        for hook in hooks:
            hook(self, axis_index, axis_name)


class VariableCopies(MetadataMethods[A]):
    """`copy` and its kin, `copy_from`, and how copy, deepcopy and pickle see a Variable."""

    __slots__ = ()

    def copy(self, value: Any = MISSING, *, _copy_ref: bool = True, **updates: Any) -> Self:
        """Return a new Variable of this type with this value (or `value`) and metadata.

        Args:
            value: The raw value of the copy.
            **updates: Metadata to change.
        """
        raw: Any = self._raw if value is MISSING else value
        meta = self._meta.updated(updates) if updates else self._meta
        is_other = is_array_ref(raw) is not meta.ref
        if is_other and ("ref" in updates or isinstance(value, jax.Array | np.ndarray)):
            raw = new_array_ref(raw) if meta.ref else raw[...]
        elif _copy_ref and is_array_ref(raw):
            raw = new_array_ref(raw[...])
        return type(self)._make(raw, meta)

    def _clone(self) -> Self:
        """Return a copy that shares no container with it; the quick form of `copy` for many Variables."""
        (value,), meta = self._flat
        if meta.ref:
            return self.copy()
        if type(value) not in _copied_types:
            if isinstance(value, jax.Array):
                _copied_types.add(type(value))
            else:
                value = jax.tree.map(lambda leaf: leaf, value)
        return self._make(value, meta)

    def replace(self, value: Any = MISSING, *, _copy_ref: bool = True, **updates: Any) -> Self:
        """Return a copy with another value or other metadata; the same as `copy`."""
        return self.copy(value, _copy_ref=_copy_ref, **updates)

    def to_state(self, value: Any = MISSING, *, _copy_ref: bool = True, **updates: Any) -> Self:
        """Return a copy; the older spelling of `copy`, from when States held another type."""
        return self.copy(value, _copy_ref=_copy_ref, **updates)

    def copy_from(self, other: VariableCopies[A]) -> None:
        """Take over the value and metadata of another Variable of the same type.

        Raises:
            VariableError: `other` has another type.
        """
        if type(self) is not type(other):
            raise VariableError(
                "copy_from",
                f"expected a {type(self).__name__}, got a {type(other).__name__}.",
                "copy the value alone: variable[...] = other[...]",
            )
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
_copied_types: set[type] = set()


def _copied_leaf(leaf: object) -> Any:
    if is_array_ref(leaf):
        return new_array_ref(leaf[...])
    if isinstance(leaf, jax.Array) and not isinstance(leaf, jax.core.Tracer):
        return leaf.copy()
    return leaf.copy() if isinstance(leaf, np.ndarray) else leaf


_VALUE_KEY = jax.tree_util.GetAttrKey("value")

# In C: jax flattens thousands of Variables for each step of a training loop.
_flatten: Callable[[Any], Any] = operator.attrgetter("_flat")


def register_with_jax(cls: type[VariableParts[Any]]) -> None:
    """Register a Variable class as a pytree node: its value is the child, its metadata static."""
    new, trace = object.__new__, context

    def unflatten(meta: Metadata, children: Iterable[Any]) -> VariableParts[Any]:
        made = new(cls)
        store_flat(made, ([*children], meta))
        store_trace(made, trace.trace)
        return made

    def flatten_with_keys(variable: VariableParts[Any]) -> Any:
        return ((_VALUE_KEY, variable._raw),), variable._meta

    jax.tree_util.register_pytree_with_keys(cls, flatten_with_keys, unflatten, _flatten)
    register_serialization(cls, operator.attrgetter("items_by_name"), Metadata.of)


B = TypeVar("B")


class Variable(
    ArrayOperators[A],
    ArrayMethods[A],
    VariableCopies[A],
    AxisHooks[A],
    VariableDisplay,
    TypeFilterHooks,
):
    """A mutable box around one value (an array or any pytree), the leaf of every model's state.

    ``v[...]`` reads the value and ``v[...] = x`` replaces it; ``v[i]`` and ``v[i] = x`` do the same
    for a part. Operators and array methods work on the value. The type of a Variable says what it
    is for (`Param`, `BatchStat`, ...) and is what filters select by.

    Args:
        value: The value, or what an initializer wrapped in metadata returned.
        hijax: Kept as metadata, with a warning: transforms of jax itself do not bring changes out.
        ref: Hold the value in a mutable array reference of jax.
        eager_sharding: Place the value by its sharding metadata at once (default True).
        **metadata: Static facts about the value, readable as attributes (``v.sharding_names``,
            ``v.tag``). ``on_get_value``, ``on_set_value``, ``on_create_value``, ``on_add_axis``
            and ``on_remove_axis`` are hooks; a subclass may define them as methods.

    Raises:
        VariableError: `value` is an array reference already.
    """

    __slots__ = ()

    _nnx_kind: ClassVar[int] = 2  # VARIABLE of `nodes`, which is above this module

    # Two signatures: mypy does not find A in the union of them.
    @overload
    def __init__(
        self,
        value: VariableMetadata[A],
        *,
        hijax: bool | None = ...,
        ref: bool | None = ...,
        eager_sharding: bool | None = ...,
        **metadata: Any,
    ) -> None: ...
    @overload
    def __init__(
        self,
        value: A,
        *,
        hijax: bool | None = ...,
        ref: bool | None = ...,
        eager_sharding: bool | None = ...,
        **metadata: Any,
    ) -> None: ...
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
            metadata = value.as_metadata(metadata)
            initial: Any = value.raw_value
        else:
            initial = value
        if is_array_ref(initial):
            kind = type(self).__name__
            raise VariableError(
                kind,
                "the value is an array reference; expected an array.",
                f"{kind}(array, ref=True), which makes the reference itself.",
            )
        meta = named_metadata(metadata, hijax, ref, eager_sharding, class_hooks(type(self)))
        store_trace(self, context.trace)
        store_cells(self, ())
        store_flat(self, ([initial], meta))
        if len(meta) > 3:
            initial = place_value(self.create_value(initial), meta)
            store_value(self, initial)
        if meta.ref:
            store_value(self, new_array_ref(initial))

    # -- the value --------------------------------------------------------------------------------

    def get_value(self, *, index: Any = MISSING) -> A:
        """Return the value, or the part of it at `index`, as the get hooks present it."""
        box, meta = self._flat
        value: Any = box[0]
        if not meta.plain_get:
            if meta.ref:
                value = value[...]
            for hook in meta.on_get:
                value = hook(self, value)
        if index is MISSING or index is Ellipsis:
            found: A = value
        else:
            found = value[index]
        return found

    def set_value(self, value: A | Variable[A], *, index: Any = MISSING) -> None:
        """Replace the value, or the part of it at `index`, after the set hooks saw it.

        Raises:
            TraceLevelError: The Variable belongs to another trace than the current one.
        """
        if self._nnx_trace != context.trace:
            self._refuse()
        new: Any = value.get_value() if isinstance(value, Variable) else value
        meta = self._meta
        for hook in meta.on_set:
            new = hook(self, new)
        raw: Any = self._raw
        if meta.ref:
            raw[... if index is MISSING else index] = new
        else:
            store_value(self, new if index is MISSING else _with_part(raw, index, new))

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
        box, meta = self._flat
        if meta.plain_get:
            value: Any = box[0]
            return value if key is Ellipsis else value[key]
        return self.get_value(index=key)

    def __setitem__(self, key: Any, value: Any) -> None:
        box, meta = self._flat
        if key is Ellipsis and meta.plain_set and (type(value) in _array_types or _is_new(value)):
            old: Any = box[0]
            # An array of another dtype, shape or sharding is cast, broadcast and moved to that of the
            # old one, as `.at` does.
            if (
                (type(old) in _array_types or _is_new(old))
                and self._nnx_trace is context.trace
                and _alike(old, value)
            ):
                box[0] = value
                for cell in self._nnx_cells:
                    cell.values = None
                return
        self.set_value(value, index=key)  # pyright: ignore[reportArgumentType]  # narrowed from Any

    def __delitem__(self, key: Any) -> None:
        if self._nnx_trace != context.trace:
            self._refuse()
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
        return self._raw

    @raw_value.setter
    def raw_value(self, new: A) -> None:
        self.set_raw_value(new)

    def get_raw_value(self) -> A:
        """Return `raw_value`."""
        return self._raw

    def set_raw_value(self, value: A, *, _unsafe_bypass_check: bool = False) -> None:
        """Store `value` as it is, without hooks."""
        if not _unsafe_bypass_check and self._nnx_trace != context.trace:
            self._refuse()
        store_value(self, value)

    def create_value(self, value: A) -> A:
        """Return `value` as the ``on_create_value`` hooks make it."""
        for hook in hooks_of(self._meta.get("on_create_value")):
            value = hook(self, value)
        return value

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the value."""
        function: Any = self.get_value()
        return function(*args, **kwargs)

    # -- metadata as attributes ---------------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        if name == "_nnx_cells":
            return ()
        if name in _SLOTS:  # not filled yet: looking at the metadata would recurse
            raise AttributeError(f"{type(self).__name__!r} object has no {name!r} yet")
        items = self._flat[1].items_by_name
        if name in items:
            return items[name]
        return ArrayMethods.__getattr__(self, name)

    if not TYPE_CHECKING:  # type checkers know which attributes can be set: those that are declared

        def __setattr__(self, name, value):
            if not hasattr(type(self), name):  # a subclass without slots would take any name
                raise VariableAttributeError("set", type(self).__name__, name)
            object.__setattr__(self, name, value)

        def __delattr__(self, name):
            raise VariableAttributeError("delete attribute", type(self).__name__, name)

    # -- what it is -------------------------------------------------------------------------------

    @property
    def type(self) -> builtins.type[Self]:
        """The class of the Variable; what filters compare in old code."""
        return type(self)

    @property
    def var_type(self) -> builtins.type[Self]:
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

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        register_with_jax(cls)
        if cls.get_value is not Variable.get_value and cls.__getitem__ is Variable.__getitem__:
            cls.__getitem__ = _get_item  # type: ignore[method-assign]  # the slow way is the right one
        if cls.set_value is not Variable.set_value and cls.__setitem__ is Variable.__setitem__:
            cls.__setitem__ = _set_item  # type: ignore[method-assign]


def _alike(old: Any, new: Any) -> bool:
    """Whether two arrays have the same shape, dtype and weak type, and lie in the same places."""
    was, now = old.aval, new.aval
    return (
        was is now
        or (was.shape == now.shape and was.dtype == now.dtype and was.weak_type == now.weak_type)
    ) and (
        # A tracer lies nowhere yet.
        not (_array_types[type(old)] and _array_types[type(new)])
        or (there := old.sharding) is (here := new.sharding)
        or there == here
    )


def _get_item(self: Variable[Any], key: object) -> Any:
    """Read through a `get_value` that a subclass defines."""
    return self.get_value(index=key)


def _set_item(self: Variable[Any], key: object, value: object) -> None:
    """Write through a `set_value` that a subclass defines."""
    self.set_value(value, index=key)


# Types of arrays and tracers that were met, and whether they are arrays: many times faster than
# isinstance.
_array_types: dict[type, bool] = {}


def _is_new(value: object) -> bool:
    """Whether a value is an array of a type that was not met before; remembers it."""
    if isinstance(value, jax.Array):
        _array_types[type(value)] = not isinstance(value, jax.core.Tracer)
        return True
    return False


_SLOTS = frozenset({"_flat", "_nnx_trace"})


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


register_with_jax(Variable)

AnyVariable: TypeAlias = Variable[Any]
"""A Variable with a value of any type, as a graph holds them."""
