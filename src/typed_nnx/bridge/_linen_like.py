"""`bridge.Module`: a Module with the life of a Linen module."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeGuard, TypeVar

import jax
from typing_extensions import dataclass_transform

from typed_nnx._core import module as modules
from typed_nnx._core.pytree import PytreeMeta
from typed_nnx._core.rngs import Rngs
from typed_nnx._core.variable import Variable
from typed_nnx._core.variable_types import Param, variable_type_from_name
from typed_nnx._graph.split_merge import clone
from typed_nnx.bridge._binding import OWN, adopt, bind, variables_of
from typed_nnx.bridge._context import current_context, running
from typed_nnx.bridge._conversion import (
    collected,
    linen_vars_to_nnx_attrs,
    to_linen_var,
    variable_of,
)
from typed_nnx.bridge._fill import fill
from typed_nnx.bridge._linen import flax_modules
from typed_nnx.bridge._module_state import ModuleState
from typed_nnx.bridge._scope import AttrPriority, Scope
from typed_nnx.errors import (
    BridgeMethodError,
    BridgeRngsError,
    BridgeVariableError,
    UnboundModuleError,
)

A = TypeVar("A")
F = TypeVar("F", bound=Callable[..., Any])

LinenRngs = int | jax.Array | Mapping[str, jax.Array] | Rngs


def compact(f: F) -> F:
    """Let a method of a `bridge.Module` make submodules and Variables where it uses them.

    Submodules that it makes get the names ``Dense_0``, ``Dense_1``, ... unless they are made with
    the keyword argument ``name``.
    """

    @functools.wraps(f)
    def compact_wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        with running(self, in_compact=True):
            return f(self, *args, **kwargs)

    wrapped: Any = compact_wrapper
    return wrapped  # type: ignore[no-any-return]  # it takes what `f` takes


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
                place(parent, name, node)
            return node


def place(parent: Any, name: str, module: Any) -> None:
    """Make a module an attribute of the Module whose method made it."""
    parent.set_attr_priority(name, AttrPriority.INIT_PARENT)
    setattr(parent, name, module)


@dataclass_transform(eq_default=False, field_specifiers=(dataclasses.field,))
class Module(modules.Module, metaclass=ModuleMeta, pytree=False):
    """A Module that is defined as in Linen: with `setup`, `compact`, `param`, `init` and `apply`.

    Its classes are dataclasses; their fields are hyperparameters and submodules. Variables and
    submodules are made in `setup` or in methods wrapped in `compact`, while `init` or `apply` runs:

    ``variables = Net().init(0, x)`` and ``y = Net().apply(variables, x)``.
    """

    _nnx_is_linen_like: ClassVar[bool] = True
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
            if name not in OWN and vars(self).get("scope") is not None:
                adopt(self, name, value)
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
            raise UnboundModuleError(function, type(self).__name__)
        return scope

    def make_rng(self, name: str = "default") -> jax.Array:
        """Return the next key of a random stream.

        Raises:
            UnboundModuleError: Neither `init` nor `apply` runs.
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
            UnboundModuleError: Neither `init` nor `apply` runs.
            BridgeVariableError: The attribute is something else.
        """
        del unbox
        self._bound("param")
        found: Any = self._existing(name, Param)
        if found is None:
            value = init_fn(self.make_rng("params"), *init_args, **init_kwargs)
            found = self._keep("params", name, value)
        return found  # type: ignore[no-any-return]  # it holds what `init_fn` returns

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
            UnboundModuleError: Neither `init` nor `apply` runs.
            BridgeVariableError: The attribute is something else, or there is neither a Variable nor
                an initializer.
        """
        del unbox
        self._bound("variable")
        kind = variable_type_from_name(col, allow_register=True)
        found: Any = self._existing(name, kind)
        if found is None:
            if init_fn is None:
                raise BridgeVariableError(type(self).__name__, name, kind.__name__, None)
            found = self._keep(col, name, init_fn(*init_args, **init_kwargs))
        return found  # type: ignore[no-any-return]  # it holds what `init_fn` returns

    def _existing(self, name: str, kind: type[Variable[Any]]) -> Variable[Any] | None:
        found = vars(self).get(name)
        if found is None:
            return None
        if isinstance(
            found, ModuleState
        ):  # the value is a dict, which Linen's variables do not tell
            found = kind(_values(found.raw_mapping))
            setattr(self, name, found)
        if not isinstance(found, kind):
            got = type(found).__name__
            raise BridgeVariableError(type(self).__name__, name, kind.__name__, got)
        return found

    def _keep(self, col: str, name: str, value: Any) -> Variable[Any]:
        # Not placed on a mesh yet: `init` may run where there is none.
        made = variable_of(col, value, eager_sharding=False)
        setattr(self, name, made)
        return made

    # -- from outside --------------------------------------------------------------------------------

    def _linen_variables(self) -> dict[str, Any]:
        return collected(variables_of(self), to_linen_var, allow_register=True)

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
        rngs: LinenRngs | None = None,
        method: Callable[..., Any] | str = "__call__",
        mutable: Any = False,
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
            BridgeRngsError: `rngs` is none of these.
            BridgeMethodError: `method` is neither a name nor a callable.
        """
        scope = Scope(_streams(type(self).__name__, rngs), mutable)
        if _initialize:
            scope.initializing = True
        function = _unbound(type(self), method)
        module: Any = clone(self)
        fill(module, linen_vars_to_nnx_attrs(variables))
        bind(module, scope)
        with running(module, in_compact=False):
            output = function(module, *args, **kwargs)
        return output if mutable is False else (output, module._linen_variables())

    def init(
        self,
        rngs: LinenRngs | None = None,
        *args: Any,
        method: Callable[..., Any] | str = "__call__",
        **kwargs: Any,
    ) -> dict[str, Any]:
        """Return the variables that a call of a method makes.

        Args:
            rngs: A seed, a key, a mapping from names to keys, or random streams.
            *args: The arguments of the method.
            method: The method, or its name.
            **kwargs: The keyword arguments of the method.

        Raises:
            BridgeRngsError, BridgeMethodError: As in `apply`.
        """
        return self.init_with_output(rngs, *args, method=method, **kwargs)[1]

    def init_with_output(
        self,
        rngs: LinenRngs | None = None,
        *args: Any,
        method: Callable[..., Any] | str = "__call__",
        mutable: Any = False,
        **kwargs: Any,
    ) -> tuple[Any, dict[str, Any]]:
        """Return the output of a call of a method and the variables that it makes.

        Args:
            rngs: A seed, a key, a mapping from names to keys, or random streams.
            *args: The arguments of the method.
            method: The method, or its name.
            mutable: Accepted for compatibility: everything is mutable here.
            **kwargs: The keyword arguments of the method.

        Raises:
            BridgeRngsError, BridgeMethodError: As in `apply`.
        """
        del mutable
        result: tuple[Any, dict[str, Any]] = self.apply(
            {}, *args, rngs=rngs, method=method, mutable=True, _initialize=True, **kwargs
        )
        return result


def _values(mapping: Mapping[Any, Any]) -> dict[Any, Any]:
    return {
        key: _values(value) if isinstance(value, Mapping) else value.get_value()
        for key, value in mapping.items()
    }


def _streams(module: str, rngs: Any) -> Rngs:
    if isinstance(rngs, Rngs):
        return rngs
    if rngs is None:
        return Rngs()
    if isinstance(rngs, int | jax.Array | Mapping):
        return Rngs(rngs)
    expected = "an int, a PRNG key, a mapping from names to keys, nnx.Rngs or None"
    raise BridgeRngsError(module, rngs, expected, "module.init(0, x)")


def _unbound(cls: type, method: Any) -> Callable[..., Any]:
    found = getattr(cls, method) if isinstance(method, str) else method
    if not callable(found):
        raise BridgeMethodError(cls.__name__, "method", found)
    function: Callable[..., Any] = getattr(found, "__func__", found)
    return function


class HasSetup(Protocol):
    """A `bridge.Module` that makes its submodules beforehand."""

    def setup(self) -> None:
        """Make submodules and Variables."""


def has_setup(x: Any) -> TypeGuard[HasSetup]:
    """Whether an object has a method `setup`."""
    return callable(getattr(x, "setup", None))
