"""The NNX layers for Linen layers in a `Build`: those of the tables of `migrate --linen`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import jax
import jax.numpy as jnp

import typed_nnx.migrated
from typed_nnx_codegen.migrate.linen.domain.dims import as_dim
from typed_nnx_codegen.migrate.linen.domain.values import UNKNOWN, Array, Const, Seq, Shape, Value
from typed_nnx_codegen.migrate.linen.layers.layer import Given, Inputs, Layer, MissingWidth, Refused
from typed_nnx_codegen.migrate.linen.layers.table import find_layer

LINEN: Final = "flax.linen"


def nnx_name(name: str) -> str:
    """Return the NNX name of something of flax.linen."""
    layer = _layer(name)
    return name if layer is None else layer.nnx.removeprefix("nnx.")


def nnx_class(name: str, nnx: Any) -> Any:
    """Return the class of a library that has the place of one of flax.linen; None where none has."""
    found = nnx_name(name)
    return getattr(nnx, found, None) or getattr(typed_nnx.migrated, found, None)


def has_layer(name: str) -> bool:
    """Whether a full name is that of a Linen layer which the table has."""
    package, _, layer = name.rpartition(".")
    return package == LINEN and _layer(layer) is not None


def arguments(
    name: str, given: Mapping[str, Any], call: Mapping[str, Any] | None, nnx: Any
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the positional arguments and the keywords of the NNX layer for a Linen layer.

    Args:
        name: The name of the Linen layer.
        given: The fields that it is built with.
        call: The arguments of a call of it; None where it was not called.
        nnx: The library of the NNX layer.

    Raises:
        KeyError: The call does not tell a width, or NNX has no such layer.
    """
    layer = _layer(name)
    assert layer is not None
    settings = {key: Given(f"given[{key!r}]", _value(value)) for key, value in given.items()}
    inputs = None if call is None else Inputs({key: _value(one) for key, one in call.items()})
    built = layer.build(settings, inputs)
    if isinstance(built, MissingWidth):
        raise KeyError(f"the call does not tell {built.parameter}")
    if isinstance(built, Refused):
        raise KeyError(built.why)
    known = {**vars(typed_nnx.migrated), "nnx": nnx, "jax": jax, "jnp": jnp, "given": given}
    code = ", ".join(argument.spelled() for argument in built.arguments)
    # The code of the tables, as the codemod writes it.
    found: tuple[tuple[Any, ...], dict[str, Any]] = eval(
        f"(lambda *args, **keywords: (args, keywords))({code})", known
    )
    return found


def _layer(name: str) -> Layer | None:
    layer = find_layer(f"{LINEN}.{name}")
    return None if layer is None or layer.without else layer


def _value(value: Any) -> Value:
    if value is None or isinstance(value, bool | int | float | str):
        return Const(value)
    if isinstance(value, tuple | list):
        return Seq(tuple(map(_value, value)), isinstance(value, list))
    if hasattr(value, "shape"):
        return Array(Shape(tuple(map(as_dim, value.shape))))
    return UNKNOWN
