"""`Variable`: one value that a model owns, with metadata, hooks and trace awareness."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from types import EllipsisType
from typing import Any, ClassVar, Self, TypeVar, overload

import jax
import jax.core
import numpy as np

from typed_nnx._core.array_methods import ArrayMethods
from typed_nnx._core.display import VariableDisplay
from typed_nnx._core.operators import ArrayOperators
from typed_nnx._core.references import is_array_ref, new_array_ref
from typed_nnx._core.sharding import place_value
from typed_nnx._core.state_protocols import TypeFilterHooks
from typed_nnx._core.trace import context
from typed_nnx._core.unset import UNSET
from typed_nnx._core.variable_axes import AxisHooks
from typed_nnx._core.variable_copies import VariableCopies
from typed_nnx._core.variable_jax import register_with_jax
from typed_nnx._core.variable_metadata import VariableMetadata, class_hooks, named_metadata
from typed_nnx._core.variable_parts import store_cells, store_flat, store_trace, store_value
from typed_nnx.errors import RefInVariableError, VariableAttributeError

A = TypeVar("A")
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
        RefInVariableError: `value` is an array reference already.
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
            raise RefInVariableError(type(self).__name__)
        meta = named_metadata(metadata, hijax, ref, eager_sharding, class_hooks(type(self)))
        store_trace(self, context.trace)
        store_cells(self, ())
        store_flat(self, ([initial], meta))
        if len(meta) > 3:
            initial = self._created(initial)
            store_value(self, initial)
        if meta.ref:
            store_value(self, new_array_ref(initial))

    def _created(self, value: A) -> A:
        return place_value(self.create_value(value), self._meta)

    # -- the value --------------------------------------------------------------------------------

    def get_value(self, *, index: Any = UNSET) -> A:
        """Return the value, or the part of it at `index`, as the get hooks present it."""
        box, meta = self._flat
        value: Any = box[0]
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
        if self._nnx_trace != context.trace:
            self._refuse()
        new: Any = value.get_value() if isinstance(value, Variable) else value
        meta = self._meta
        for hook in meta.on_set:
            new = hook(self, new)
        raw: Any = self._raw
        if meta.ref:
            raw[... if index is UNSET else index] = new
        else:
            store_value(self, new if index is UNSET else _with_part(raw, index, new))

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
            return box[0] if key is Ellipsis else box[0][key]  # type: ignore[index]  # the value says
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
        hooks = self._meta.get("on_create_value", ())
        for hook in hooks if isinstance(hooks, list | tuple) else (hooks,):
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

    def __setattr__(self, name: str, value: Any) -> None:
        if not hasattr(type(self), name):  # a subclass without slots would take any name
            raise VariableAttributeError("set", type(self).__name__, name, ())
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        raise VariableAttributeError("delete attribute", type(self).__name__, name, ())

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

    def __jax_array__(self) -> jax.Array:
        value: Any = self.get_value()
        return value  # type: ignore[no-any-return]  # jax checks it

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


def _get_item(self: Variable[Any], key: Any) -> Any:
    """Read through a `get_value` that a subclass defines."""
    return self.get_value(index=key)


def _set_item(self: Variable[Any], key: Any, value: Any) -> None:
    """Write through a `set_value` that a subclass defines."""
    self.set_value(value, index=key)


# Types of arrays and tracers that were met, and whether they are arrays: many times faster than
# isinstance.
_array_types: dict[type, bool] = {}


def _is_new(value: Any) -> bool:
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
