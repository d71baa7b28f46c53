"""`ToNNX`: a Linen module as a Module."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import jax

from typed_nnx._core.module import Module
from typed_nnx._core.rngs import Rngs
from typed_nnx.bridge._context import running_module
from typed_nnx.bridge._conversion import linen_vars_to_nnx_attrs, nnx_attrs_to_linen_vars
from typed_nnx.bridge._fill import fill
from typed_nnx.bridge._lazy_init import INITIALIZING, lazy_init
from typed_nnx.bridge._linen import current_linen_module, flax_modules
from typed_nnx.errors import BridgeRngsError, ReservedNameError

if TYPE_CHECKING:
    import flax.linen

# Attributes that are not Linen variables.
_OWN = ("to_nnx__module", "to_nnx__rngs", INITIALIZING)


class ToNNX(Module):
    """A Linen module as a Module: its variables are attributes, Variables of the matching types.

    The variables of the collection ``params`` are `Param`, of ``batch_stats`` `BatchStat`, and so
    on; those of submodules are in nested dicts. They come into being at the first `lazy_init`:

    ``model = nnx.bridge.ToNNX(linen.Dense(4), rngs=nnx.Rngs(0)).lazy_init(x)``

    Sharding boxes of Linen (``Partitioned``, ``LogicallyPartitioned``) become the metadata of the
    Variables and are boxes again where the Linen module sees them.

    Args:
        module: The Linen module.
        rngs: Random streams, of which this module keeps a fork; or a key, which is that of the
            stream ``params``. At each call every stream gives one key to the Linen module;
            ``default`` stands for ``params`` where there is no such stream.

    Raises:
        BridgeRngsError: `rngs` is neither of them.
    """

    # `lazy_init` looks for it.
    _nnx_is_lazy: ClassVar[bool] = True

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
        method: Callable[..., Any] | str | None = None,
        mutable: Any = None,
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
            BridgeRngsError: `rngs` is neither streams nor a key.
            ReservedNameError: A new variable has the name of a part of `ToNNX`.
        """
        module: Any = self.to_nnx__module
        keys = _linen_rngs(self.to_nnx__rngs if rngs is None else rngs)
        owner = running_module()
        if INITIALIZING in vars(self) or (owner is not None and owner.is_initializing()):
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

    def _take(self, updates: Mapping[str, Any]) -> None:
        attrs = linen_vars_to_nnx_attrs(updates)
        for name in attrs:
            if name in _OWN or name in ("module", "rngs"):
                raise ReservedNameError(name, type(self.to_nnx__module).__name__)
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


def _unknown_rngs(function: str, got: object) -> BridgeRngsError:
    expected = "nnx.Rngs, a PRNG key or None"
    return BridgeRngsError(function, got, expected, "rngs=nnx.Rngs(0)")


def _mutable_around(owner: Any) -> Any:
    if owner is not None and owner.scope is not None:
        return owner.scope.mutable
    around = current_linen_module()
    if around is None or around.scope is None:
        return False
    return around.scope.mutable
