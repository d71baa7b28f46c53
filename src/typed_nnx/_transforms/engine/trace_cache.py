"""Traces that serve later calls: an eager `scan` or `cond` runs the user's function once.

jax finds a trace by the identity of the function that it traced, and traces and compiles anew for a new
one. `CachedTrace` gives jax the same function of plain values for all calls of one kind, as long as the
user's functions, and everything that they may read besides their arguments, are the same. Functions that
are defined anew at each call are the same if their code is, and what they close over.

Nothing is reused where a change could go unseen: where the functions reach a Module that is a global, or an
object of a class that is unknown here.
"""

from __future__ import annotations

import contextlib
import enum
import functools
import sys
import types
import weakref
from collections.abc import Callable, Hashable, Iterable, Mapping
from contextvars import copy_context
from typing import Any, Generic, TypeAlias, TypeVar

import jax
import jax.core
import numpy as np

from typed_nnx._core.cells import Bounded, content_key, static_key
from typed_nnx._core.metadata import current_defaults
from typed_nnx._core.nodes import CONTAINER, GraphNode, Spec, kind_of, one_level
from typed_nnx._core.settings import MISSING
from typed_nnx._core.variable import Variable
from typed_nnx._graph.graphdef import VariableDef
from typed_nnx._graph.mode import resolve_modes
from typed_nnx._transforms.engine.closures import (
    WrapsFunction,
    content_of,
    held,
    identical,
    parts_of,
)
from typed_nnx._transforms.engine.lift import Lift
from typed_nnx._transforms.engine.prefixes import Function, Node, Tree, Value
from typed_nnx._transforms.engine.signature import Pure, Signature
from typed_nnx._transforms.engine.trace import Trace

T = TypeVar("T")


StartTrace: TypeAlias = Callable[[Signature, *Pure], Trace]
"""`Lift.trace` of the call that is running."""


class CachedTrace(Generic[T]):
    """What jax traces for one call, made by this call or by an earlier one of the same kind.

    Used as ``with CachedTrace(...) as body: jax.lax.scan(body, ...)``.

    Args:
        key: What else the trace depends on; None if it is good for one call only.
        make: Makes it. It gets what starts a trace of the user's function, and must hold neither `lift` nor
            anything else of the call.
    """

    __slots__ = ("_call", "_entry", "_lift", "_make", "_signature", "_view")

    def __init__(
        self,
        lift: Lift,
        signature: Signature,
        key: Hashable | None,
        make: Callable[[StartTrace], T],
    ) -> None:
        self._lift = lift
        self._signature = signature
        self._call = None if key is None else (lift.name, key, signature.key)
        self._make = make

    def __enter__(self) -> T:
        self._view = None
        entry: _Entry[T] | None = None
        if self._call is not None:
            view = _view_of(self._lift)
            with contextlib.suppress(TypeError):  # something in an argument has no hash
                entry, self._view = self._known(view), view
        if entry is None:
            reads = None
            if self._view is not None:
                reads = _Reads(self._view, self._signature)
            entry = _Entry(self._make, reads)
        self._entry = entry
        entry.lifts.append(self._lift)
        return entry.made

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        entry, entered = self._entry, self._view
        entry.lifts.remove(self._lift)
        if kind is None and entry.has_run and entered is not None and entry.reads is not None:
            self._keep(entry, entered, entry.reads)
        elif kind is not None:
            entry.reads = None
        entry.has_run = False

    def _known(self, view: _View | None) -> _Entry[T] | None:
        if view is None:
            return None
        for key, owner in ((view.key, None), (view.identity, _owners[view.identity])):
            entry = _entries[self._call, key]
            if entry is not None and entry.owner is owner and entry.is_current(view):
                return entry
        return None

    def _keep(self, entry: _Entry[T], entered: _View, reads: _Reads) -> None:
        """Keep what was traced now, though the function itself may have changed what it reads, as by counting."""
        view = _view_of(self._lift)
        if view is None or view.objects != entered.objects or not reads.can_be_watched:
            return
        has_effects = view.key != entered.key or not reads.are_current()
        if has_effects:
            entry.reads = _Reads(view, self._signature)
        if has_effects or view.values:
            owner = _owners[view.identity]
            if owner is None or owner.key != entered.key:
                owner = _owners[view.identity] = _Owner()
            owner.adopt(view)
            entry.owner = owner
        key = self._call, view.identity if entry.owner else view.key
        if _entries.add(key, entry) is not entry:
            _entries[key] = entry


