"""``nnx.bridge.module``: a Module with the life of a Linen module, and what belongs to it."""

from __future__ import annotations

import dataclasses
import enum
import functools
import operator
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeGuard

import jax
from typing_extensions import dataclass_transform

from typed_nnx._core import modules
from typed_nnx._core.fields import register_data_type as register_data_type
from typed_nnx._core.modules import A as A
from typed_nnx._core.modules import F as F
from typed_nnx._core.modules import M as M
from typed_nnx._core.nested import normalized, register_mapping
from typed_nnx._core.nodes import CONTAINER, OBJECT, all_entries, kind_of
from typed_nnx._core.paths import Key
from typed_nnx._core.pytree import Pytree as Pytree
from typed_nnx._core.pytree import PytreeMeta
from typed_nnx._core.rngs import Rngs, RngState
from typed_nnx._core.state import State
from typed_nnx._core.variable import Variable
from typed_nnx._core.variable_types import Param, variable_type_from_name
from typed_nnx._graph.split import clone
from typed_nnx.bridge.variables import (
    Attributes,
    Collections,
    Linen,
    Value,
    collected,
    fill,
    flax_modules,
    linen_vars_to_nnx_attrs,
    to_linen_var,
    unbound_method,
    values_in,
    variable_of,
)
from typed_nnx.errors import BridgeError


@dataclasses.dataclass
class ModuleStackEntry:
    """A Module that runs.

    Attributes:
        module: The Module.
        in_compact: Whether one of its compact methods runs, so that new submodules get names.
        type_counter: How many submodules of each type were named.
    """

    module: Module
    in_compact: bool
    type_counter: Counter[type] = dataclasses.field(default_factory=Counter)

    def new_name(self, cls: type) -> str:
        """Return the name of the next submodule of a type: ``Dense_0``, ``Dense_1``, ..."""
        self.type_counter[cls] += 1
        return f"{cls.__name__}_{self.type_counter[cls] - 1}"

    def place(self, name: str, made: Value) -> None:
        """Make what a method of the Module made an attribute of it."""
        _place(self.module, name, made)


@dataclasses.dataclass
class ModuleContext(threading.local):
    """The Modules that run, innermost last; None is "outside of any"."""

    module_stack: list[ModuleStackEntry | None] = dataclasses.field(default_factory=lambda: [None])


MODULE_CONTEXT = ModuleContext()


def current_context() -> ModuleStackEntry | None:
    """Return the entry of the `bridge.Module` that runs, or None."""
    return MODULE_CONTEXT.module_stack[-1]


def current_module() -> Module | None:
    """Return the `bridge.Module` whose method runs, or None."""
    entry = current_context()
    return None if entry is None else entry.module


@contextmanager
def _running(module: Module, in_compact: bool) -> Iterator[None]:
    """Make a Module the current one for as long as the context lasts."""
    stack = MODULE_CONTEXT.module_stack
    stack.append(ModuleStackEntry(module, in_compact))
    try:
        yield
    finally:
        stack.pop()


class ModuleState(State[Key, Value, Value, Value]):
    """The Variables of a submodule that `apply` was given and that is not made yet.

    It stands in the attribute of the submodule until that is assigned.
    """

    __slots__ = ()


register_mapping(ModuleState, operator.attrgetter("_mapping"), ModuleState._of)


class Scope(Pytree):
    """The random streams and the mutable collections of the Modules that run together.

    Args:
        rngs: The random streams.
        mutable: A filter of Linen: True, False, a name or several names.
    """

    def __init__(self, rngs: Rngs, mutable: Linen) -> None:
        self.rngs: Rngs = rngs
        # Static attributes are compared and hashed.
        self.mutable: Linen = tuple(mutable) if isinstance(mutable, list | set) else mutable

    def copy(self) -> Scope:
        """Return another scope with the same streams."""
        made = Scope(self.rngs, self.mutable)
        if "initializing" in vars(self):
            made.initializing = True
        return made

    # Only there while `init` runs, so that a function that is jitted around a Module is traced again.
    initializing: bool = False


class AttrPriority(enum.IntEnum):
    """Which attribute a Variable belongs to that is reached by several: the lowest wins."""

    HIGH = 0
    INIT_PARENT = 20
    DEFAULT = 50
    LOW = 100


