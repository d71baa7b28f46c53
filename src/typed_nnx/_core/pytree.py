"""`Pytree`: an object that is a pytree for jax and a node of an object graph for NNX."""

from __future__ import annotations

import abc
import functools
import inspect
import types
from collections.abc import Iterable, Mapping
from types import EllipsisType
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import jax
import jax.numpy as jnp

from typed_nnx._core.cells import (
    acquire,
    content_key,
    graph_lock,
    is_hashable,
    mark_static,
    mark_structure,
    release,
)
from typed_nnx._core.display import NodeDisplay
from typed_nnx._core.fields import (
    Mark,
    check_attributes,
    decide_status,
    declared_statuses,
    needs_no_check,
)
from typed_nnx._core.jax_runtime import context, where
from typed_nnx._core.nodes import (
    CONTAINER,
    LEAF,
    STATIC,
    Bookkeeping,
    GraphNode,
    Spec,
    described,
    kind_of,
    known_spec,
    new_node,
    new_spec,
    spec_of,
    store_cells,
    store_record,
    store_spec,
    store_status,
    store_trace,
)
from typed_nnx._core.settings import MISSING
from typed_nnx.errors import ArgumentTypeError, TraceLevelError
from typed_nnx_models import Hooks

if TYPE_CHECKING:
    from typed_nnx._core.filters import SupportsPart
    from typed_nnx._core.state import State
    from typed_nnx._core.variable_types import LoRAParam, Param


_new = object.__new__


def register_with_jax(cls: Any, trace: Any) -> None:
    """Register a Pytree class: data attributes are its children, its spec is the static part."""
    keys: dict[Any, Any] = {}

    def entry(key: Any) -> Any:
        found = keys.get(key)
        if found is None:
            is_index = isinstance(key, int)
            found = jax.tree_util.SequenceKey(key) if is_index else jax.tree_util.GetAttrKey(key)
            keys[key] = found
        return found

    def flatten(node: Any) -> tuple[list[Any], Spec]:
        spec, children = described(node)
        return children, spec

    def flatten_with_keys(node: Any) -> tuple[list[tuple[Any, Any]], Spec]:
        children, spec = flatten(node)
        return list(zip(map(entry, spec.keys), children, strict=True)), spec

    def unflatten(spec: Spec, children: Iterable[Any]) -> Any:
        node = cls._nnx_rebuild(spec)
        node.__dict__.update(zip(spec.names, children, strict=True))
        return node

    jax.tree_util.register_pytree_with_keys(cls, flatten_with_keys, unflatten, flatten)


F = TypeVar("F")
S = TypeVar("S")

# mypy takes it for true. It cannot infer a State through a generic method in the type of `self`;
# pyright can, and knows the overlay of a user's models in this way.
MYPY = False


class StateHooks:
    """The phantom methods of every Pytree."""

    __slots__: tuple[()] = ()  # mypy asks for its type where the module is not inferred yet

    if TYPE_CHECKING:

        def __nnx_self__(self, /) -> Self: ...

        def __nnx_state__(self, /) -> State[Any, Any, Self, Any]: ...

        def __nnx_part__(self, taken: F, /) -> State[Any, Any, Self, F]: ...

        def __nnx_rest__(self, taken: object, /) -> State[Any, Any, Self, EllipsisType]: ...

        # What gradients are found by. An attribute of a State or a Variable would satisfy the
        # protocols of these methods, but for this mark.
        __nnx_is_graph__: ClassVar[bool]
        # Every other object has it as a method: protocols find by this what is no Pytree.
        __sizeof__: None  # type: ignore[assignment]  # pyright: ignore[reportIncompatibleMethodOverride]  # as said

        if MYPY:

            def __nnx_params__(self, /) -> State[Any, Any, Self, type[Param[Any]]]:  # pyright: ignore[reportRedeclaration]  # for mypy
                ...

        else:

            def __nnx_params__(self: SupportsPart[type[Param[Any]], S], /) -> S: ...

            # mypy would join what two models of a union answer; it takes the next overload instead.
            def __nnx_param_fields__(self: SupportsPart[type[Param[Any]], S], /) -> S: ...

            def __nnx_lora_fields__(self: SupportsPart[type[LoRAParam[Any]], S], /) -> S: ...