class _Owner:
    """Functions whose traces are for them alone: they change what they close over, or hold arrays.

    Attributes:
        key: The key of their view after the last trace; None once something that it names is gone.
    """

    __slots__ = ("__weakref__", "_references", "key")

    def __init__(self) -> None:
        self.key: Hashable = None
        self._references: list[Value] = []

    def adopt(self, view: _View) -> None:
        """Accept what the functions close over now, as long as it exists."""
        this = weakref.ref(self)

        def forget(_: object) -> None:
            owner = this()
            if owner is not None:
                owner.key = None

        self.key = view.key
        self._references = [weakref.ref(each, forget) for each in (*view.functions, *view.values)]


class _Entry(Generic[T]):
    """What `CachedTrace` keeps.

    Attributes:
        made: What jax traces.
        lifts: The functions of the calls that run now. All are alike, and none is kept.
        reads: What the trace may have read besides its arguments and closures; None if unknown.
        owner: The functions that it is for; None if it is for all that are alike.
        has_run: Whether the user's function has run in the current call.
    """

    __slots__ = ("has_run", "lifts", "made", "owner", "reads")

    def __init__(self, make: Callable[[StartTrace], T], reads: _Reads | None) -> None:
        self.lifts: list[Lift] = []
        self.reads = reads
        self.owner: _Owner | None = None
        self.has_run = False
        self.made: T = make(self._trace)

    def _trace(self, signature: Signature, *pure: *Pure) -> Trace:
        self.has_run = True
        return self.lifts[-1].trace(signature, *pure)

    def is_current(self, view: _View) -> bool:
        """Whether it is still good for functions."""
        return (
            (self.owner is None or self.owner.key == view.key)
            and self.reads is not None
            and self.reads.are_current()
        )


_entries: Bounded[Hashable, _Entry[Any]] = Bounded(512)
_owners: Bounded[Hashable, _Owner] = Bounded(512)


def _view_of(lift: Lift) -> _View | None:
    """Return what describes functions and what they close over; None if a change could go unseen."""
    captures = lift.captures()
    if captures.view is MISSING:
        view = _View(lift.function)
        captures.view = view if view.can_be_watched else None
    found: _View | None = captures.view
    return found


class _View:
    """Describes functions with what they close over.

    Attributes:
        key: Equal for functions that do the same.
        functions: The Python functions among them.
        classes: The classes.
        values: Arrays and other values that are compared by identity: the key is good as long as they exist.
        objects: The ids of the Modules and Variables.
        can_be_watched: Whether nothing among these can change unseen.
    """

    __slots__ = ("_numbers", "can_be_watched", "classes", "functions", "key", "objects", "values")

    def __init__(self, function: Function) -> None:
        self._numbers: dict[int, int] = {}
        self.functions: list[types.FunctionType] = []
        self.classes: list[type] = []
        self.values: list[Value] = []
        self.objects: list[int] = []
        self.can_be_watched = True
        self.key: Hashable = self._of(function)

    @property
    def identity(self) -> Hashable:
        """Equal for these very functions only."""
        return tuple(map(id, self.functions))

    def _of(self, value: Value) -> Hashable:
        if type(value) in _SIMPLE:
            key: Hashable = static_key(value)
            return key
        known = self._numbers.get(id(value))
        if known is not None:
            return _Seen, known
        self._numbers[id(value)] = len(self._numbers)
        kind = type(value)
        if isinstance(value, GraphNode | Variable):
            self.objects.append(id(value))
            return GraphNode
        if isinstance(value, types.FunctionType):
            self.functions.append(value)
            cells = [self._of(content_of(cell)) for cell in value.__closure__ or ()]
            defaults = self._of(value.__defaults__), self._of(value.__kwdefaults__)
            return Identical(value.__code__), Identical(value.__globals__), tuple(cells), defaults
        if isinstance(value, list | tuple):
            return (kind, *[self._of(each) for each in value])
        if isinstance(value, dict):
            return (kind, *[(content_key(name), self._of(each)) for name, each in value.items()])
        if isinstance(value, functools.partial):
            return kind, self._of(value.func), self._of(value.args), self._of(value.keywords)
        if isinstance(value, types.MethodType):
            return kind, self._of(value.__self__), self._of(value.__func__)
        if isinstance(value, WrapsFunction) and not isinstance(value, type):
            self.values.append(value)
            return kind, id(value), self._of(value.nnx_function())
        if kind_of(value) == CONTAINER:  # a dataclass that jax knows, a State
            entries, treedef = one_level(value)
            return (treedef, *[self._of(child) for _, child in entries])
        return self._constant(value)

    def _constant(self, value: Value) -> Hashable:
        if isinstance(value, type):
            self.classes.append(value)
        if _is_permanent(value):
            return Identical(value)
        if isinstance(value, np.generic):
            return type(value), value.tobytes()
        if _is_value(value):
            return type(value), value
        try:
            weakref.ref(value)
        except TypeError:
            self.can_be_watched = False
        if isinstance(value, type) or _is_array(value) or _is_of_library(value):
            self.values.append(value)
        else:
            self.can_be_watched = False
        return id(value)


