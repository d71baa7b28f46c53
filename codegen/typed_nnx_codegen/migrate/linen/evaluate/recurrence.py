"""Calls that run layers for the caller: cells over time, `nn.Sequential`, normalization."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of
from typed_nnx_codegen.migrate.linen.domain.class_plan import (
    CALL,
    COUNTERPART,
    Build,
    Call,
    CallElsewhere,
    Need,
    Site,
)
from typed_nnx_codegen.migrate.linen.domain.classes import LINEN, LinenClass
from typed_nnx_codegen.migrate.linen.domain.dims import Dim
from typed_nnx_codegen.migrate.linen.domain.frames import (
    CallEdit,
    Compound,
    Declare,
    Dispatch,
    Evaluate,
    Frame,
    Line,
)
from typed_nnx_codegen.migrate.linen.domain.references import (
    Choice,
    ModuleValue,
    Ref,
    Repeated,
    SelfValue,
)
from typed_nnx_codegen.migrate.linen.domain.values import (
    UNKNOWN,
    Array,
    Const,
    Lead,
    Passed,
    Seq,
    Shape,
    ShapeOf,
    Size,
    Value,
)
from typed_nnx_codegen.migrate.linen.evaluate.declaring import Declaring
from typed_nnx_codegen.migrate.linen.layers import Given, Helper, Inputs, Layer, find_layer
from typed_nnx_codegen.migrate.linen.layers.products import CellLayer
from typed_nnx_codegen.migrate.linen.shapes.operands import bind_names, dim_of
from typed_nnx_codegen.migrate.linen.write.constructor_code import ConstructorCode

_INNER: Final = {
    "flax.linen.RNN": ("cell",),
    "flax.linen.Bidirectional": ("forward_rnn", "backward_rnn"),
}


@dataclass(frozen=True, eq=False)
class Recurrence:
    """Goes through layers that run other modules over time."""

    evaluate: Evaluate
    passed: Callable[[cst.Call, Frame], list[Passed]]
    refer: Callable[[str], str]

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
        callee = self.evaluate(made.func, frame)
        layer = find_layer(callee.name) if isinstance(callee, Ref) else None
        if not isinstance(layer, CellLayer):
            return None
        settings = bind_names(layer.parameters, self.passed(made, frame)).by_name
        given = {
            name: Given(code_of(one.node), one.value, bool(one.keyword))
            for name, one in settings.items()
            if name not in ("parent", "name")
        }
        passed = bind_names(["rng", "input_shape"], self.passed(node, frame))
        shape = passed.by_name.get("input_shape")
        code = None if shape is None else layer.first_carry(given, shape.node)
        if code is None:
            frame.mark(node, "the first carry of this cell is not zeros", COUNTERPART)
            return UNKNOWN
        if frame.records:
            zeros = self.refer("jax.numpy.zeros")
            frame.replace(node, code.replace("jnp.zeros", zeros))
        values = {name: one.value for name, one in passed.by_name.items()}
        return layer.output(given, Inputs(values), "initialize_carry")

    def _note(self, site: Site, values: Mapping[str, Value], frame: Frame) -> None:
        """Note what a module is called with that another one runs over time."""
        if self.runs(site):
            for one in _inner_of(site):
                self._note(one, values, frame)
            return
        log = frame.recorder.log
        if log.about(Build, site):
            step = _step(values, is_time_major=False)
            for one in (site, *site.alternatives):
                log.append(Call(one, "__call__", {"inputs": step}, frame.root))
                if isinstance(one.target, LinenClass):
                    message = (
                        f"`{one.target.name}` begins with another carry in NNX: pass the first one"
                    )
                    frame.mark(one.node, message, COUNTERPART)


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
        name: Given(one.code or "None", one.value, bool(one.keyword))
        for name, one in site.given.items()
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


SEQUENTIAL: Final = "flax.linen.Sequential"


@dataclass(frozen=True, eq=False)
class CallsInTurn:
    """Calls modules and functions of a list one after the other."""

    dispatch: Dispatch
    loop: Callable[[cst.BaseExpression, Value, Frame, Callable[[], None]], None]

    def call(self, values: Repeated, passed: Passed, node: cst.Call, frame: Frame) -> Value:
        """Return what the modules and functions of a list make of an array, one after the other."""
        names = ("layer", passed.node.value if isinstance(passed.node, cst.Name) else "x")
        kept = {name: frame.names[name] for name in names if name in frame.names}
        log = frame.recorder.log
        edits = log.about(CallEdit, node)
        layer, inputs = (cst.Name(name) for name in names)
        frame.names[inputs.value] = passed.value

        def run() -> None:
            value = frame.names[inputs.value]
            callee = frame.names.get(layer.value, UNKNOWN)
            for one in callee.options if isinstance(callee, Choice) else (callee,):
                if isinstance(one, ModuleValue):
                    frame.recorder.log.append(CallElsewhere(one.site))
            given = [Passed(value, None, inputs)]
            frame.names[inputs.value] = self.dispatch(callee, given, node, frame)

        self.loop(layer, values, frame, run)
        result = frame.names[inputs.value]
        for name in names:
            frame.names.pop(name, None)
        frame.names.update(kept)
        # The call stays as it is: what is around the layers calls them.
        log.drop(*(one for one in log.about(CallEdit, node) if one not in edits))
        return result


NORMALIZE: Final = f"{LINEN}.normalization._normalize"
_PARAMETERS: Final = (
    *("mdl", "x", "mean", "var", "reduction_axes", "feature_axes", "dtype", "param_dtype"),
    *("epsilon", "use_bias", "use_scale", "bias_init", "scale_init", "force_float32_reductions"),
)
# The parameters that it asks the module for.
_VARIABLES: Final = ("scale", "bias")

OWN_PARAMETERS: Final = Helper("OwnParameters")


@dataclass(frozen=True, eq=False)
class Normalizing:
    """Goes through calls of that function."""

    code: ConstructorCode
    declaring: Declaring

    def call(self, passed: list[Passed], node: cst.Call, frame: Frame) -> Value:
        """Return what the function returns: an array of the shape of its input."""
        bound = bind_names(_PARAMETERS, passed)
        given = bound.by_name.get("x")
        value = given.value if given is not None else UNKNOWN
        result = Array(value.shape) if isinstance(value, Array) else UNKNOWN
        owner = bound.by_name.get("mdl")
        if owner is None or not frame.records:
            return result
        is_own = isinstance(owner.value, SelfValue) and owner.value is frame.recorder.instance
        is_plain = is_own and not bound.is_open and not frame.recorder.loops
        if not is_plain or not all(
            self._declare(one, bound.by_name, node, frame) for one in _VARIABLES
        ):
            frame.recorder.mark(node, "the parameters that it makes depend on the call", CALL)
            return result
        frame.log(Need(OWN_PARAMETERS))
        frame.recorder.replace(owner.node, f"{OWN_PARAMETERS.name}(self)")
        return result

    def _declare(self, name: str, given: dict[str, Passed], node: cst.Call, frame: Frame) -> bool:
        """Write the line that makes a parameter; return whether the constructor can make it."""
        recorder = frame.recorder
        key = f"params/{name}"
        uses, init, dtype = (
            given.get(one) for one in (f"use_{name}", f"{name}_init", "param_dtype")
        )
        x, axes = given.get("x"), given.get("feature_axes")
        if uses is None or init is None or dtype is None or x is None or axes is None:
            return False
        if uses.value == Const(False):
            return True
        if not isinstance(x.value, Array) or key in recorder.variables:
            return False
        with self.code.with_shapes():
            shape = self.code.of_shape(x.value.shape, frame)
            along = self._along(axes, shape, frame)
        attribute = self.declaring.free(name, recorder, "params")
        is_sayable = None not in (along, uses.code, init.code, dtype.code)
        if (
            not is_sayable
            or attribute != name
            or any(one.is_of_call for one in recorder.conditions)
        ):
            return False
        first = f"{init.code}({recorder.rngs}.params(), {along}, {dtype.code})"
        code = f"{self.declaring.kind('params')}({first})"
        line = Line(f"self.{name} = {code}")
        is_sure = uses.value == Const(True)
        recorder.block.append(line if is_sure else Compound(f"if {uses.code}:", [line]))
        recorder.log.append(Declare(key, name, Array(), around=()))
        return True

    def _along(self, axes: Passed, shape: str | None, frame: Frame) -> str | None:
        """Return the code of the sizes of a shape along axes."""
        code = axes.code or self.code.of_value(axes.value, frame)
        if shape is None or code is None:
            return None
        if isinstance(axes.value, Const):
            return f"[{shape}[{code}]]"
        if isinstance(axes.value, Seq) and len(axes.value.items) > 1:
            return None  # the function puts them in an order of its own
        return f"[{shape}[axis] for axis in {code}]"
