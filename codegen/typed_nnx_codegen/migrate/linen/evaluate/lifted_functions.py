"""Functions under transforms of Linen that are called with a module: `nn.scan(step)(self.cell, ...)`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.syntax import code_of
from typed_nnx_codegen.migrate.analysis.values import External
from typed_nnx_codegen.migrate.file import File, with_commas
from typed_nnx_codegen.migrate.linen.domain.class_plan import TRANSFORM, ClassPlan, Event
from typed_nnx_codegen.migrate.linen.domain.classes import LinenClass, public_linen
from typed_nnx_codegen.migrate.linen.domain.code import arguments_of
from typed_nnx_codegen.migrate.linen.domain.frames import (
    CallFunction,
    Frame,
    FunctionRef,
    Recorder,
)
from typed_nnx_codegen.migrate.linen.domain.names import linen_name
from typed_nnx_codegen.migrate.linen.domain.references import (
    ClassTransform,
    FieldModule,
    ModuleValue,
    Ref,
    SelfValue,
)
from typed_nnx_codegen.migrate.linen.domain.values import (
    UNKNOWN,
    Code,
    Const,
    Passed,
    Seq,
    Table,
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
    is_transform,
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

    Args:
        lift: The transform.
        count: How many arguments the function gets after the module.
        refer: Spells public names of NNX.

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


class LiftedFunctions:
    """Evaluates calls of functions under transforms, and writes the transforms.

    Args:
        call_function: Evaluates a call of a function.
        plan_of: Plans another module of the project.
        refer: Spells public names of NNX.
    """

    def __init__(
        self,
        call_function: CallFunction,
        plan_of: Callable[[LinenClass], ClassPlan],
        refer: Refer,
    ) -> None:
        self._call_function = call_function
        self._plan_of = plan_of
        self._refer = refer

    def call(
        self, callee: ClassTransform, passed: list[Passed], node: cst.Call, frame: Frame
    ) -> Value | None:
        """Return what a call returns; None where what is transformed is no function.

        Args:
            callee: The function under its transforms.
            passed: The arguments, the module first.
            node: The call.
            frame: Where it is.
        """
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
        module, *arguments = passed or [Passed(UNKNOWN, None, node)]
        known = isinstance(module.value, ModuleValue | FieldModule | SelfValue | Code)
        if not known or module.keyword or any(one.star for one in passed):
            raise Unsupported("a function under a transform is called with something unknown")
        lifts = [lift_of(one) for one in around]
        sizes = []
        inner = arguments
        for lift in lifts:
            transformed(lift, len(arguments), self._refer)
            inner, size = steps_inside(lift, inner)
            sizes.append(size)
        value = self._call_function(function, [module, *inner], frame)
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
            codes = {transformed(one.lift, one.count, self._refer) for one in calls}
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
                collections = collections_of(site, self._plan_of)
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
            recorder.replace(node, decorator(code.function, code.settings, self._refer))


def _is_partial(node: cst.Call, analysis: Analysis) -> bool:
    value = analysis.values.get(node.func)
    return isinstance(value, External) and value.name == "functools.partial"


# -- functions outside of modules ---------------------------------------------------------------


def transform_outside(call: cst.Call, around: Sequence[cst.FunctionDef], file: File) -> str:
    """Return how a transform of a function is written that stands outside of modules.

    Args:
        call: The call of a transform of Linen.
        around: The functions around it, innermost first.
        file: Its file.

    Raises:
        Unsupported: NNX cannot do the same, or it is not known what is transformed.
    """
    analysis = file.analysis
    name = public_name(call.func, analysis)
    transform = f"nn.{name.rpartition('.')[2]}"
    first, *others = call.args
    if not isinstance(first.value, cst.Name) or first.keyword is not None or first.star:
        raise Unsupported(f"what `{transform}` transforms here is not known")
    params = _parameters(first.value.value, [*around, analysis.tree])
    if params is None or any(one.keyword is None or one.star for one in others):
        raise Unsupported(f"what `{transform}` transforms here is not known")
    settings = tuple(
        Passed(_literal(one.value, analysis), code_of(one.value), one.value, one.keyword.value)
        for one in others
        if one.keyword is not None
    )
    lift = lift_of(ClassTransform(name, UNKNOWN, (), settings))
    code = transformed(lift, len(params.params) - 1, lambda public: code_of(file.refer(public)))
    return f"{code.function}({', '.join([first.value.value, *code.settings])})"


def public_name(node: cst.BaseExpression, analysis: Analysis) -> str:
    """Return the public name of a transform of Linen; empty for anything else."""
    public = linen_name(node, analysis)
    return public if is_transform(public) else ""


_LITERALS: Final = (bool, int, float, str, type(None))


def _parameters(name: str, scopes: Sequence[cst.FunctionDef | cst.Module]) -> cst.Parameters | None:
    """Return the parameters of the function that a name stands for; None if that is not known."""
    for scope in scopes:
        lines = scope.body.body if isinstance(scope, cst.FunctionDef) else scope.body
        found = [
            one for one in lines if isinstance(one, cst.FunctionDef) and one.name.value == name
        ]
        if not found:
            continue
        params = found[0].params
        is_plain = isinstance(params.star_arg, cst.MaybeSentinel) and params.star_kwarg is None
        is_plain = is_plain and not params.kwonly_params and not params.posonly_params
        return params if is_plain and params.params and len(found) == 1 else None
    return None


def _literal(node: cst.BaseExpression, analysis: Analysis) -> Value:
    value = analysis.values.get(node)
    if isinstance(value, External):
        return Ref(public_linen(value.name))
    try:
        return _value_of(ast.literal_eval(code_of(node)))
    except (SyntaxError, ValueError):
        return Code(code_of(node))


def _value_of(literal: object) -> Value:
    match literal:
        case dict():
            return Table({key: _value_of(one) for key, one in literal.items()})
        case list() | tuple():
            return Seq(tuple(map(_value_of, literal)), isinstance(literal, list))
    return Const(literal) if isinstance(literal, _LITERALS) else UNKNOWN