class _Seen:
    """Marks in a key what was described before."""


class Identical:
    """A key that is equal to that of the same object only."""

    __slots__ = ("_value",)

    def __init__(self, value: object) -> None:
        self._value = value

    def __eq__(self, other: object) -> bool:
        return type(other) is Identical and self._value is other._value

    def __hash__(self) -> int:
        return id(self._value)


_SIMPLE = frozenset({int, float, bool, complex, str, bytes, type(None), type(...)})
# Packages whose functions and classes stay what they are while a program runs.
_LIBRARIES = frozenset({
    "jax", "jaxlib", "numpy", "ml_dtypes", "scipy", "flax", "optax", "einops", "typed_nnx",
    *sys.stdlib_module_names,
})  # fmt: skip
# Those of them whose objects do too.
_FIXED = frozenset({"jax", "jaxlib", "typed_nnx", "typing", "_contextvars"})


def _package(value: Value) -> str:
    name = getattr(value, "__module__", None)
    return name.partition(".")[0] if isinstance(name, str) else ""


def _is_of_library(value: Value) -> bool:
    """Whether a value cannot change, since a library made its class."""
    return _package(type(value)) in _FIXED and not isinstance(value, jax.core.Tracer)


def _is_array(value: Value) -> bool:
    return isinstance(value, jax.Array) and not isinstance(value, jax.core.Tracer)


def _is_permanent(value: Value) -> bool:
    """Whether a value exists as long as the program, and does not change."""
    if value is MISSING or isinstance(value, types.ModuleType | enum.Enum):
        return True
    if isinstance(value, types.BuiltinFunctionType):
        return value.__self__ is None or isinstance(value.__self__, types.ModuleType)
    if isinstance(value, type):
        return "<locals>" not in value.__qualname__
    # Among them functions of jax that are no Python functions.
    return (
        _package(type(value)) in _LIBRARIES
        and callable(value)
        and _package(value) in _LIBRARIES
        and not isinstance(value, jax.core.Tracer)
    )


def _is_value(value: Value) -> bool:
    """Whether a value cannot change, and means the same as those that it is equal to."""
    if isinstance(value, frozenset | range | np.dtype):
        return True
    return (
        getattr(type(value), "__hash__", None) is not object.__hash__
        and _package(type(value)) in _FIXED
        and not callable(value)
        and not isinstance(value, jax.Array | GraphNode | Variable)
    )


def _roots(view: _View, signature: Signature) -> Iterable[Value]:
    """Return what a trace runs: functions, and classes and static functions of objects among the arguments."""
    found: dict[int, Node] = {id(value): value for value in (*view.functions, *view.classes)}
    for part in signature.parts:
        for item in part.graphdef.items:
            if isinstance(item, Spec | VariableDef):
                found[id(item.cls)] = item.cls
            if isinstance(item, Spec):
                for _, value in item.statics:
                    if callable(value):
                        found[id(value)] = value
    return found.values()


