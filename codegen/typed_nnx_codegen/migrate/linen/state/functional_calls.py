"""Calls of submodules with other parameters: `self.head.apply({"params": {"kernel": w}}, x)`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.linen.layers import Given, Helper, Inputs, Layer, find_layer
from typed_nnx_codegen.migrate.linen.plan import Site, given_of
from typed_nnx_codegen.migrate.linen.running.frames import Frame
from typed_nnx_codegen.migrate.linen.running.passed import Passed, bind_names
from typed_nnx_codegen.migrate.linen.running.references import ModuleValue
from typed_nnx_codegen.migrate.linen.running.values import Table, Value
from typed_nnx_codegen.migrate.linen.state.detached_layers import drawn_variables

_PARAMS: Final = "params"

WITH_PARAMETERS: Final = Helper(
    "with_parameters",
    '''\
def with_parameters(module, values):
    """Return a copy of a module that computes with other values in its parameters."""
    copied = nnx.clone(module)
    for name, value in values.items():
        setattr(copied, name, nnx.Param(value))
    return copied
''',
)


def functional_call(
    receiver: Value, passed: list[Passed], node: cst.Call, frame: Frame
) -> Value | None:
    """Return what such a call, or `init`, returns; None where it is no plain call of a layer."""
    match receiver:
        case ModuleValue(site=Site(target=str() as target) as site):
            layer = find_layer(target)
        case _:
            return None
    if _name_of(node) == "init":
        is_plain = layer is not None and site.is_detached and not site.loops
        return drawn_variables(site, node, frame.recorder) if is_plain else None
    names = _parameter_names(passed)
    if layer is None or site.transforms or site.alternatives or not names:
        return None
    if not isinstance(node.func, cst.Attribute) or not _are_own(names, layer, site):
        return None
    bound = bind_names([one.linen for one in layer.calls.get("__call__", ())], passed[1:])
    if bound.extra or bound.is_open or not _stay(layer, site, bound.by_name):
        return None
    values = {name: one.value for name, one in bound.by_name.items()}
    frame.note_call(site, "__call__", values)
    if frame.records and frame.recorder.is_recording:
        frame.recorder.helpers.append(WITH_PARAMETERS)
        frame.recorder.plan.rebuilt[node] = _WithParameters()
    return layer.output(given_of(site), Inputs(values), "__call__")


def _name_of(node: cst.Call) -> str:
    return node.func.attr.value if isinstance(node.func, cst.Attribute) else ""


def _parameter_names(passed: list[Passed]) -> list[str]:
    """Return the parameters that the variables of a call are; none where it is not known."""
    if not passed or passed[0].keyword or passed[0].star:
        return []
    match passed[0].value:
        case Table(items=items) if list(items) == [_PARAMS]:
            inner = items[_PARAMS]
            if isinstance(inner, Table) and not inner.cls:
                return [str(name) for name in inner.items]
    return []


def _are_own(names: list[str], layer: Layer, site: Site) -> bool:
    """Whether the parameters of a layer have these names, in NNX too, and the same layout."""
    known = {
        one.linen
        for one in layer.variables(given_of(site))
        if one.linen == f"{_PARAMS}/{one.nnx}" and one.transpose is None and one.reshape is None
    }
    # Linen says it where one of them is missing, so that no such call has a result.
    return layer.nnx.startswith("nnx.") and all(f"{_PARAMS}/{name}" in known for name in names)


def _stay(layer: Layer, site: Site, bound: dict[str, Passed]) -> bool:
    """Whether the arguments of a call are written in NNX as they are in Linen."""
    arguments = {name: Given(name, one.value, bool(one.keyword)) for name, one in bound.items()}
    written = layer.call(given_of(site), arguments)
    return isinstance(written, tuple) and [one.keyword for one in written] == [
        one.keyword for one in bound.values()
    ]


@dataclass(frozen=True)
class _WithParameters:
    """Writes such a call as the call of a copy with these parameters."""

    def __call__(self, node: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Return the call."""
        del node
        assert isinstance(updated.func, cst.Attribute)
        variables, *others = updated.args
        match variables.value:
            case cst.Dict(elements=[cst.DictElement(value=given)]):
                values: cst.BaseExpression = given
            case other:
                index = cst.SubscriptElement(cst.Index(cst.SimpleString(f'"{_PARAMS}"')))
                values = cst.Subscript(other, [index])
        copied = cst.Call(
            cst.Name(WITH_PARAMETERS.name),
            [
                cst.Arg(
                    updated.func.value,
                    comma=cst.Comma(cst.SimpleWhitespace(""), cst.SimpleWhitespace(" ")),
                ),
                cst.Arg(values),
            ],
        )
        return cst.Call(copied, others)