# Sizes and names are computed anew for each layer, so that they are equal but not identical.
_BY_VALUE = frozenset({int, str, bool})
# Who has a hash promises to stay what it is; of these it is known.
_HASHED = _BY_VALUE | {
    type, type(None), float, types.FunctionType, types.BuiltinFunctionType, type(jnp.float32),
}  # fmt: skip


def _part(value: object) -> Any:
    """Return what tells static values apart, quickly; a spec keeps its own alive for their ids."""
    cls = value.__class__
    if cls in _BY_VALUE:
        return (cls, value)
    if cls in _HASHED or is_hashable(value):
        return id(value)
    # The same list with other items is another value; two equal ones stay two.
    return (id(value), content_key(value))


class PytreeMeta(abc.ABCMeta):
    """Checks a new object once its ``__init__`` is done."""

    if TYPE_CHECKING:
        # pyright asks the metaclass what the `__dict__` of an object is, and finds that of a class.
        __dict__: dict[str, Any]  # type: ignore[misc, assignment]  # pyright: ignore[reportGeneralTypeIssues]  # as said

    if not TYPE_CHECKING:  # a typed `__call__` would hide the signatures of constructors

        def __call__(cls, /, *args, **kwargs):
            node = cls._pytree_meta_construct(*args, **kwargs)
            if cls._nnx_is_pytree and isinstance(node, Pytree):
                check_attributes(node, node.__dict__, node._nnx_status)
            if (
                isinstance(node, Pytree)
                and node._nnx_described is None
                and not cls._nnx_writes_past
            ):
                node._nnx_spec()  # it is complete now, and the first traversal finds it described
            return node

        @property
        def __signature__(cls):
            # Without it `inspect.signature`, and so help and completion, would show `__call__`.
            parameters = list(inspect.signature(cls.__init__).parameters.values())[1:]
            return inspect.Signature(parameters)

        def _pytree_meta_construct(cls, /, *args, **kwargs):
            return super().__call__(*args, **kwargs)


