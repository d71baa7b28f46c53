"""Functions under transforms of Linen that are called with a module: `nn.scan(step)(self.cell, ...)`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.syntax import code_of
from typed_nnx_codegen.migrate.analysis.values import External
from typed_nnx_codegen.migrate.file import with_commas
from typed_nnx_codegen.migrate.linen.domain.class_plan import TRANSFORM, ClassPlan, Event
from typed_nnx_codegen.migrate.linen.domain.classes import LinenClass
from typed_nnx_codegen.migrate.linen.domain.code import arguments_of
from typed_nnx_codegen.migrate.linen.domain.frames import (
    CallFunction,
    Frame,
    FunctionRef,
    Recorder,
)
from typed_nnx_codegen.migrate.linen.domain.references import (
    ClassTransform,
    FieldModule,
    ModuleValue,
    SelfValue,
)
from typed_nnx_codegen.migrate.linen.domain.values import (
    UNKNOWN,
    Code,
    Passed,
    Value,
)
from typed_nnx_codegen.migrate.linen.evaluate.lifted_calls import (
    Mapped,
    Wrapping,
    decorator,
    results_outside,
    steps_inside,
)
from typed_nnx_codegen.migrate.linen.evaluate.lifts import (
    Lift,
    Refer,
    Unsupported,
    collections_in,
    collections_of,
    lift_of,
)


@dataclass(frozen=True)
class Transformed:
    """Writes a transform of a function, as NNX has it.

    Attributes:
        function: The transform of NNX.
        settings: Its settings.
    """

    function: str
    settings: tuple[str, ...]

    def __call__(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Return the new expression; the function stays as it is written."""
        args = [*updated.args[:1], *arguments_of(", ".join(self.settings))]
        return updated.with_changes(
            func=cst.parse_expression(self.function), args=with_commas(args)
        )


def transformed(lift: Lift, count: int, refer: Refer) -> Transformed:
    """Return how a transform of a function is written.

    What the variables of its module do is said by the settings alone: a collection that they do not
    name is not there in Linen.

    Raises:
        Unsupported: NNX cannot do the same.
    """
    named = frozenset(name for name in lift.axes if isinstance(name, str))
    if any(isinstance(axis, int) for axis in lift.axes.values()):
        raise Unsupported(f"`nn.{lift.kind}` of a function stacks variables: write it as a module")
    streams = {name: is_split for name, is_split in lift.is_split.items() if name != "params"}
    if lift.maps and not all(streams.values()):
        raise Unsupported("each step draws the same random numbers")
    mapped = Mapped(named, any(streams.values()), tuple(range(count)), count)
    function, settings = Wrapping(mapped, _as_written, refer, count).alone(lift)
    return Transformed(function, tuple(settings))


def _as_written(bound: Passed) -> str:
    return code_of(bound.node)


@dataclass(frozen=True, eq=False)
class LiftedFunction(Event):
    """A call of a function under a transform.

    Attributes:
        node: The expression that applies the transform.
        lift: The transform.
        count: How many arguments the function gets after the module.
        module: The module that it gets.
        call: The call.
        is_own: Whether a method of the module that is planned applies it.
    """

    node: cst.BaseExpression
    lift: Lift
    count: int
    module: Value
    call: cst.Call
    is_own: bool


@dataclass(frozen=True, eq=False)
class LiftedFunctions:
    """Evaluates calls of functions under transforms, and writes the transforms."""

    call_function: CallFunction
    plan_of: Callable[[LinenClass], ClassPlan]
    refer: Refer

    def call(
        self, callee: ClassTransform, passed: list[Passed], node: cst.Call, frame: Frame
    ) -> Value | None:
        """Return what a call returns; None where what is transformed is no function."""
        around, function = callee.unwrapped()
        if not isinstance(function, FunctionRef):
            return None
        try:
            return self._called(around, function, passed, node, frame)
        except Unsupported as error:
            place = node if frame.records else frame.caller
            if place is not None:
                frame.recorder.mark(place, str(error), TRANSFORM)
        return UNKNOWN

    def _called(
        self,
        around: Sequence[ClassTransform],
        function: FunctionRef,
        passed: list[Passed],
        node: cst.Call,
        frame: Frame,
    ) -> Value:
        if not frame.records and frame.caller is not None:
            raise Unsupported("the function that is called here has a transform of Linen in it")
        module, *arguments = passed or [Passed(UNKNOWN, None, node)]
        known = isinstance(module.value, ModuleValue | FieldModule | SelfValue | Code)
        if not known or module.keyword or any(one.star for one in passed):
            raise Unsupported("a function under a transform is called with something unknown")
        lifts = [lift_of(one) for one in around]
        sizes = []
        inner = arguments
        for lift in lifts:
            transformed(lift, len(arguments), self.refer)
            inner, size = steps_inside(lift, inner)
            sizes.append(size)
        value = self.call_function(function, [module, *inner], frame)
        for one, lift, size in zip(reversed(around), reversed(lifts), reversed(sizes), strict=True):
            value = results_outside(lift, value, size)
            if one.node is not None:
                event = LiftedFunction(
                    one.node, lift, len(arguments), module.value, node, frame.records
                )
                frame.recorder.log.append(event)
        return value

    def write(self, recorder: Recorder) -> None:
        """Note in the plan how the transforms are written."""
        for calls in recorder.log.groups(LiftedFunction):
            codes = {transformed(one.lift, one.count, self.refer) for one in calls}
            for one in calls:
                left = sorted(self._left_out(one, recorder))
                if left:
                    message = f"`nn.{one.lift.kind}` leaves out the collection `{left[0]}`"
                    recorder.mark(one.call, message, TRANSFORM)
            if not calls[0].is_own:
                continue
            if len(codes) > 1:
                recorder.mark(calls[0].node, "it is called in several ways here", TRANSFORM)
                continue
            self._write(recorder, calls[0].node, codes.pop())

    def _left_out(self, call: LiftedFunction, recorder: Recorder) -> frozenset[str]:
        """Return the collections of a module that Linen does not hand to the function."""
        match call.module:
            case ModuleValue(site=site):
                collections = collections_of(site, self.plan_of)
            case SelfValue():
                collections = collections_in(recorder.plan)
            case _:
                return frozenset()
        is_whole = not call.lift.maps or True in call.lift.axes
        return frozenset() if is_whole else collections - call.lift.axes.keys()

    def _write(self, recorder: Recorder, node: cst.BaseExpression, code: Transformed) -> None:
        is_partial = isinstance(node, cst.Call) and _is_partial(node, recorder.plan.cls.analysis)
        if isinstance(node, cst.Call) and not is_partial:
            recorder.replace(node, code)
        else:
            recorder.replace(node, decorator(code.function, code.settings, self.refer))


def _is_partial(node: cst.Call, analysis: Analysis) -> bool:
    value = analysis.values.get(node.func)
    return isinstance(value, External) and value.name == "functools.partial"