class _Reads:
    """What a trace may have read besides its arguments and what its functions close over.

    That is settings, context variables, and the globals that the functions and the methods of the classes
    name, with what these lead to.

    Attributes:
        can_be_watched: Whether all changes of these are seen.
    """

    __slots__ = ("_cells", "_containers", "_context", "_names", "_settings", "can_be_watched")

    def __init__(self, view: _View, signature: Signature) -> None:
        self._names: list[tuple[Mapping[str, Tree], str, Tree]] = []
        self._cells: list[tuple[types.CellType, Tree]] = []
        self._containers: list[tuple[Tree, list[Value]]] = []
        self._settings = _settings()
        self._context = copy_context()
        self.can_be_watched = True
        seen: set[Hashable] = set()
        captured = set(map(id, view.functions))
        for root in _roots(view, signature):
            if id(root) in captured:  # the view knows what it closes over
                self._globals(root, seen)
            else:
                self._look_at(root, (), seen)

    def are_current(self) -> bool:
        """Whether they are as they were."""
        context = copy_context()
        return (
            self.can_be_watched
            and self._settings == _settings()
            and len(self._context) == len(context)
            and all(context.get(key, MISSING) is value for key, value in self._context.items())
            and all(holder.get(name, MISSING) is value for holder, name, value in self._names)
            and all(content_of(cell) is content for cell, content in self._cells)
            and all(identical(held(each), items) for each, items in self._containers)
        )

    def _globals(self, function: types.FunctionType, seen: set[Hashable]) -> None:
        """Look at the globals that a function names."""
        if _package(function) not in _LIBRARIES and id(function.__code__) not in seen:
            seen.add(id(function.__code__))
            names = _names_in(function.__code__)
            for name in names:
                self._name(function.__globals__, name, names, seen)

    def _name(
        self, holder: Mapping[str, Tree], name: str, names: Iterable[str], seen: set[Hashable]
    ) -> None:
        if (id(holder), name) not in seen:
            seen.add((id(holder), name))
            value = holder.get(name, MISSING)
            self._names.append((holder, name, value))
            self._look_at(value, names, seen)

    def _look_at(self, value: Value, names: Iterable[str], seen: set[Hashable]) -> None:
        """Look at what a value leads to; of a module that is what the names say."""
        if isinstance(value, types.ModuleType):
            if value.__name__.partition(".")[0] not in _LIBRARIES:
                attributes = vars(value)
                for name in names:
                    if name in attributes:
                        self._name(attributes, name, names, seen)
        elif type(value) not in _SIMPLE and id(value) not in seen:
            seen.add(id(value))
            for part in self._parts(value, seen):
                self._look_at(part, names, seen)

    def _parts(self, value: Value, seen: set[Hashable]) -> Iterable[Value]:
        if isinstance(value, GraphNode | Variable):
            self.can_be_watched = False
            return ()
        if isinstance(value, types.FunctionType):
            self._globals(value, seen)
            self._cells.extend([(cell, content_of(cell)) for cell in value.__closure__ or ()])
            return parts_of(value)
        if isinstance(value, type):
            return () if _package(value) in _LIBRARIES else self._of_class(value, seen)
        if isinstance(value, list | tuple | dict):
            items = held(value)
            self._containers.append((value, items))
            return items
        if isinstance(value, functools.partial | types.MethodType | WrapsFunction):
            return parts_of(value)
        if isinstance(value, property):
            return value.fget, value.fset
        if isinstance(value, staticmethod | classmethod):
            return (value.__func__,)
        if kind_of(value) == CONTAINER or not (
            _is_array(value)
            or _is_permanent(value)
            or _is_value(value)
            or _is_of_library(value)
            or isinstance(
                value, np.generic | types.MemberDescriptorType | types.GetSetDescriptorType
            )
        ):
            self.can_be_watched = False
        return ()

    def _of_class(self, cls: type, seen: set[Hashable]) -> Iterable[Value]:
        for name, value in list(vars(cls).items()):
            if isinstance(value, types.FunctionType) or not name.startswith(_OF_PYTHON):
                self._name(vars(cls), name, (), seen)
        return cls.__bases__


# Attributes of classes that Python and this package make.
_OF_PYTHON = ("__", "_abc_impl", "_nnx_")


def _names_in(code: types.CodeType) -> set[str]:
    """Return the names of globals and attributes in a function and in those inside it."""
    inner = [each for each in code.co_consts if isinstance(each, types.CodeType)]
    return set(code.co_names).union(*map(_names_in, inner))


def _settings() -> Hashable:
    defaults = current_defaults()
    return (*resolve_modes(None, None), defaults.hijax, defaults.ref, defaults.eager_sharding)