class Pytree(GraphNode, Hooks, StateHooks, NodeDisplay, Bookkeeping, metaclass=PytreeMeta):
    """A mutable object whose attributes are either data (children for jax) or static (structure).

    Arrays, Variables, other Pytrees and values of registered types are data, all else is static;
    `nnx.data`, `nnx.static` and the annotations `nnx.Data` and `nnx.Static` say otherwise. The
    status of an attribute is decided at its first assignment and stays.

    ``class Foo(nnx.Pytree, pytree=False)`` (or `nnx.Object`) is not registered with jax and not
    checked: there every value that holds arrays or nodes is state.
    """

    # No `__slots__`, nor in classes that derive from it: attributes live in its `__dict__`. And mypy
    # could not compare them with those of `abc.ABC` where an overlay makes an import cycle.

    _nnx_attributes: ClassVar[bool] = True
    _nnx_declared: ClassVar[Mapping[str, bool]] = {}
    _nnx_descriptors: ClassVar[frozenset[str]] = frozenset()

    if not TYPE_CHECKING:  # the arguments are for `__init__`, whose signature counts

        def __new__(cls, /, *args, **kwargs):
            if "_nnx_declared" not in cls.__dict__:
                _prepare(cls)
            node = new_node(cls, None, {}, context.trace)
            return node

    def __init_subclass__(cls, *, pytree: bool = True, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._nnx_is_pytree = pytree
        if pytree:
            register_with_jax(cls, context)

    # -- attributes -------------------------------------------------------------------------------

    def _assign(self, name: str, value: object) -> None:
        """Assign an attribute: check it, decide its status, tell the records."""
        cls = type(self)
        if name in cls._nnx_descriptors:
            self._assign_descriptor(name, value)
            return
        if self._nnx_trace != context.trace:
            raise TraceLevelError("Pytree", cls.__name__, name, where(self))
        if not cls._nnx_is_pytree:
            self._store(name, value.value if type(value) is Mark else value, None)
            return
        mark = None
        if type(value) is Mark:
            mark, value = value.is_data, value.value
        current = self._nnx_status.get(name)
        if mark is None and current is False and needs_no_check(value):
            self._store(name, value, False)
            return
        declared = cls._nnx_declared.get(name) if mark is None and current is None else None
        self._store(name, value, decide_status(self, name, value, mark, declared, current))

    def _assign_descriptor(self, name: str, value: object) -> None:
        """Assign what the class handles itself, such as a property, or `__class__` and `__dict__`."""
        if name not in ("__class__", "__dict__"):
            object.__setattr__(self, name, value)
            return
        if self._nnx_trace != context.trace:
            raise TraceLevelError("Pytree", type(self).__name__, name, where(self))
        with graph_lock:
            object.__setattr__(self, name, value)
            cls: Any = type(self)
            if "_nnx_declared" not in cls.__dict__:
                _prepare(cls)
            if name == "__dict__":
                store_status(self, {})
            store_spec(self, None)
            mark_structure(self._nnx_cells)

    def _store(self, name: str, value: object, is_data: bool | None) -> None:
        attributes: Any = self.__dict__  # pyright takes it for the class's
        status = self._nnx_status
        if (
            self._nnx_described is not None
            and attributes.get(name, MISSING) is value
            and status.get(name) is is_data
            # A list that is assigned again may have other items.
            and (is_data is not False or value.__class__ in _HASHED or is_hashable(value))
        ):
            return
        acquire()  # what another thread traverses meanwhile must not miss the write
        try:
            if self._nnx_described is None and not self._nnx_cells:
                attributes[name] = value
                if is_data is not None:
                    status[name] = is_data
                return
            old, was_data = attributes.get(name, MISSING), status.get(name)
            attributes[name] = value
            if is_data is not None:
                status[name] = is_data
            self._tell(name, old, value, was_data, is_data)
        finally:
            release()

    def _tell(
        self, name: str, old: object, new: object, was_data: bool | None, is_data: bool | None
    ) -> None:
        """Tell the records what kind of change an assignment was."""
        before = STATIC if was_data is False or old is MISSING else kind_of(old)
        after = STATIC if is_data is False else kind_of(new)
        if is_data and was_data:  # any value of a data attribute is at least a leaf
            before, after = before or LEAF, after or LEAF
        if old is not MISSING and was_data is is_data and before == after:
            if after == LEAF:
                return
            # Records look at a value that may change in place; they learn of it by a traversal.
            if (
                after == STATIC
                and (new.__class__ in _HASHED or is_hashable(new))
                and (old.__class__ in _HASHED or is_hashable(old))
            ):
                spec = self._nnx_described
                known = None if spec is None else spec.variant(name, new)
                store_spec(self, known)
                if spec is not None and known is None:
                    spec.add_variant(name, new, self._nnx_spec())
                mark_static(self._nnx_cells, self)
                return
        store_spec(self, None)
        mark_structure(self._nnx_cells)

    def _remove(self, name: str) -> None:
        if name in type(self)._nnx_descriptors:
            object.__delattr__(self, name)
            return
        if self._nnx_trace != context.trace:
            raise TraceLevelError("Pytree", type(self).__name__, name, where(self))
        with graph_lock:
            object.__delattr__(self, name)
            self._nnx_status.pop(name, None)
            store_spec(self, None)
            mark_structure(self._nnx_cells)

    if not TYPE_CHECKING:  # assignments are checked by the declared types of the attributes
        __setattr__ = _assign
        __delattr__ = _remove

    # -- structure --------------------------------------------------------------------------------

    def _nnx_spec(self) -> Spec:
        acquire()
        try:
            attributes, status = self.__dict__, self._nnx_status
            try:
                parts = tuple([None if status[n] else _part(v) for n, v in attributes.items()])
            except KeyError:
                attributes = self._nnx_entries()
                parts = tuple(
                    [
                        None
                        if (self._is_child(n, v) if n not in status else status[n])
                        else _part(v)
                        for n, v in attributes.items()
                    ]
                )
            key = (type(self), tuple(attributes), parts)
            spec = known_spec(key) or new_spec(key, attributes)
            if spec.is_lasting:
                store_spec(self, spec)
            return spec
        finally:
            release()

    def _nnx_entries(self) -> dict[str, Any]:
        """Return the attributes without what cached properties computed, which is no state."""
        cls, cached = type(self), functools.cached_property
        return {
            n: v for n, v in vars(self).items() if not isinstance(getattr(cls, n, None), cached)
        }

    def _is_child(self, name: str, value: object) -> bool:
        """Return whether an attribute without a status is a child."""
        kind = kind_of(value)
        if not self._nnx_is_pytree:
            return kind != STATIC
        # Written past us, by a frozen dataclass or a cached property.
        declared = type(self)._nnx_declared.get(name)
        status = kind not in (STATIC, CONTAINER) if declared is None else declared
        self._nnx_status[name] = status
        return status

    @classmethod
    def _nnx_rebuild(cls, spec: Spec) -> Self:
        """Return a new object with the static attributes of a spec and None for each child."""
        status = spec.status.copy() if cls._nnx_is_pytree else {}
        node: Self = new_node(cls, spec, status, context.trace)
        vars(node).update(spec.template)
        return node

    def _nnx_reset(self, spec: Spec) -> None:
        """Take over all that a spec says; the children are filled in afterwards."""
        store_spec(self, spec if spec.is_lasting else None)
        store_status(self, spec.status.copy() if self._nnx_is_pytree else {})
        if type(self) is not spec.cls:
            object.__setattr__(self, "__class__", spec.cls)
        attributes: Any = self.__dict__  # pyright takes it for the class's
        attributes.clear()
        attributes.update(spec.template)

    def _nnx_refill(self, spec: Spec, children: list[Any]) -> None:
        """Become what a spec and children say; the records hear of it if anything changed."""
        attributes: Any = self.__dict__  # pyright takes it for the class's
        with graph_lock:
            if spec_of(self) == spec and all(
                attributes[n] is c for n, c in zip(spec.names, children, strict=True)
            ):
                return
            mark_structure(self._nnx_cells)
            self._nnx_reset(spec)
            attributes.update(zip(spec.names, children, strict=True))

    # -- copies -----------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        return {"attributes": dict(self.__dict__), "status": dict(self._nnx_status)}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        if "_nnx_declared" not in type(self).__dict__:
            _prepare(type(self))
        store_spec(self, None)
        store_cells(self, ())
        store_record(self, None)
        store_trace(self, context.trace)
        store_status(self, dict(state["status"]))
        vars(self).update(state["attributes"])


def _prepare(cls: type[Pytree]) -> None:
    """Work out what a class declares, when its first object is made and its decorators have run."""
    with graph_lock:
        if "_nnx_declared" in vars(cls):  # another thread was quicker
            return
        cls._nnx_descriptors = frozenset(
            name
            for base in cls.__mro__
            for name, value in list(vars(base).items())  # another thread may be doing the same
            if hasattr(type(value), "__set__") or name in ("__class__", "__dict__")
        )
        cls._nnx_writes_past = any(map(_writes_past, cls.__mro__))
        cls._nnx_declared = declared_statuses(cls)


# What code names that writes attributes without `Pytree.__setattr__`, or may.
_WRITERS = frozenset({"__dict__", "vars", "__setattr__", "__delattr__"})


def _writes_past(cls: type) -> bool:
    """Whether a class may write attributes past `Pytree.__setattr__`; ours tell the records."""
    if cls.__module__.partition(".")[0] in (
        "typed_nnx",
        "typed_nnx_models",
        "typing",
        "abc",
        "builtins",
    ):
        return False
    return any(
        name in ("__setattr__", "__delattr__") or any(map(_names_writers, _codes_of(value)))
        for name, value in list(vars(cls).items())
    )


def _codes_of(value: object) -> list[types.CodeType]:
    """Return the code of a function, or of those that a property or another wrapper holds."""
    inner = [getattr(value, name, None) for name in ("fget", "fset", "fdel", "func", "__func__")]
    inner.append(getattr(type(value), "__set__", None))
    found = [inspect.unwrap(each) for each in (value, *inner) if callable(each)]
    return [each.__code__ for each in found if isinstance(each, types.FunctionType)]


def _names_writers(code: types.CodeType) -> bool:
    inner = [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return not _WRITERS.isdisjoint(code.co_names) or any(map(_names_writers, inner))


register_with_jax(Pytree, context)


class Object(Pytree, pytree=False):
    """A Pytree that is not registered with jax and not checked: ``Pytree`` with ``pytree=False``."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(pytree=False, **kwargs)


def check_pytree(pytree: object) -> None:
    """Check the attributes of a Pytree now, as is done once after ``__init__``.

    Raises:
        PytreeAttributeError: A static attribute holds arrays, Variables or Pytrees, or `nnx.data`
            or `nnx.static` was put inside a container.
    """
    if not isinstance(pytree, Pytree):
        raise ArgumentTypeError(
            "check_pytree",
            f"got a {type(pytree).__name__}; expected an nnx.Pytree.",
            "pass an object whose class is a subclass of nnx.Pytree",
        )
    check_attributes(pytree, pytree.__dict__, pytree._nnx_status)
