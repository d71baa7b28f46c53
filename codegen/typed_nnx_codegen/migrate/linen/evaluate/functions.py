"""Evaluates the functions and methods that are called, with what they are given."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of, descendants, is_name
from typed_nnx_codegen.migrate.linen.domain.class_plan import Enter
from typed_nnx_codegen.migrate.linen.domain.classes import Method
from typed_nnx_codegen.migrate.linen.domain.frames import Evaluate, Frame, FunctionRef
from typed_nnx_codegen.migrate.linen.domain.references import SelfValue
from typed_nnx_codegen.migrate.linen.domain.values import (
    NONE,
    UNKNOWN,
    Array,
    Lead,
    Seq,
    Shape,
    Table,
    Unknown,
    Value,
)
from typed_nnx_codegen.migrate.linen.evaluate.merging import Merging
from typed_nnx_codegen.migrate.linen.evaluate.sized_lists import given_list
from typed_nnx_codegen.migrate.linen.shapes.operands import Passed, bind
from typed_nnx_codegen.migrate.linen.transforms.lifted_calls import LiftedFunctions

# Of how many functions what was found out is remembered.
_KEPT: Final = 4096


@lru_cache(maxsize=_KEPT)
def is_consumed(name: str, node: cst.FunctionDef) -> bool:
    """Whether a loop of a method takes an item of an argument, and goes on with the others.

    ``last = skips[-1]`` and ``skips = skips[:-1]``: the items are arrays, and each one may have
    another size. Were it an array, nothing would be known either, as its length tells the loop.

    Args:
        name: The argument.
        node: The method.
    """
    return any(
        _shortens(name, loop) and _takes_item(name, loop)
        for loop in descendants(node.body)
        if isinstance(loop, (cst.For, cst.While))
    )


def _shortens(name: str, loop: cst.For | cst.While) -> bool:
    """Whether a loop gives a name all but some of its items."""
    for below in descendants(loop.body):
        match below:
            case cst.Assign(
                targets=[cst.AssignTarget(target=cst.Name(value=target))],
                value=cst.Subscript(
                    value=cst.Name(value=source), slice=[cst.SubscriptElement(slice=cst.Slice())]
                ),
            ) if target == source == name:
                return True
    return False


def _takes_item(name: str, loop: cst.For | cst.While) -> bool:
    """Whether a loop reads one item of a name, by a number."""
    for below in descendants(loop.body):
        match below:
            case cst.Subscript(
                value=cst.Name(value=source),
                slice=[
                    cst.SubscriptElement(
                        slice=cst.Index(value=cst.Integer() | cst.UnaryOperation())
                    )
                ],
            ) if source == name:
                return True
    return False


_LISTS: Final = re.compile(r"(\w+\.)*(Sequence|[Ll]ist|[Tt]uple|Iterable)\b")
_ARRAYS: Final = re.compile(r"[Aa]rray|[Tt]ensor")
_CHANGING: Final = frozenset({"append", "insert", "pop"})
# Functions that go over a list, or make another one of it.
_GOING_OVER: Final = frozenset({"zip", "enumerate", "reversed", "list", "tuple", "len"})


@lru_cache(maxsize=_KEPT)
def is_list(parameter: cst.Param, method: Method) -> bool:
    """Whether a parameter is a list of arrays: by its type, or by what its method does with it.

    A list whose items are only read by literal places is left out: they are arguments like others.

    Args:
        parameter: The parameter.
        method: The method.
    """
    name = parameter.name.value
    annotation = parameter.annotation
    text = "" if annotation is None else code_of(annotation.annotation).strip("\"'")
    is_said = _LISTS.match(text) is not None and _ARRAYS.search(text) is not None
    if is_consumed(name, method.node) or any(_is_changed(one, name) for one in _below(method)):
        return True
    if text and not is_said:
        return False
    uses = set(_uses(method, anywhere=is_said))
    if any(is_name(one, name) and one not in uses for one in _below(method)):
        return False
    return any(
        _is_over(one, name) or (is_said and _is_item_of(one, name)) for one in _below(method)
    )


def _below(method: Method) -> Iterator[cst.CSTNode]:
    return descendants(method.node.body)


def _uses(method: Method, *, anywhere: bool) -> Iterator[cst.CSTNode]:
    """Yield where names stand as lists may.

    Args:
        method: The method.
        anywhere: Whether any function may be called with them.
    """
    for node in _below(method):
        match node:
            case cst.Attribute(attr=cst.Name() as attribute):
                yield attribute
            case cst.Arg(keyword=cst.Name() as keyword):
                yield keyword
            case cst.Subscript(value=cst.Name() as owner, slice=[_]):
                yield owner
            case cst.Call(func=function, args=args):
                if anywhere or code_of(function) in _GOING_OVER:
                    yield from (one.value for one in args)
            case cst.For(iter=cst.Name() as iterated) | cst.CompFor(iter=cst.Name() as iterated):
                yield iterated
            case cst.AssignTarget(target=cst.Name() as target):
                yield target


def _is_changed(node: cst.CSTNode, name: str) -> bool:
    """Whether a call takes an item off a list, or adds one."""
    match node:
        case cst.Call(
            func=cst.Attribute(value=cst.Name(value=owner), attr=cst.Name(value=method)), args=args
        ):
            is_key = any(isinstance(one.value, cst.SimpleString) for one in args)
            return owner == name and method in _CHANGING and not is_key
    return False


def _is_over(node: cst.CSTNode, name: str) -> bool:
    """Whether a node is a loop over a name, with or without others."""
    return isinstance(node, cst.For | cst.CompFor) and _goes_over(node.iter, name)


def _goes_over(node: cst.BaseExpression, name: str) -> bool:
    match node:
        case cst.Call(func=cst.Name(value=function), args=args) if function in _GOING_OVER:
            return any(_goes_over(one.value, name) for one in args)
        case cst.Subscript(value=inner, slice=[cst.SubscriptElement(slice=cst.Slice())]):
            return _goes_over(inner, name)
    return is_name(node, name)


def _is_item_of(node: cst.CSTNode, name: str) -> bool:
    """Whether a node is an item of a name, or some, of which no number says which."""
    match node:
        case cst.Subscript(
            value=cst.Name(value=owner), slice=[cst.SubscriptElement(slice=cst.Index(value=index))]
        ):
            return owner == name and any(isinstance(one, cst.Name) for one in descendants(index))
        case cst.Subscript(value=cst.Name(value=owner)):
            return owner == name
    return False


_DEEPEST: Final = 24
_FLAGS: Final = frozenset({"bool", "int", "float", "str", "Optional[bool]", "bool | None"})


class Functions:
    """Goes through functions.

    Args:
        lifted_functions: Goes through functions under transforms.
        merging: Joins values.
        evaluate: Goes through an expression.
        run: Goes through statements; says whether they end.
    """

    def __init__(
        self,
        lifted_functions: LiftedFunctions,
        merging: Merging,
        evaluate: Evaluate,
        run: Callable[[cst.BaseSuite, Frame], bool],
    ) -> None:
        self._lifted_functions = lifted_functions
        self._merging = merging
        self._evaluate = evaluate
        self._run_body = run

    # -- methods ------------------------------------------------------------------------------

    def set_up(self, instance: SelfValue, frame: Frame) -> None:
        """Go through `setup` of an object, once."""
        if instance.is_set_up:
            return
        instance.is_set_up = True
        recorder = frame.recorder
        records = instance is recorder.instance
        # What setup writes comes before what methods write, whenever it is asked for.
        outer, recorder.block = recorder.block, recorder.setup
        loops = recorder.loops
        # What a submodule is made with may be said by the loops around.
        recorder.loops = [] if records else list(loops)
        branches, recorder.branch_path = recorder.branch_path, []
        conditions, recorder.conditions = recorder.conditions, []
        # It runs once, so that what it does counts in trials too.
        log, recorder.log = recorder.log, recorder.plan.log
        for name in ("__post_init__", "setup"):
            method = instance.cls.method(name)
            if method is None:
                continue
            inner = Frame(
                recorder,
                method.owner.analysis,
                instance,
                method,
                records=records,
                verbatim=records,
                root="setup",
            )
            self._name_self(method, inner)
            self._run(method.node, inner)
        recorder.block, recorder.loops = outer, loops
        recorder.branch_path, recorder.log = branches, log
        recorder.conditions = conditions

    def enter(self, instance: SelfValue, method: Method, frame: Frame) -> Value:
        """Go through a method as a caller from outside would call it.

        Args:
            instance: The object.
            method: The method.
            frame: A frame of the module that is planned.
        """
        inner = Frame(
            frame.recorder,
            method.owner.analysis,
            instance,
            method,
            root=method.name,
        )
        self._name_self(method, inner)
        frame.log(Enter(method.node))
        for parameter in method.parameters():
            inner.names[parameter.name.value] = argument_value(parameter, method, inner)
        params = method.node.params
        for star in (params.star_arg, params.star_kwarg):
            if isinstance(star, cst.Param):
                inner.names[star.name.value] = UNKNOWN
        return self._lifted_functions.run(method, inner, lambda: self._run(method.node, inner))

    def call_method(
        self,
        instance: SelfValue,
        method: Method,
        passed: Sequence[Passed],
        node: cst.BaseExpression,
        frame: Frame,
    ) -> Value:
        """Go through a method of the object or of a submodule that a method calls."""
        recorder = frame.recorder
        records = frame.records and instance is recorder.instance
        inner = Frame(
            recorder,
            method.owner.analysis,
            instance,
            method,
            records=records,
            root=frame.root,
        )
        caller = frame.method.node if frame.method is not None else None
        call = node if caller is not None and isinstance(node, cst.Call) else None
        inner.log(Enter(method.node, caller, call, bool(recorder.loops or recorder.call_loops)))
        self._name_self(method, inner)
        self._bind(method.node.params, passed, inner, skip=1 if method.is_bound else 0)
        self._lifted_functions.check(method, passed, node, recorder)
        return self._lifted_functions.run(method, inner, lambda: self._run(method.node, inner))

    @staticmethod
    def _name_self(method: Method, frame: Frame) -> None:
        params = method.node.params
        first = [*params.posonly_params, *params.params][:1]
        if first and method.is_bound and frame.instance is not None:
            frame.names[first[0].name.value] = frame.instance

    # -- functions ----------------------------------------------------------------------------

    def call_function(
        self,
        function: FunctionRef,
        passed: Sequence[Passed],
        frame: Frame,
        node: cst.CSTNode | None = None,
    ) -> Value:
        """Go through a function of the project that a method calls."""
        defined = function.frame
        is_local = defined.records and defined.recorder is frame.recorder
        inner = Frame(
            frame.recorder,
            defined.analysis,
            defined.instance,
            defined.method,
            outer=defined if defined.names else None,
            records=is_local,
            root=frame.root,
            caller=node if frame.records and not is_local else frame.caller,
        )
        self._bind(function.node.params, passed, inner)
        if isinstance(function.node, cst.Lambda):
            body = function.node.body
            return self._shallow(lambda: self._evaluate(body, inner), inner)
        return self._run(function.node, inner)

    # -- bodies -------------------------------------------------------------------------------

    def _bind(
        self, params: cst.Parameters, passed: Sequence[Passed], frame: Frame, skip: int = 0
    ) -> None:
        bound = bind(params, passed, skip)
        positional = [*params.posonly_params, *params.params][skip:]
        for parameter in [*positional, *params.kwonly_params]:
            name = parameter.name.value
            if name in bound.by_name:
                frame.names[name] = bound.by_name[name].value
            elif parameter.default is not None and not bound.is_open:
                outside = Frame(frame.recorder, frame.analysis, records=False)
                frame.names[name] = self._evaluate(parameter.default, outside)
            else:
                frame.names[name] = UNKNOWN
        named = {one.name.value for one in (*params.params, *params.kwonly_params)}
        rest: dict[object, Value] = {
            name: one.value for name, one in bound.by_name.items() if name not in named
        }
        if isinstance(params.star_arg, cst.Param):
            extra = Seq(tuple(one.value for one in bound.extra))
            frame.names[params.star_arg.name.value] = UNKNOWN if bound.is_open else extra
        if params.star_kwarg is not None:
            name = params.star_kwarg.name.value
            frame.names[name] = UNKNOWN if bound.is_open else Table(rest)

    def _run(self, node: cst.FunctionDef, frame: Frame) -> Value:
        if node.asynchronous is not None:
            return UNKNOWN
        return self._shallow(lambda: self._body(node, frame), frame)

    def _body(self, node: cst.FunctionDef, frame: Frame) -> Value:
        ends = self._run_body(node.body, frame)
        results = frame.results if ends else [*frame.results, NONE]
        if frame.results and not ends and len(frame.results) == 1:
            results = frame.results  # all but what raises or falls through
        if not results:
            return UNKNOWN  # it only raises
        value = results[0]
        for other in results[1:]:
            value = self._merging.joined(value, other, frame)
        return value

    def _shallow(self, run: Callable[[], Value], frame: Frame) -> Value:
        recorder = frame.recorder
        if recorder.depth >= _DEEPEST:
            return Unknown("functions call each other too deeply")
        recorder.depth += 1
        anchor = recorder.anchors.get(id(recorder.block))
        is_pending = anchor is not None and anchor[1] < len(recorder.block)
        recorder.pending += is_pending
        try:
            return run()
        finally:
            recorder.depth -= 1
            recorder.pending -= is_pending
            if anchor is not None:
                recorder.anchors[id(recorder.block)] = anchor


def argument_value(parameter: cst.Param, method: Method, frame: Frame) -> Value:
    """Return what a parameter of a method stands for when a caller from outside gives it."""
    name = parameter.name.value
    if is_flag(parameter):
        return UNKNOWN
    if is_list(parameter, method):
        return UNKNOWN if is_optional(parameter, method) else given_list(name, frame)
    return Array(
        Shape((), Lead(name, None)), origin=name, is_optional=is_optional(parameter, method)
    )


def is_optional(parameter: cst.Param, method: Method) -> bool:
    """Whether a parameter may be None: by its default, its type, or because the code asks."""
    if parameter.name.value in _compared_with_none(method.node):
        return True
    match parameter.default:
        case cst.Name(value="None"):
            return True
    if parameter.annotation is None:
        return False
    text = cst.Module([]).code_for_node(parameter.annotation.annotation)
    return "Optional" in text or "None" in text


def is_flag(parameter: cst.Param) -> bool:
    """Whether a parameter is a setting, not an array."""
    match parameter.default:
        case cst.Name(value="True" | "False") | cst.SimpleString() | cst.Integer() | cst.Float():
            return True
    annotation = parameter.annotation
    if annotation is None:
        return parameter.name.value in ("train", "training", "deterministic", "is_training")
    text = cst.Module([]).code_for_node(annotation.annotation).strip("\"'")
    return text in _FLAGS or text.startswith(("Callable", "Literal"))


@lru_cache(maxsize=_KEPT)
def _compared_with_none(node: cst.FunctionDef) -> frozenset[str]:
    """Return the names that a function compares with None."""
    found: set[str] = set()
    for below in descendants(node.body):
        match below:
            case cst.Comparison(
                left=cst.Name(value=name),
                comparisons=[
                    cst.ComparisonTarget(
                        operator=cst.Is() | cst.IsNot(), comparator=cst.Name(value="None")
                    )
                ],
            ):
                found.add(name)
    return frozenset(found)
