"""Cells that layers run over time: what they are called with, and what comes out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of
from typed_nnx_codegen.migrate.linen.layers import Given, Inputs, Layer, find_layer
from typed_nnx_codegen.migrate.linen.layers.cells import CellLayer
from typed_nnx_codegen.migrate.linen.marker_codes import COUNTERPART
from typed_nnx_codegen.migrate.linen.modules.classes import LinenClass
from typed_nnx_codegen.migrate.linen.plan import Site
from typed_nnx_codegen.migrate.linen.running.frames import Evaluate, Frame
from typed_nnx_codegen.migrate.linen.running.passed import Passed, bind_names
from typed_nnx_codegen.migrate.linen.running.references import ModuleValue, Ref
from typed_nnx_codegen.migrate.linen.running.values import (
    UNKNOWN,
    Array,
    Const,
    Lead,
    Seq,
    Shape,
    ShapeOf,
    Size,
    Value,
)
from typed_nnx_codegen.migrate.linen.shapes.operands import dim_of
from typed_nnx_codegen.migrate.linen.sizes.dims import Dim

_INNER: Final = {
    "flax.linen.RNN": ("cell",),
    "flax.linen.Bidirectional": ("forward_rnn", "backward_rnn"),
}


class Recurrence:
    """Goes through layers that run other modules over time.

    Args:
        evaluate: Goes through an expression.
        passed: Goes through the arguments of a call.
        refer: Gives the code for a public name.
    """

    def __init__(
        self,
        evaluate: Evaluate,
        passed: Callable[[cst.Call, Frame], list[Passed]],
        refer: Callable[[str], str],
    ) -> None:
        self._evaluate = evaluate
        self._passed = passed
        self._refer = refer

    @staticmethod
    def runs(site: Site) -> bool:
        """Whether a submodule runs others over time."""
        return site.target in _INNER

    def output(
        self,
        site: Site,
        layer: Layer,
        given: Mapping[str, Given],
        values: Mapping[str, Value],
        frame: Frame,
    ) -> Value:
        """Return what such a layer returns, and note what the modules in it are called with."""
        inner = list(_inner_of(site))
        for one in inner:
            self._note(one, values, frame)
            if isinstance(one.target, LinenClass) and frame.records:
                message = (
                    f"`{one.target.name}` begins with another carry in NNX: pass the first one"
                )
                frame.recorder.mark(one.node, message, COUNTERPART)
        sized = dict(given)
        for name, one in zip(_INNER[str(site.target)], inner, strict=False):
            features = features_of(one)
            if features is not None and name in sized:
                sized[name] = replace(sized[name], value=Size(features))
        found = layer.output(sized, Inputs(values))
        match found:
            case Seq(items=(_, outputs)):
                carries = tuple(carry_of(one, values) for one in inner)
                carry = carries[0] if len(carries) == 1 else Seq(carries)
                return Seq((carry if inner else UNKNOWN, outputs))
        return found

    def first_carry(self, node: cst.Call, frame: Frame) -> Value | None:
        """Return what `nn.LSTMCell(4, parent=None).initialize_carry(...)` does: it needs no cell.

        None where a call is something else.
        """
        match node.func:
            case cst.Attribute(value=cst.Call() as made, attr=cst.Name(value="initialize_carry")):
                pass
            case _:
                return None
        if not any(_is_no_parent(arg) for arg in made.args):
            return None
        callee = self._evaluate(made.func, frame)
        layer = find_layer(callee.name) if isinstance(callee, Ref) else None
        if not isinstance(layer, CellLayer):
            return None
        settings = bind_names(layer.parameters, self._passed(made, frame)).by_name
        given = {
            name: Given(code_of(one.node), one.value, bool(one.keyword))
            for name, one in settings.items()
            if name not in ("parent", "name")
        }
        passed = bind_names(["rng", "input_shape"], self._passed(node, frame))
        shape = passed.by_name.get("input_shape")
        code = None if shape is None else layer.first_carry(given, code_of(shape.node))
        if code is None:
            if frame.records:
                frame.recorder.mark(node, "the first carry of this cell is not zeros", COUNTERPART)
            return UNKNOWN
        if frame.records:
            zeros = self._refer("jax.numpy.zeros")
            frame.recorder.replace(node, code.replace("jnp.zeros", zeros))
        values = {name: one.value for name, one in passed.by_name.items()}
        return layer.output(given, Inputs(values), "initialize_carry")

    def _note(self, site: Site, values: Mapping[str, Value], frame: Frame) -> None:
        """Note what a module is called with that another one runs over time."""
        if self.runs(site):
            for one in _inner_of(site):
                self._note(one, values, frame)
            return
        recorder = frame.recorder
        if recorder.is_recording and site in recorder.plan.sites:
            step = _step(values, is_time_major=False)
            for one in (site, *site.alternatives):
                one.calls.append((frame.root, "__call__", {"inputs": step}))


def _is_no_parent(arg: cst.Arg) -> bool:
    match arg:
        case cst.Arg(keyword=cst.Name(value="parent"), value=cst.Name(value="None")):
            return True
    return False


def _inner_of(site: Site) -> Iterator[Site]:
    for name in _INNER.get(str(site.target), ()):
        bound = site.given.get(name)
        if bound is not None and isinstance(bound.value, ModuleValue):
            yield bound.value.site


def features_of(site: Site) -> Dim | None:
    """Return the size of what a module returns at each step; None where it is not known."""
    for inner in _inner_of(site):
        return features_of(inner)
    bound = site.given.get("features")
    return None if bound is None else dim_of(bound.value)


def carry_of(site: Site, values: Mapping[str, Value]) -> Value:
    """Return the last carry of a module that runs over some inputs."""
    for inner in _inner_of(site):
        return carry_of(inner, values)
    layer = find_layer(str(site.target))
    if layer is None:
        return UNKNOWN
    given = {
        name: Given(one.code or "None", one.value, one.keyword) for name, one in site.given.items()
    }
    step = _step(values, is_time_major=values.get("time_major", Const(False)) != Const(False))
    shape = Inputs({"rng": UNKNOWN, "input_shape": ShapeOf(step.shape)})
    return layer.output(given, shape, "initialize_carry")


def _step(values: Mapping[str, Value], *, is_time_major: bool) -> Array:
    """Return the inputs of one step."""
    inputs = values.get("inputs", UNKNOWN)
    if not isinstance(inputs, Array):
        return Array()
    shape = inputs.shape.expanded(2)
    last = shape.dims[-1:] if shape.dims else ()
    if is_time_major or len(shape.dims) < 2:
        return Array(Shape(last, Lead("", None)))
    return Array(Shape((*shape.dims[:-2], *last), shape.lead))
