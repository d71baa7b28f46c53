"""Layers that belong to no module, whose parameters a module declares as its own.

In `self.param("kernel", lambda key, x: conv.init(key, x)["params"]["kernel"], x)` with
`conv = nn.Conv(..., parent=None)`, the parameter of the module is that of the layer of the new model.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from typed_nnx_codegen.migrate.linen.layers import find_layer
from typed_nnx_codegen.migrate.linen.marker_codes import COUNTERPART
from typed_nnx_codegen.migrate.linen.plan import Entry, Site, given_of
from typed_nnx_codegen.migrate.linen.running.frames import Recorder
from typed_nnx_codegen.migrate.linen.running.values import Table, Value


@dataclass(frozen=True, eq=False)
class Drawn(Value):
    """The first value of a variable of a layer.

    Attributes:
        site: Where the layer is constructed.
        node: The call of its `init`.
        linen: The path of the variable in Linen.
        nnx: The attribute of the layer in NNX.
    """

    site: Site
    node: cst.Call
    linen: str
    nnx: str


def drawn_variables(site: Site, node: cst.Call, recorder: Recorder) -> Value:
    """Return what `init` of a layer returns: its variables by collection."""
    layer = find_layer(str(site.target))
    assert layer is not None
    found: dict[object, dict[object, Value]] = {}
    for one in layer.variables(given_of(site)):
        collection, _, name = one.linen.partition("/")
        if one.transpose is None and one.reshape is None:
            found.setdefault(collection, {})[name] = Drawn(site, node, one.linen, one.nnx)
    if recorder.is_recording:
        site.inits.setdefault(node, False)
    return Table({collection: Table(inner) for collection, inner in found.items()})


def declare_drawn(drawn: Drawn, name: str, node: cst.Call, recorder: Recorder) -> None:
    """Let a parameter of a module be a variable of a layer.

    Args:
        drawn: The variable.
        name: The name of the parameter.
        node: The call that declares it.
        recorder: What is written down.
    """
    if not recorder.is_recording:
        return
    site = drawn.site
    site.drawn[drawn.linen] = name
    site.inits[drawn.node] = True
    recorder.plan.rebuilt[node] = Reading(site, drawn.nnx)


def entries_of_drawn(site: Site, recorder: Recorder) -> Iterator[Entry]:
    """Yield the variables of such a layer by their names in the module; mark what is left."""
    for call, is_first in site.inits.items():
        if not is_first:
            recorder.mark(call, "`init` of a layer here is not migrated", COUNTERPART)
    layer = find_layer(str(site.target))
    for one in layer.variables(given_of(site)) if layer is not None and site.drawn else ():
        if one.linen not in site.drawn:
            message = f"`{one.linen}` of this layer is no parameter of the module"
            recorder.mark(site.node, message, COUNTERPART)
            continue
        collection = one.linen.partition("/")[0]
        yield Entry(f"{collection}/{site.drawn[one.linen]}", f"{site.attribute}.{one.nnx}")


@dataclass(frozen=True, eq=False)
class Reading:
    """Writes the declaration of such a parameter as what reads it from the layer.

    Attributes:
        site: Where the layer is constructed.
        nnx: The attribute of the layer.
    """

    site: Site
    nnx: str

    def __call__(self, node: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Return the expression."""
        del node, updated
        return cst.parse_expression(f"{self.site.reference}.{self.nnx}[...]")
