"""`ToLinen`, made when flax is there: a Module as a Linen module."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from typed_nnx._core.filters import Not
from typed_nnx._core.module import Module
from typed_nnx._core.paths import Path
from typed_nnx._core.pytree import Pytree
from typed_nnx._core.rngs import Rngs, RngState
from typed_nnx._core.variable import Variable
from typed_nnx._graph.split_merge import state
from typed_nnx.bridge._conversion import attrs_of, collected, to_linen_var
from typed_nnx.bridge._fill import fill
from typed_nnx.bridge._linen import flax_modules, linen_rngs_dict
from typed_nnx.errors import BridgeMethodError

if TYPE_CHECKING:
    from typed_nnx.bridge._declared import ToLinen

MISSING: Any = object()


@functools.lru_cache(maxsize=1)
def to_linen_base() -> Any:
    """Return the class `ToLinen`.

    Raises:
        FlaxRequiredError: flax is not installed.
    """
    flax: Any = flax_modules("ToLinen")
    linen: Any = flax.linen

    class ToLinen(linen.Module):  # type: ignore[misc]  # flax's names are Any
        """A Linen module around a Module, whose Variables are Linen variables.

        `init` makes the Module and keeps its Variables, by the collections of their types; a
        Variable with metadata is kept in an `NNXMeta`, or in the Linen box that it came from. Each
        call makes the Module anew, fills in the variables, calls it and keeps what it wrote to
        collections that are mutable. Random streams of the Module come from those of Linen.

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
        metadata_fn: Callable[[Variable[Any]], Any] | None = to_linen_var

        @linen.compact  # type: ignore[untyped-decorator]  # flax's names are Any
        def __call__(
            self, *args: Any, nnx_method: Callable[..., Any] | str | None = None, **kwargs: Any
        ) -> Any:
            """Call the Module, or one of its methods.

            Args:
                *args: The arguments of the method.
                nnx_method: The method, or its name; ``__call__`` for None.
                **kwargs: The keyword arguments of the method.
            """
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


def _call(linen_module: Any, method: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    starting = linen_module.is_initializing()
    module = _made(linen_module, starting)
    called = _method_of(module, method)
    if starting:
        # Before the call: what `init` returns is the state that a model starts from.
        _keep(linen_module, module)
        return called(module, *args, **kwargs)
    # Linen may run where there is no mesh; the Module has placed its own Variables.
    unknown = fill(module, attrs_of(linen_module.variables, eager_sharding=False))
    if unknown:
        _warn(type(module).__name__, unknown)
    output = called(module, *args, **kwargs)
    _keep(linen_module, module)
    return output


def _made(linen_module: Any, starting: bool) -> Pytree:
    given = dict(linen_module.kwargs)
    if not linen_module.skip_rng:
        given["rngs"] = Rngs(**linen_rngs_dict(linen_module, add_default=not starting))
    module: Any = linen_module.nnx_class(*linen_module.args, **given)
    if not isinstance(module, Pytree):
        raise TypeError(
            f"ToLinen: nnx_class made a {type(module).__name__}; expected a Module.\n"
            "  Fix: nnx.bridge.ToLinen(ModuleClass, args=(...))"
        )
    return module


def _method_of(module: Pytree, method: Callable[..., Any] | str | None) -> Callable[..., Any]:
    found: Any = "__call__" if method is None else method
    if isinstance(found, str):
        found = getattr(type(module), found)
    if not callable(found):
        raise BridgeMethodError("ToLinen", "nnx_method", found)
    function: Callable[..., Any] = getattr(found, "__func__", found)
    return function


def _keep(linen_module: Any, module: Pytree) -> None:
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


def _warn(module: str, unknown: list[Path]) -> None:
    paths = "".join(f"\n  - {'/'.join(map(str, path))}" for path in unknown)
    warnings.warn(
        f"Found unknown module paths in incoming state of {module}:{paths}\n"
        "  Fix: leave them out of the variables; a Module made by `nnx_class` has no such Variables",
        UserWarning,
        stacklevel=2,
    )


def to_linen(
    nnx_class: Callable[..., Module],
    *args: Any,
    metadata_fn: Callable[[Variable[Any]], Any] | None = to_linen_var,
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
        FlaxRequiredError: flax is not installed.
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
    base_metadata_fn: Callable[[Variable[Any]], Any] | None = to_linen_var,
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
        FlaxRequiredError: flax is not installed.
    """
    base: Any = to_linen_base()
    frozen: Any = flax_modules("to_linen_class").core.FrozenDict

    def __init__(  # the parameters are those of NNX
        self: Any,
        args: Sequence[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
        nnx_class: Callable[..., Module] | None = None,
        skip_rng: bool | None = None,
        metadata_fn: Callable[[Variable[Any]], Any] | None = None,
        name: Any = MISSING,
        parent: Any = MISSING,
        **other_kwargs: Any,
    ) -> None:
        own = {n: other_kwargs.pop(n) for n in _own_fields(type(self)) if n in other_kwargs}
        for field, value in own.items():
            setattr(self, field, value)
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

    def _own_fields(cls: Any) -> list[str]:
        return [n for n in cls.__dataclass_fields__ if n not in base.__dataclass_fields__]

    def _replace_init(cls: Any) -> None:
        cls.__init__ = __init__  # over the one that Linen made for the dataclass

    class ToLinenPartial(base):  # type: ignore[misc]  # made when flax is there
        """A Linen module around a Module of a class that is given beforehand."""

        def __init_subclass__(cls, **options: Any) -> None:
            super().__init_subclass__(**options)
            _replace_init(cls)

    made: Any = ToLinenPartial
    _replace_init(made)
    return made  # type: ignore[no-any-return]  # a subclass of `ToLinen`
