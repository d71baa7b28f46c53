"""Classes that derive from a layer of the library and only change how it is constructed.

``class Dense(nn.Dense)`` with other defaults becomes a subclass of the NNX layer. Where it is
constructed it counts as the layer with these settings.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of, descendants
from typed_nnx_codegen.migrate.linen.layers import Layer, find_layer
from typed_nnx_codegen.migrate.linen.modules.classes import Field, LinenClass

_HARMLESS: Final = frozenset({"builtins.object", "abc.ABC", "typing.Generic"})
# Settings that a constructor may compute: the shapes of arrays do not depend on them.
_COMPUTED: Final = ("epsilon", "momentum")


@dataclass(frozen=True)
class LayerSubclass:
    """A class that derives from a layer.

    Attributes:
        layer: The public name of the layer.
        fields: The fields with other defaults, by name.
        computed: The settings that its own constructor gives.
    """

    layer: str
    fields: dict[str, Field] = field(default_factory=dict)
    computed: frozenset[str] = frozenset()


def layer_subclass(cls: LinenClass) -> LayerSubclass | None:
    """Return what a class changes of the layer that it derives from; None where it does more."""
    names = [name for name in cls.foreign if name not in _HARMLESS]
    if len(cls.bases) == 1 and not names:
        base = layer_subclass(cls.bases[0])
    elif len(names) == 1 and not cls.bases:
        base = LayerSubclass(names[0])
    else:
        return None
    layer = find_layer(base.layer) if base is not None else None
    if base is None or layer is None or not layer.nnx.startswith("nnx.") or "layers" in layer.nnx:
        return None
    if cls.constants or cls.node.keywords or cls.node.decorators:
        return None
    if not all(_is_default(one, layer) for one in cls.own_fields):
        return None
    computed: frozenset[str] = frozenset()
    if cls.own_methods:
        constructor = cls.own_methods.get("__init__")
        if len(cls.own_methods) > 1 or constructor is None or cls.own_fields:
            return None
        found = _computed(constructor.node, layer)
        if found is None:
            return None
        computed = found
    own = {one.name: one for one in cls.own_fields}
    return LayerSubclass(base.layer, base.fields | own, base.computed | computed)


def _is_default(one: Field, layer: Layer) -> bool:
    """Whether a field is a setting that NNX takes by its name, with a plain default."""
    special = {*layer.leading, *layer.lacking, *layer.replaced, *layer.functions, *layer.renamed}
    return (
        one.name in layer.parameters
        and one.name not in special
        and one.default is not None
        and not code_of(one.default).endswith(")")
    ) or (one.name.endswith("_init") and one.name in layer.parameters and one.default is not None)


def _computed(node: cst.FunctionDef, layer: Layer) -> frozenset[str] | None:
    """Return the settings that a constructor gives; None where it does something else.

    It takes ``*args`` and ``**kwargs``, and calls the constructor of the layer at its end.
    """
    params = node.params
    stars = (params.star_arg, params.star_kwarg)
    plain = [*params.posonly_params, *params.params, *params.kwonly_params]
    if len(plain) != 1 or not all(isinstance(one, cst.Param) for one in stars):
        return None
    first = plain[0].name.value
    # Beside what it is called with, the object is not used.
    if any(isinstance(one, cst.Name) and one.value == first for one in descendants(node.body)):
        return None
    if len(list(_calls_of_parent(node))) != 1:
        return None
    names = set(_settings(node, layer))
    allowed = {one for one in layer.parameters if one.endswith("_init") or one in _COMPUTED}
    return frozenset(names) if names <= allowed else None


def _calls_of_parent(node: cst.FunctionDef) -> Iterator[cst.Call]:
    """Yield ``super().__init__(*args, **kwargs)`` where it is the last statement."""
    assert isinstance(node.body, cst.IndentedBlock)
    match node.body.body[-1]:
        case cst.SimpleStatementLine(
            body=[
                cst.Expr(
                    value=cst.Call(
                        func=cst.Attribute(
                            value=cst.Call(func=cst.Name(value="super"), args=[]),
                            attr=cst.Name(value="__init__"),
                        )
                    ) as call
                )
            ]
        ):
            stars = [arg.star for arg in call.args]
            if stars.count("*") == 1 and stars.count("**") == 1 and stars[0] == "*":
                yield call


def _settings(node: cst.FunctionDef, layer: Layer) -> Iterator[str]:
    """Yield the settings of a layer that a constructor names, as texts or as keywords."""
    for below in descendants(node.body):
        name: object = None
        if isinstance(below, cst.SimpleString):
            name = below.evaluated_value
        elif isinstance(below, cst.Arg) and below.keyword is not None:
            name = below.keyword.value
        if isinstance(name, str) and name in layer.parameters:
            yield name
