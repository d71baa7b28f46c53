"""The NNX layers for Linen layers in a `Build`, with the widths that Linen infers from the call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

LINEN: Final = "flax.linen"

# The field values that were given and the arguments of the call, to the keywords of the NNX layer.
_Widths: TypeAlias = Callable[[Mapping[str, Any], Mapping[str, Any]], dict[str, Any]]

NNX_NAMES: Final = {
    "Dense": "Linear",
    "DenseGeneral": "LinearGeneral",
    "MultiHeadDotProductAttention": "MultiHeadAttention",
    "SelfAttention": "MultiHeadAttention",
}


def nnx_name(name: str) -> str:
    """Return the NNX name of something of flax.linen."""
    return NNX_NAMES.get(name, name)


def has_layer(name: str) -> bool:
    """Whether a full name is that of a Linen layer which the table has."""
    package, _, layer = name.rpartition(".")
    return package == LINEN and layer in _WIDTHS


def keywords(name: str, given: Mapping[str, Any], call: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the keywords of the NNX layer for a Linen layer.

    Args:
        name: The name of the Linen layer.
        given: The fields that it is built with.
        call: The arguments of a call of it; None where it was not called.

    Raises:
        KeyError: The call does not tell a width.
    """
    said = dict(given)
    said.pop("name", None)
    made = _WIDTHS[name]({**said}, call or {})
    for linen in _RENAMED.get(name, ()):
        said.pop(linen, None)
    return {**said, **made}


def _last(call: Mapping[str, Any], *names: str) -> int:
    for name in names:
        if call.get(name) is not None:
            return int(call[name].shape[-1])
    raise KeyError(f"the call has no {names[0]}")


def _dense(given: Mapping[str, Any], call: Mapping[str, Any]) -> dict[str, Any]:
    return {"in_features": _last(call, "inputs"), "out_features": given["features"]}


def _dense_general(given: Mapping[str, Any], call: Mapping[str, Any]) -> dict[str, Any]:
    axis = given.get("axis", -1)
    shape = call["inputs"].shape
    axes = axis if isinstance(axis, tuple | list) else (axis,)
    return {
        "in_features": tuple(shape[each] for each in axes),
        "out_features": given["features"],
    }


def _conv(given: Mapping[str, Any], call: Mapping[str, Any]) -> dict[str, Any]:
    return {"in_features": _last(call, "inputs"), "out_features": given["features"]}


def _embed(given: Mapping[str, Any], call: Mapping[str, Any]) -> dict[str, Any]:
    del given, call
    return {}


def _norm(given: Mapping[str, Any], call: Mapping[str, Any]) -> dict[str, Any]:
    del given
    return {"num_features": _last(call, "x", "inputs")}


def _cell(given: Mapping[str, Any], call: Mapping[str, Any]) -> dict[str, Any]:
    return {"in_features": _last(call, "inputs"), "hidden_features": given["features"]}


def _attention(given: Mapping[str, Any], call: Mapping[str, Any]) -> dict[str, Any]:
    width = _last(call, "inputs_q")
    return {
        "in_features": width,
        "qkv_features": given.get("qkv_features") or width,
        "decode": given.get("decode", False),
    }


_WIDTHS: Final[dict[str, _Widths]] = {
    "Dense": _dense,
    "DenseGeneral": _dense_general,
    "Conv": _conv,
    "ConvTranspose": _conv,
    "Embed": _embed,
    "LayerNorm": _norm,
    "RMSNorm": _norm,
    "GroupNorm": _norm,
    "InstanceNorm": _norm,
    "BatchNorm": _norm,
    "LSTMCell": _cell,
    "OptimizedLSTMCell": _cell,
    "GRUCell": _cell,
    "SimpleCell": _cell,
    "MultiHeadDotProductAttention": _attention,
    "SelfAttention": _attention,
    "Dropout": _embed,
}
# Fields of Linen that have another name in NNX; the table gives them under it.
_RENAMED: Final = {
    **dict.fromkeys(("Dense", "DenseGeneral", "Conv", "ConvTranspose"), ("features",)),
    **dict.fromkeys(("LSTMCell", "OptimizedLSTMCell", "GRUCell", "SimpleCell"), ("features",)),
}