# Attributes that are no state of the Module.
_OWN = ("scope", "attr_priorities")


def _bind(module: Value, scope: Scope) -> None:
    """Give a Module and those in its attributes a scope, and run its `setup`."""
    module.scope = scope.copy()
    for name, value in list(vars(module).items()):
        if name not in _OWN:
            _bind_inside(value, scope)
    setup = getattr(module, "setup", None)
    if setup is not None:
        with _running(module, in_compact=False):
            setup()


def _bind_inside(value: Value, scope: Scope) -> None:
    if isinstance(value, Module):
        if value.scope is None:
            _bind(value, scope)
    elif kind_of(value) in (OBJECT, CONTAINER) and not isinstance(value, ModuleState):
        for _, inner in all_entries(value):
            _bind_inside(inner, scope)


def _adopt(parent: Value, name: str, value: Value) -> None:
    """Prepare a value for an attribute of a bound Module: its Variables, then its scope."""
    waiting = vars(parent).get(name)
    if waiting is value:
        return
    if isinstance(waiting, Module) and type(waiting) is type(value):
        # A compact method that runs a second time: the same submodule with the same Variables.
        kinds = (Variable, Mapping, Pytree)
        own = {n: v for n, v in vars(waiting).items() if n not in _OWN and isinstance(v, kinds)}
        fill(value, own)
    elif isinstance(waiting, Variable):
        if isinstance(value, Variable):
            value.update_from_state(waiting)
    elif isinstance(waiting, ModuleState) and kind_of(value) in (OBJECT, CONTAINER):
        fill(value, waiting.raw_mapping)
    _bind_inside(value, parent.scope)


def _nested(node: Value, seen: set[int]) -> Attributes:
    """Return the Variables of a Module as nested dicts, each once, under its best attribute."""
    found: Attributes = {}
    for key, value in _by_priority(node):
        if isinstance(value, Variable):
            if id(value) not in seen and not isinstance(value, RngState):
                seen.add(id(value))
                found[key] = value
        elif isinstance(value, ModuleState):
            found[key] = normalized(value.raw_mapping)
        elif kind_of(value) in (OBJECT, CONTAINER):
            if isinstance(value, Pytree):
                if id(value) in seen:
                    continue
                seen.add(id(value))
            inner = _nested(value, seen)
            if inner:
                found[key] = inner
    return found


def _by_priority(node: Value) -> Iterator[tuple[Key, Value]]:
    if not isinstance(node, Module):
        yield from all_entries(node)
        return
    given: Mapping[str, AttrPriority] = node.attr_priorities
    names = sorted(vars(node), key=lambda name: (given.get(name, AttrPriority.DEFAULT), name))
    for name in names:
        if name not in _OWN:
            yield name, vars(node)[name]


_LinenRngs = int | jax.Array | Mapping[str, jax.Array] | Rngs


def compact(f: F) -> F:
    """Let a method of a `bridge.Module` make submodules and Variables where it uses them.

    Submodules that it makes get the names ``Dense_0``, ``Dense_1``, ... unless they are made with
    the keyword argument ``name``.
    """

    @functools.wraps(f)
    def compact_wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        with _running(self, in_compact=True):
            return f(self, *args, **kwargs)

    wrapped: Any = compact_wrapper
    result: F = wrapped  # it takes what `f` takes
    return result


class ModuleMeta(PytreeMeta):
    """Gives a new Module its place in the Module whose method makes it."""

    if not TYPE_CHECKING:  # a typed method would hide the signatures of constructors

        def _pytree_meta_construct(cls, *args, **kwargs):
            entry = current_context()
            parent = None if entry is None or entry.module.scope is None else entry.module
            if parent is not None:  # `parent=None` keeps the new one to itself
                parent = kwargs.pop("parent", parent)
            name = kwargs.get("name") if parent is not None else None
            if name is not None and "name" not in cls.__dataclass_fields__:
                del kwargs["name"]
            node = cls.__new__(cls, *args, **kwargs)
            node.scope = None
            node.__init__(*args, **kwargs)
            node.attr_priorities = {}
            if parent is not None and name is None and entry.in_compact:
                name = entry.new_name(cls)
            if name is not None:
                _place(parent, name, node)
            return node


def _place(parent: Value, name: str, module: Value) -> None:
    parent.set_attr_priority(name, AttrPriority.INIT_PARENT)
    setattr(parent, name, module)


