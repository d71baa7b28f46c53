"""``nnx.bridge.wrappers``: Linen modules as Modules, and Modules as Linen modules."""

from __future__ import annotations

import dataclasses
import functools
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Generic, Self, TypeAlias, TypeVar

import jax

from typed_nnx._core.filters import Not
from typed_nnx._core.modules import M as M
from typed_nnx._core.modules import Module as Module
from typed_nnx._core.nodes import iter_graph
from typed_nnx._core.pytree import Pytree as Pytree
from typed_nnx._core.rngs import Rngs as Rngs
from typed_nnx._core.rngs import RngState
from typed_nnx._core.settings import MISSING
from typed_nnx._core.state import State as State
from typed_nnx._core.variable import Variable
from typed_nnx._graph.graphdef import GraphDef
from typed_nnx._graph.split import CallProxy, merge, split, state
from typed_nnx.bridge.module import Module as BridgeModule
from typed_nnx.bridge.module import current_module
from typed_nnx.bridge.variables import (
    Collections,
    Linen,
    Value,
    attrs_of,
    collected,
    fill,
    flax_modules,
    linen_vars_to_nnx_attrs,
    nnx_attrs_to_linen_vars,
    to_linen_var,
    unbound_method,
)
from typed_nnx.bridge.variables import current_linen_module as current_linen_module
from typed_nnx.bridge.variables import linen_rngs_dict as linen_rngs_dict
from typed_nnx.errors import BridgeError, LazyInitError, ReservedNameError

__all__ = [
    "Functional",
    "M",
    "Module",
    "Pytree",
    "Rngs",
    "State",
    "ToLinen",
    "ToNNX",
    "current_linen_module",
    "functional",
    "lazy_init",
    "linen_rngs_dict",
    "to_linen",
    "to_linen_class",
]

if TYPE_CHECKING:
    import flax.linen

    from typed_nnx.bridge._declared import ToLinen as ToLinen

else:

    def __getattr__(name):
        if name == "ToLinen":
            return to_linen_base()
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


Method: TypeAlias = Callable[..., Any]


@dataclasses.dataclass
class Functional(Generic[M]):
    """A Module that is made later.

    Attributes:
        module_type: The class of the Module.
        graphdef: Its structure, once `init` has made it.
        args: Positional arguments for the class.
        kwargs: Keyword arguments for the class.
    """

    module_type: type[M]
    graphdef: GraphDef[M] | None
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def init(self, *, rngs: Rngs | None = None) -> State[Any, Any, M, Any]:
        """Make the Module, keep its structure and return its state.

        Args:
            rngs: Random streams, passed to the class as the keyword argument ``rngs``.
        """
        streams = {} if rngs is None else {"rngs": rngs}
        module = self.module_type(*self.args, **{**self.kwargs, **streams})
        made: tuple[GraphDef[M], State[Any, Any, M, Any]] = split(module)
        self.graphdef, state = made
        return state

    def apply(self, *states: Any) -> CallProxy[M]:
        """Return a proxy that calls the Module with a state.

        ``output, (graphdef, state) = functional.apply(state)(x)``.

        Raises:
            BridgeError: `init` was not called.
        """
        if self.graphdef is None:
            raise BridgeError(
                f"Functional of {self.module_type.__name__}",
                "apply was called before init, which makes the structure and the state.",
                "state = functional.init(rngs=nnx.Rngs(0)); functional.apply(state)(x)",
            )
        structure = self.graphdef
        return CallProxy(lambda: merge(structure, *states, copy=True))


def functional(cls: type[M]) -> Callable[..., Functional[M]]:
    """Return a constructor that takes the arguments of `cls` and makes a `Functional` of it."""
    return lambda *args, **kwargs: Functional(cls, None, args, kwargs)


F = TypeVar("F", bound=Module | Callable[..., Any])

# The attribute is part of the structure: a function that is jitted around a Module is traced again
# for a Module that is initialising.
_INITIALIZING = "to_nnx__initializing"


def lazy_init(fn: F, *args: Any, **kwargs: Any) -> F:
    """Initialise the Linen modules in a Module by a call.

    Args:
        fn: A Module, or a bound method of one: every `ToNNX` in that Module is initialised when
            the call reaches it.
        *args: The arguments of the call.
        **kwargs: Its keyword arguments.

    Returns:
        What was given as `fn`.

    Raises:
        LazyInitError: `fn` is neither a Module nor a bound method of one.
    """
    call: Value = fn
    method: Value = call.func if isinstance(call, functools.partial) else call
    module = method if isinstance(method, Module) else getattr(method, "__self__", None)
    if not isinstance(module, Module) or not callable(call):
        name = getattr(fn, "__qualname__", None)
        raise LazyInitError(f"the function {name}" if name else f"{fn!r} ({type(fn).__name__})")
    with _initializing(module):
        call(*args, **kwargs)
    return fn


