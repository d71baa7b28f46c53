"""Partials of classes as the new code writes them: with the settings of NNX, without what moves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from typed_nnx_codegen.migrate.linen.layers import Layer, find_layer
from typed_nnx_codegen.migrate.linen.layers.known import literal_of
from typed_nnx_codegen.migrate.linen.modules.field_facts import FieldFacts
from typed_nnx_codegen.migrate.linen.plan import Bound
from typed_nnx_codegen.migrate.linen.running.references import Partial, Ref
from typed_nnx_codegen.migrate.linen.running.values import Value

# What NNX calls the number of features that a layer makes, where Linen has `features`.
_FEATURES: Final = {
    "nnx.Linear": "out_features",
    "nnx.LinearGeneral": "out_features",
    "nnx.Conv": "out_features",
    "nnx.ConvTranspose": "out_features",
    "nnx.LSTMCell": "hidden_features",
    "nnx.OptimizedLSTMCell": "hidden_features",
    "nnx.GRUCell": "hidden_features",
    "LinenGRUCell": "hidden_features",
    "LinenMGUCell": "hidden_features",
    "LinenConvLSTMCell": "hidden_features",
    "nnx.SimpleCell": "hidden_features",
}


def partial_arguments(value: Partial, facts: FieldFacts) -> list[str] | None:
    """Return the arguments of a partial; None where the constructor cannot say them."""
    layer = _layer_of(value.function)
    if layer is not None:
        return _of_layer(layer, value)
    if any(one.code is None for one in value.args):
        return None
    found = [str(one.code) for one in value.args]
    for name, one in value.keywords.items():
        if one.code is not None:
            found.append(f"{name}={one.code}")
        elif not facts.is_movable(value.function, name):
            return None
    return found


def _layer_of(function: Value) -> Layer | None:
    while isinstance(function, Partial):
        function = function.function
    return find_layer(function.name) if isinstance(function, Ref) else None


def _of_layer(layer: Layer, value: Partial) -> list[str] | None:
    found: list[str] = []
    for name, one in _by_name(layer, value):
        if one.code is None and name in layer.movable:
            continue
        if name in layer.lacking and literal_of(one.value) == layer.lacking[name].default:
            continue
        is_same = name in layer.parameters and not (
            name in layer.lacking
            or name in layer.functions
            or name in layer.replaced
            or name == "promote_dtype"
        )
        if one.code is None or not is_same:
            return None
        keyword = layer.renamed.get(name, name)
        if name == "features":
            keyword = _FEATURES.get(layer.nnx, keyword)
        found.append(f"{keyword}={one.code}")
    return found


def _by_name(layer: Layer, value: Partial) -> Iterator[tuple[str, Bound]]:
    yield from zip(layer.parameters, value.args, strict=False)
    yield from value.keywords.items()