@dataclass_transform(eq_default=False, field_specifiers=(dataclasses.field,))
class Module(modules.Module, metaclass=ModuleMeta, pytree=False):
    """A Module that is defined as in Linen: with `setup`, `compact`, `param`, `init` and `apply`.

    Its classes are dataclasses; their fields are hyperparameters and submodules. Variables and
    submodules are made in `setup` or in methods wrapped in `compact`, while `init` or `apply` runs:

    ``variables = Net().init(0, x)`` and ``y = Net().apply(variables, x)``.
    """

    _nnx_waiting: ClassVar[type] = ModuleState

    if TYPE_CHECKING:
        # Of every object, set by the metaclass; here so that they are no fields of subclasses.
        scope: ClassVar[Scope | None]
        attr_priorities: ClassVar[Mapping[str, AttrPriority]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(pytree=False, **kwargs)
        dataclasses.dataclass(repr=False, eq=False)(cls)

    if not TYPE_CHECKING:  # assignments are checked by the declared types of the attributes

        def __setattr__(self, name, value):
            if name not in _OWN and vars(self).get("scope") is not None:
                _adopt(self, name, value)
            super().__setattr__(name, value)

        def __getattribute__(self, name):
            value = super().__getattribute__(name)
            if type(value) is ModuleState:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            return value

    def set_attr_priority(self, name: str, value: AttrPriority) -> None:
        """Say how early an attribute counts when a Variable is reached by several attributes."""
        priorities = {**self.attr_priorities, name: value}
        object.__getattribute__(self, "_assign")("attr_priorities", priorities)

    # -- in setup and in compact methods -------------------------------------------------------------

    def _bound(self, function: str) -> Scope:
        scope: Scope | None = self.scope
        if scope is None:
            raise BridgeError.without_scope(function, type(self).__name__)
        return scope

    def make_rng(self, name: str = "default") -> jax.Array:
        """Return the next key of a random stream.

        Raises:
            BridgeError: Neither `init` nor `apply` runs.
            StreamNotFoundError: There is no such stream and none called ``default``.
        """
        return self._bound("make_rng").rngs[name]()

    def param(
        self,
        name: str,
        init_fn: Callable[..., A],
        *init_args: Any,
        unbox: bool = True,
        **init_kwargs: Any,
    ) -> Param[A]:
        """Return the parameter of a name; `init` makes it.

        Args:
            name: The attribute.
            init_fn: Takes a key of the stream ``params`` and `init_args`.
            *init_args: Arguments for it.
            unbox: Accepted for compatibility: metadata is always that of the Variable.
            **init_kwargs: Keyword arguments for it.

        Raises:
            BridgeError: Neither `init` nor `apply` runs, or the attribute is something else.
        """
        del unbox
        self._bound("param")
        found: Value = self._existing(name, Param)
        if found is None:
            value = init_fn(self.make_rng("params"), *init_args, **init_kwargs)
            found = self._keep("params", name, value)
        param: Param[A] = found
        return param

    def variable(
        self,
        col: str,
        name: str,
        init_fn: Callable[..., A] | None = None,
        *init_args: Any,
        unbox: bool = True,
        **init_kwargs: Any,
    ) -> Variable[A]:
        """Return the Variable of a name; `init` makes it.

        Args:
            col: The collection, which is the registered name of the Variable type.
            name: The attribute.
            init_fn: Makes the value; None where there must be one.
            *init_args: Arguments for it.
            unbox: Accepted for compatibility: metadata is always that of the Variable.
            **init_kwargs: Keyword arguments for it.

        Raises:
            BridgeError: Neither `init` nor `apply` runs, the attribute is something else, or there
                is neither a Variable nor an initializer.
        """
        del unbox
        self._bound("variable")
        kind = variable_type_from_name(col, allow_register=True)
        found: Value = self._existing(name, kind)
        if found is None:
            if init_fn is None:
                raise BridgeError(
                    type(self).__name__,
                    f"there is no {kind.__name__} {name!r} and `init_fn` is None.",
                    f"pass an initializer: self.variable(..., {name!r}, jnp.zeros, shape)",
                )
            found = self._keep(col, name, init_fn(*init_args, **init_kwargs))
        variable: Variable[A] = found
        return variable

    def _existing(self, name: str, kind: type[Variable[Value]]) -> Value:
        found = vars(self).get(name)
        if found is None:
            return None
        if isinstance(found, ModuleState):  # the value is a dict: Linen does not tell them apart
            found = kind(values_in(found.raw_mapping))
            setattr(self, name, found)
        if not isinstance(found, kind):
            raise BridgeError(
                type(self).__name__,
                f"Expected {name!r} to be a {kind.__name__}, got {type(found).__name__}.",
                "use another name for one of the two",
            )
        return found

    def _keep(self, col: str, name: str, value: Value) -> Value:
        # Not placed on a mesh yet: `init` may run where there is none.
        made = variable_of(col, value, eager_sharding=False)
        setattr(self, name, made)
        return made

    # -- from outside --------------------------------------------------------------------------------

    def _linen_variables(self) -> Collections:
        return collected(_nested(self, set()), to_linen_var, allow_register=True)

    @property
    def variables(self) -> Mapping[str, Any]:
        """The Variables of this Module, by collection, as Linen keeps them."""
        frozen: Mapping[str, Any] = flax_modules("bridge.Module").core.freeze(
            self._linen_variables()
        )
        return frozen

    def is_initializing(self) -> bool:
        """Whether `init` runs."""
        scope: Scope | None = self.scope
        return scope is not None and scope.initializing

    def apply(
        self,
        variables: Mapping[str, Mapping[str, Any]],
        *args: Any,
        rngs: _LinenRngs | None = None,
        method: Callable[..., Any] | str = "__call__",
        mutable: Linen = False,
        _initialize: bool = False,
        **kwargs: Any,
    ) -> Any:
        """Call a method with these variables; the Module itself stays as it is.

        Args:
            variables: The variables, by collection.
            *args: The arguments of the method.
            rngs: A seed, a key, a mapping from names to keys, or random streams.
            method: The method, or its name.
            mutable: A filter of Linen; False for "the output only".
            **kwargs: The keyword arguments of the method.

        Returns:
            The output; with `mutable` the output and the variables after the call.

        Raises:
            BridgeError: `rngs` is none of these, or `method` is neither a name nor a callable.
        """
        scope = Scope(_streams(type(self).__name__, rngs), mutable)
        if _initialize:
            scope.initializing = True
        function = unbound_method(type(self), method, type(self).__name__)
        module: Value = clone(self)
        fill(module, linen_vars_to_nnx_attrs(variables))
        _bind(module, scope)
        with _running(module, in_compact=False):
            output = function(module, *args, **kwargs)
        return output if mutable is False else (output, module._linen_variables())

    def init(
        self,
        rngs: _LinenRngs | None = None,
        *args: Any,
        method: Callable[..., Any] | str = "__call__",
        **kwargs: Any,
    ) -> Collections:
        """Return the variables that a call of a method makes.

        Arguments and errors are those of `apply`.
        """
        return self.init_with_output(rngs, *args, method=method, **kwargs)[1]

    def init_with_output(
        self,
        rngs: _LinenRngs | None = None,
        *args: Any,
        method: Callable[..., Any] | str = "__call__",
        mutable: Linen = False,
        **kwargs: Any,
    ) -> tuple[Any, Collections]:
        """Return the output of a call of a method and the variables that it makes.

        Arguments and errors are those of `apply`; everything is mutable here, whatever `mutable` says.
        """
        del mutable
        result: tuple[Any, Collections] = self.apply(
            {}, *args, rngs=rngs, method=method, mutable=True, _initialize=True, **kwargs
        )
        return result


def _streams(module: str, rngs: object) -> Rngs:
    if isinstance(rngs, Rngs):
        return rngs
    if rngs is None:
        return Rngs()
    if isinstance(rngs, int | jax.Array | Mapping):
        return Rngs(rngs)
    expected = "an int, a PRNG key, a mapping from names to keys, nnx.Rngs or None"
    raise BridgeError.of_argument(module, "rngs", rngs, expected, "module.init(0, x)")


class _HasSetup(Protocol):
    """A `bridge.Module` that makes its submodules beforehand."""

    def setup(self) -> None:
        """Make submodules and Variables."""


def has_setup(x: object) -> TypeGuard[_HasSetup]:
    """Whether an object has a method `setup`."""
    return callable(getattr(x, "setup", None))