@contextmanager
def _initializing(module: Module) -> Iterator[None]:
    for _, node in list(iter_graph(module)):
        if isinstance(node, ToNNX):
            setattr(node, _INITIALIZING, True)
    try:
        yield
    finally:
        # Walked again: a transform inside may have put new objects in place.
        for _, node in list(iter_graph(module)):
            if isinstance(node, ToNNX) and _INITIALIZING in vars(node):
                delattr(node, _INITIALIZING)


@functools.lru_cache(maxsize=1)
def to_linen_base() -> Linen:
    """Return the class `ToLinen`."""
    flax: Any = flax_modules("ToLinen")
    linen: Any = flax.linen

    class ToLinen(linen.Module):  # type: ignore[misc]  # flax's names are Any
        """A Linen module around a Module, whose Variables are Linen variables.

        `init` creates the Module and stores its Variables in the collections of their types; a
        Variable with metadata is boxed in an `NNXMeta`, or in the Linen box that it came from. Each
        call creates the Module again, fills in the variables, calls it, and stores what it wrote to
        mutable collections. Random streams of the Module come from those of Linen.

        Methods of the Module are methods of this one.

        Attributes:
            nnx_class: Makes the Module: its class, or a function.
            args: Positional arguments for it.
            kwargs: Keyword arguments for it.
            skip_rng: Do not pass it the keyword argument ``rngs``.
            metadata_fn: Makes the Linen variable of a Variable; None keeps bare values.
        """

        nnx_class: Callable[..., Module]
        args: Sequence[Any] = ()
        kwargs: Mapping[str, Any] = flax.core.FrozenDict({})
        skip_rng: bool = False
        metadata_fn: Callable[[Variable[Value]], Value] | None = to_linen_var

        @linen.compact  # type: ignore[untyped-decorator]  # flax's names are Any
        def __call__(
            self, *args: Any, nnx_method: Method | str | None = None, **kwargs: Any
        ) -> Any:
            """Call the Module, or one of its methods: `nnx_method`, or its name."""
            return _call(self, nnx_method, args, kwargs)

        def __getattr__(self, name: str) -> Any:
            cls = vars(self).get("nnx_class")
            if isinstance(cls, type) and not name.startswith("_"):
                method = getattr(cls, name, None)
                if callable(method):
                    return functools.partial(self.__call__, nnx_method=method)
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    ToLinen.__module__ = "typed_nnx.bridge.wrappers"
    ToLinen.__qualname__ = "ToLinen"
    return ToLinen


def _call(linen_module: Linen, method: Method | str | None, args: Value, kwargs: Value) -> Value:
    starting = linen_module.is_initializing()
    module = _made(linen_module, starting)
    given = "__call__" if method is None else method
    called = unbound_method(type(module), given, "ToLinen", "nnx_method")
    if starting:
        # Before the call: what `init` returns is the state that a model starts from.
        _keep(linen_module, module)
        return called(module, *args, **kwargs)
    # Linen may run where there is no mesh; the Module has placed its own Variables.
    unknown = fill(module, attrs_of(linen_module.variables, eager_sharding=False))
    if unknown:
        paths = "".join(f"\n  - {'/'.join(map(str, path))}" for path in unknown)
        warnings.warn(
            f"Found unknown module paths in incoming state of {type(module).__name__}:{paths}\n"
            "  Fix: leave them out of the variables; a Module made by `nnx_class` has no such "
            "Variables",
            UserWarning,
            stacklevel=1,
        )
    output = called(module, *args, **kwargs)
    _keep(linen_module, module)
    return output


def _made(linen_module: Linen, starting: bool) -> Pytree:
    given = dict(linen_module.kwargs)
    if not linen_module.skip_rng:
        given["rngs"] = Rngs(**linen_rngs_dict(linen_module, add_default=not starting))
    module: Value = linen_module.nnx_class(*linen_module.args, **given)
    if not isinstance(module, Pytree):
        raise BridgeError(
            "ToLinen",
            f"nnx_class made a {type(module).__name__}; expected a Module.",
            "nnx.bridge.ToLinen(ModuleClass, args=(...))",
        )
    return module


def _keep(linen_module: Linen, module: Pytree) -> None:
    """Write the Variables of a Module to the collections that are mutable."""
    if linen_module.scope.mutable is False:
        return
    attrs = state(module, Not(RngState)).raw_mapping
    written = collected(
        attrs,
        linen_module.metadata_fn,
        allow_register=True,
        wanted=linen_module.is_mutable_collection,
    )
    for col, entries in written.items():
        for name, value in entries.items():
            linen_module.put_variable(col, name, value)


