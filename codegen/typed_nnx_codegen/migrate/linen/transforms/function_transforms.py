"""Functions and methods under transforms: `nn.scan(body, ...)(self, carry, xs)`, decorators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of
from typed_nnx_codegen.migrate.linen.domain.class_plan import Bound, Build, ClassPlan, Edit
from typed_nnx_codegen.migrate.linen.domain.classes import LinenClass, Method
from typed_nnx_codegen.migrate.linen.domain.frames import (
    CallFunction,
    Evaluate,
    Frame,
    FunctionRef,
    LiftedFunction,
    Recorder,
)
from typed_nnx_codegen.migrate.linen.domain.markers import TRANSFORM
from typed_nnx_codegen.migrate.linen.domain.references import (
    ClassTransform,
    ModuleValue,
    Partial,
    Ref,
)
from typed_nnx_codegen.migrate.linen.domain.values import UNKNOWN, Value
from typed_nnx_codegen.migrate.linen.shapes.operands import Passed
from typed_nnx_codegen.migrate.linen.transforms.lifts import (
    Unsupported,
    collections_in,
    collections_of,
    draws,
    in_method,
    lift_of,
    plan_draws,
)
from typed_nnx_codegen.migrate.linen.transforms.stacked_submodules import Stack
from typed_nnx_codegen.migrate.linen.transforms.submodule_calls import (
    ignores_keywords,
    results_outside,
    steps_inside,
)
from typed_nnx_codegen.migrate.linen.transforms.transformed_code import (
    AroundFirst,
    Mapped,
    Wrapping,
)

_NAMES = frozenset({"remat", "checkpoint", "scan", "vmap", "jit", "remat_scan"})


class LiftedFunctions:
    """Goes through functions and methods under transforms, and writes them.

    Args:
        evaluate: Goes through an expression.
        call_function: Goes through a function of the project.
        plan_of: Plans another module of the project.
        refer: Gives the code for a public name.
    """

    def __init__(
        self,
        evaluate: Evaluate,
        call_function: CallFunction,
        plan_of: Callable[[LinenClass], ClassPlan],
        refer: Callable[[str], str],
    ) -> None:
        self._evaluate = evaluate
        self._call_function = call_function
        self._plan_of = plan_of
        self._refer = refer

    # -- functions ----------------------------------------------------------------------------

    def call(
        self, callee: ClassTransform, passed: list[Passed], node: cst.Call, frame: Frame
    ) -> Value | None:
        """Return what a call of a transformed function returns; None where it is no function."""
        transforms = _chain(callee)
        function = transforms[-1].target
        if not isinstance(function, FunctionRef):
            return None
        try:
            return self._called(transforms, function, passed, frame)
        except Unsupported as error:
            frame.mark(node, str(error), TRANSFORM)
            return UNKNOWN

    def _called(
        self,
        transforms: tuple[ClassTransform, ...],
        function: FunctionRef,
        passed: list[Passed],
        frame: Frame,
    ) -> Value:
        lifts = [lift_of(one) for one in transforms]
        if any(lift.kind == "remat_scan" for lift in lifts):
            raise Unsupported("`nn.remat_scan` of a function is not migrated")
        if not passed or any(one.star or one.keyword for one in passed):
            raise Unsupported("a transformed function is called with keywords or `*`")
        module, *inner = passed
        recorder = frame.recorder
        is_own = module.value is recorder.instance and recorder.instance is not None
        if not is_own and not isinstance(module.value, ModuleValue):
            raise Unsupported("it is not known which module this function is called with")
        stacks: list[Stack] = []
        for lift in lifts:
            inner, size = steps_inside(lift, inner)
            stacks.append(Stack(lift, size))
        before = len(recorder.log.of(Build))
        outer, owner = recorder.stacks, recorder.owner
        recorder.stacks = (*outer, *stacks) if is_own else outer
        recorder.owner = _first_parameter(function) if is_own else owner
        value = self._call_function(function, [module, *inner], frame)
        recorder.stacks, recorder.owner = outer, owner
        if not is_own and len(recorder.log.of(Build)) > before:
            raise Unsupported("a function under a transform builds parts of another module")
        for stack in reversed(stacks):
            value = results_outside(stack.lift, value, stack.size)
        frame.log(LiftedFunction(module.value, transforms, len(inner)))
        return value

    def decorated(self, node: cst.FunctionDef, frame: Frame) -> Value:
        """Return a local function, under the transforms that decorate it."""
        value: Value = FunctionRef(node, frame)
        for decorator in reversed(node.decorators):
            found = self._transform(decorator.decorator, value, frame)
            if found is not None:
                value = found
        return value

    def _transform(
        self, decorator: cst.BaseExpression, target: Value, frame: Frame
    ) -> ClassTransform | None:
        match self._evaluate(decorator, frame):
            case Ref(name=name) if _is_transform(name):
                return ClassTransform(name, target, node=decorator)
            case Partial(function=Ref(name=name), args=args, keywords=keywords) if _is_transform(
                name
            ):
                return ClassTransform(name, target, args, tuple(keywords.items()), decorator)
        return None

    # -- methods ------------------------------------------------------------------------------

    def of_method(self, method: Method, recorder: Recorder) -> tuple[ClassTransform, ...]:
        """Return the transforms of a method, outermost first: those of its class, and its own."""
        if not any(_is_transform(name) for name in _decorators(method)):
            return ()
        frame = Frame(recorder, method.owner.analysis, records=False)
        found: list[ClassTransform] = []
        for one in method.owner.node.decorators:
            transform = self._transform(one.decorator, UNKNOWN, frame)
            if transform is not None and method.name in _methods_of(transform):
                found.append(transform)
        for one in method.node.decorators:
            transform = self._transform(one.decorator, UNKNOWN, frame)
            if transform is not None:
                found.append(transform)
        return tuple(found)

    def run(self, method: Method, frame: Frame, body: Callable[[], Value]) -> Value:
        """Go through a method, under its transforms.

        Args:
            method: The method.
            frame: Its frame, with its arguments.
            body: Goes through it as it is.
        """
        recorder = frame.recorder
        try:
            lifts = [lift_of(one) for one in self.of_method(method, recorder)]
            if not lifts:
                return body()
            names = [one.name.value for one in method.parameters()]
            none = cst.Name("None")
            inner = [Passed(frame.names.get(name, UNKNOWN), None, none) for name in names]
            stacks: list[Stack] = []
            for lift in lifts:
                inner, size = steps_inside(lift, inner)
                stacks.append(Stack(lift, size))
        except Unsupported as error:
            recorder.mark(method.node, str(error), TRANSFORM)
            return body()
        frame.names.update({name: one.value for name, one in zip(names, inner, strict=True)})
        outer = recorder.stacks
        if frame.instance is recorder.instance:
            recorder.stacks = (*outer, *stacks)
        value = body()
        recorder.stacks = outer
        for stack in reversed(stacks):
            value = results_outside(stack.lift, value, stack.size)
        return value

    def check(
        self, method: Method, passed: Sequence[Passed], node: cst.CSTNode, recorder: Recorder
    ) -> None:
        """Mark a call that gives arguments by name, which Linen ignores under some transforms."""
        if not any(one.keyword for one in passed):
            return
        try:
            lifts = [lift_of(one) for one in self.of_method(method, recorder)]
        except Unsupported:
            return
        if any(ignores_keywords(lift) for lift in lifts):
            recorder.mark(node, "Linen ignores the arguments that are given by name here")

    # -- writing ------------------------------------------------------------------------------

    def write(self, recorder: Recorder) -> None:
        """Note in the plan how transforms of functions and methods are written."""
        for one in recorder.log.of(LiftedFunction):
            for transform in one.transforms:
                if isinstance(transform.node, cst.BaseExpression):
                    self._write_function(recorder, one, transform, transform.node)
        cls = recorder.plan.cls
        for method in cls.own_methods.values():
            self._write_method(recorder, method)
        self._write_class(recorder, cls)

    def _write_function(
        self,
        recorder: Recorder,
        function: LiftedFunction,
        transform: ClassTransform,
        node: cst.BaseExpression,
    ) -> None:
        plan_of = self._plan_of
        if isinstance(function.module, ModuleValue):
            site = function.module.site
            collections, random = collections_of(site, plan_of), draws(site, plan_of)
        else:
            collections = collections_in(recorder.plan)
            random = plan_draws(recorder.plan, plan_of) or recorder.uses_rngs
        mapped = Mapped(collections, random, tuple(range(function.count)), function.count)
        is_decorator = not isinstance(node, cst.Call) or (
            isinstance(transform.target, FunctionRef) and _decorates(node, transform.target)
        )

        def spelled(bound: Bound) -> str:
            return in_method(bound, is_here=True)

        try:
            lift = lift_of(transform)
            wrapping = Wrapping(mapped, spelled, self._refer, function.count)
            name, settings = wrapping.transform(lift)
            if is_decorator:
                recorder.replace(node, self._decorator(name, settings))
            elif isinstance(node, cst.Call):
                template = name.format(", ".join(["__function__", *settings]))
                recorder.replace(node, AroundFirst(template))
        except Unsupported as error:
            recorder.mark(node, str(error), TRANSFORM)

    def _decorator(self, name: str, settings: list[str]) -> str:
        if not name.endswith("({})") or name.count("(") != 1:
            raise Unsupported("members draw keys of their own")
        function = name.removesuffix("({})")
        if not settings:
            return function
        partial = self._refer("functools.partial")
        return f"{partial}({', '.join([function, *settings])})"

    def _write_method(self, recorder: Recorder, method: Method) -> None:
        for one in method.node.decorators:
            frame = Frame(recorder, method.owner.analysis, records=False)
            transform = self._transform(one.decorator, UNKNOWN, frame)
            if transform is None:
                continue
            text = self._of_method(recorder, method, transform, one)
            if text:
                recorder.replace(one.decorator, text)

    def _of_method(
        self, recorder: Recorder, method: Method, transform: ClassTransform, node: cst.CSTNode
    ) -> str:
        params = method.node.params
        count = len(list(method.parameters())) - len(params.kwonly_params)
        plan_of = self._plan_of
        mapped = Mapped(
            collections_in(recorder.plan),
            plan_draws(recorder.plan, plan_of) or recorder.uses_rngs,
            tuple(range(count)),
            count,
        )

        def spelled(bound: Bound) -> str:
            return code_of(bound.node) if bound.node is not None else str(bound.code)

        try:
            lift = lift_of(transform)
            if lift.kind == "remat_scan":
                raise Unsupported("`nn.remat_scan` of a method is not migrated")
            if isinstance(params.star_arg, cst.Param) and lift.maps:
                raise Unsupported("a method under a transform takes `*` arguments")
            if params.kwonly_params and lift.kind != "jit":
                raise Unsupported("a method under a transform takes arguments by name only")
            wrapping = Wrapping(mapped, spelled, self._refer, count)
            return self._decorator(*wrapping.transform(lift))
        except Unsupported as error:
            recorder.mark(node, str(error), TRANSFORM)
            return ""

    def _write_class(self, recorder: Recorder, cls: LinenClass) -> None:
        """Move transforms that decorate a class to its methods."""
        frame = Frame(recorder, cls.analysis, records=False)
        for one in cls.node.decorators:
            transform = self._transform(one.decorator, UNKNOWN, frame)
            if transform is None:
                continue
            recorder.log.append(Edit(one, None))
            for name in _methods_of(transform):
                method = cls.own_methods.get(name)
                if method is None:
                    recorder.mark(
                        cls.node, f"the transform of this class is for `{name}`, inherited"
                    )
                    continue
                text = self._of_method(recorder, method, transform, cls.node)
                if text:
                    recorder.plan.decorators.setdefault(name, []).append(text)


def _chain(callee: ClassTransform) -> tuple[ClassTransform, ...]:
    found: list[ClassTransform] = [callee]
    while isinstance(found[-1].target, ClassTransform):
        found.append(found[-1].target)
    last = found[-1]
    if isinstance(last.target, Partial) and isinstance(last.target.function, FunctionRef):
        found[-1] = replace(last, target=UNKNOWN)
    return tuple(found)


def _first_parameter(function: FunctionRef) -> str:
    params = function.node.params
    first = [*params.posonly_params, *params.params][:1]
    return first[0].name.value if first else "self"


def _is_transform(name: str) -> bool:
    return name.startswith("flax.linen.") and name.rpartition(".")[2] in _NAMES


def _decorators(method: Method) -> list[str]:
    return [*method.decorators, *method.owner.decorators]


def _methods_of(transform: ClassTransform) -> tuple[str, ...]:
    try:
        return lift_of(transform).methods
    except Unsupported:
        return ("__call__",)


def _decorates(node: cst.BaseExpression, function: FunctionRef) -> bool:
    return isinstance(function.node, cst.FunctionDef) and any(
        one.decorator is node for one in function.node.decorators
    )