def to_linen(
    nnx_class: Callable[..., Module],
    *args: Any,
    metadata_fn: Callable[[Variable[Value]], Value] | None = to_linen_var,
    name: str | None = None,
    skip_rng: bool = False,
    abstract_init: bool = True,
    **kwargs: Any,
) -> ToLinen:
    """Return a Linen module around the Module that ``nnx_class(*args, **kwargs)`` makes.

    Args:
        nnx_class: The class of the Module.
        *args: Positional arguments for it.
        metadata_fn: Makes the Linen variable of a Variable; None keeps bare values.
        name: The name of the Linen module.
        skip_rng: Do not pass the class the keyword argument ``rngs``.
        abstract_init: Accepted for compatibility.
        **kwargs: Keyword arguments for the class.

    Raises:
        MissingPackageError: flax is not installed.
    """
    del abstract_init
    made: ToLinen = to_linen_base()(
        nnx_class,
        args=args,
        kwargs=flax_modules("to_linen").core.FrozenDict(kwargs),
        metadata_fn=metadata_fn,
        skip_rng=skip_rng,
        name=name,
    )
    return made


def to_linen_class(
    base_nnx_class: type[Module],
    base_metadata_fn: Callable[[Variable[Value]], Value] | None = to_linen_var,
    base_skip_rng: bool = False,
    **partial_kwargs: Any,
) -> type[ToLinen]:
    """Return a class of Linen modules around one class of Modules.

    Its constructor takes the keyword arguments of the Modules: ``Dense = to_linen_class(nnx.Linear)``
    and ``Dense(in_features=2, out_features=3, name="dense")``. It may be subclassed.

    Args:
        base_nnx_class: The class of the Modules.
        base_metadata_fn: Makes the Linen variable of a Variable; None keeps bare values.
        base_skip_rng: Do not pass the class the keyword argument ``rngs``.
        **partial_kwargs: Keyword arguments for every Module, unless the constructor gets others.

    Raises:
        MissingPackageError: flax is not installed.
    """
    base: Any = to_linen_base()
    frozen = flax_modules("to_linen_class").core.FrozenDict

    def __init__(  # the parameters are those of NNX
        self: Linen,
        args: Sequence[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
        nnx_class: Callable[..., Module] | None = None,
        skip_rng: bool | None = None,
        metadata_fn: Callable[[Variable[Value]], Value] | None = None,
        name: Value = MISSING,
        parent: Linen = MISSING,
        **other_kwargs: Any,
    ) -> None:
        for field in type(self).__dataclass_fields__:
            if field in other_kwargs and field not in base.__dataclass_fields__:
                setattr(self, field, other_kwargs.pop(field))
        place = {"name": name, "parent": parent}
        base.__init__(
            self,
            nnx_class or base_nnx_class,
            args=args or (),
            kwargs=frozen({**partial_kwargs, **(kwargs or {}), **other_kwargs}),
            skip_rng=base_skip_rng if skip_rng is None else skip_rng,
            metadata_fn=metadata_fn or base_metadata_fn,
            **{option: value for option, value in place.items() if value is not MISSING},
        )

    def _replace_init(cls: Linen) -> None:
        cls.__init__ = __init__  # over the one that Linen made for the dataclass

    class ToLinenPartial(base):  # type: ignore[misc]  # made when flax is there
        """A Linen module around a Module of a class that is given beforehand."""

        def __init_subclass__(cls, **options: Any) -> None:
            super().__init_subclass__(**options)
            _replace_init(cls)

    made: Linen = ToLinenPartial
    _replace_init(made)
    result: type[ToLinen] = made
    return result


# Attributes that are not Linen variables.
_OWN = ("to_nnx__module", "to_nnx__rngs", _INITIALIZING)


class ToNNX(Module):
    """A Linen module as a Module: its variables are attributes, Variables of the matching types.

    The variables of the collection ``params`` are `Param`, of ``batch_stats`` `BatchStat`, and so
    on; those of submodules are in nested dicts. The first `lazy_init` creates them:

    ``model = nnx.bridge.ToNNX(linen.Dense(4), rngs=nnx.Rngs(0)).lazy_init(x)``

    Sharding boxes of Linen (``Partitioned``, ``LogicallyPartitioned``) become the metadata of the
    Variables, and the Linen module gets its boxes back.

    Args:
        module: The Linen module.
        rngs: Random streams, of which this module keeps a fork; or a key, which is that of the
            stream ``params``. At each call every stream gives one key to the Linen module;
            ``default`` stands for ``params`` where there is no such stream.

    Raises:
        BridgeError: `rngs` is neither of them.
    """

    def __init__(self, module: flax.linen.Module, rngs: Rngs | jax.Array | None = None) -> None:
        self.to_nnx__module: flax.linen.Module = module
        self.to_nnx__rngs: Rngs | None = _held(rngs)

    @property
    def rngs(self) -> Rngs | None:
        """The random streams that calls draw from."""
        return self.to_nnx__rngs

    @property
    def module(self) -> flax.linen.Module:
        """The Linen module."""
        return self.to_nnx__module

    def lazy_init(self, *args: Any, **kwargs: Any) -> Self:
        """Initialise the variables by a call with these arguments, and return this Module."""
        lazy_init(self, *args, **kwargs)
        return self

    def __getattr__(self, name: str) -> Any:
        module = vars(self).get("to_nnx__module")
        method = None if name.startswith("__") else getattr(type(module), name, None)
        if not callable(method):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return functools.partial(self.__call__, method=method)

    def __call__(
        self,
        *args: Any,
        rngs: Rngs | jax.Array | None = None,
        method: Method | str | None = None,
        mutable: Linen = None,
        **kwargs: Any,
    ) -> Any:
        """Call the Linen module with the variables in the attributes.

        Args:
            *args: The arguments of the Linen method.
            rngs: Random streams (or the key for ``params``) in place of those held.
            method: The Linen method, or its name; ``__call__`` for None.
            mutable: The collections that the call may write, a filter of Linen; what it writes goes
                to the attributes. None means those of the Linen module or `bridge.Module` around
                this one, and none where there is no such module.
            **kwargs: The keyword arguments of the Linen method.

        Raises:
            BridgeError: `rngs` is neither streams nor a key.
            ReservedNameError: A new variable has the name of a part of `ToNNX`.
        """
        module: Linen = self.to_nnx__module
        keys = _linen_rngs(self.to_nnx__rngs if rngs is None else rngs)
        owner = current_module()
        if _INITIALIZING in vars(self) or (owner is not None and owner.is_initializing()):
            output, updates = module.init_with_output(keys, *args, method=method, **kwargs)
            self._take(updates)
            return output
        if mutable is None:
            mutable = _mutable_around(owner)
        attrs = {name: value for name, value in vars(self).items() if name not in _OWN}
        variables = nnx_attrs_to_linen_vars(attrs)
        flax_errors = flax_modules("ToNNX").errors
        try:
            found = module.apply(
                variables, *args, rngs=keys, method=method, mutable=mutable, **kwargs
            )
        except flax_errors.FlaxError as error:
            if not variables:
                error.add_note("  Fix: initialise it before: model.lazy_init(x)")
            raise
        if mutable is False or mutable is None:
            return found
        output, updates = found
        self._take(updates)
        return output

    def _take(self, updates: Collections) -> None:
        attrs = linen_vars_to_nnx_attrs(updates)
        for name in attrs:
            if name in _OWN or name in ("module", "rngs"):
                kind = type(self.to_nnx__module).__name__
                raise ReservedNameError(
                    "ToNNX",
                    name,
                    f"the Linen module {kind} has a variable or submodule named {name!r}, which is "
                    "a part of ToNNX itself.",
                    "give it another name in the Linen module",
                )
        fill(self, attrs)


def _held(rngs: Rngs | jax.Array | None) -> Rngs | None:
    if rngs is None:
        return None
    if isinstance(rngs, jax.Array):
        return Rngs(params=rngs)
    if not isinstance(rngs, Rngs):
        raise _unknown_rngs("ToNNX", rngs)
    return rngs.fork()


def _linen_rngs(rngs: Rngs | jax.Array | None) -> dict[str, jax.Array]:
    if rngs is None:
        return {}
    if isinstance(rngs, jax.Array):
        return {"params": rngs}
    if not isinstance(rngs, Rngs):
        raise _unknown_rngs("ToNNX.__call__", rngs)
    keys = {name: stream() for name, stream in rngs.items()}
    if "params" not in keys and "default" in keys:
        keys["params"] = keys.pop("default")
    return keys


def _unknown_rngs(function: str, got: object) -> BridgeError:
    expected = "nnx.Rngs, a PRNG key or None"
    return BridgeError.of_argument(function, "rngs", got, expected, "rngs=nnx.Rngs(0)")


def _mutable_around(owner: BridgeModule | None) -> Linen:
    if owner is not None and owner.scope is not None:
        return owner.scope.mutable
    around = current_linen_module()
    if around is None or around.scope is None:
        return False
    return around.scope.mutable
