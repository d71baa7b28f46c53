"""Functions: those of the project, those that JAX maps or runs in loops, numbers that numpy computes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of, descendants, is_name, of_kinds
from typed_nnx_codegen.migrate.linen.domain.class_plan import Build, Enter, Log, Recursion
from typed_nnx_codegen.migrate.linen.domain.classes import Method
from typed_nnx_codegen.migrate.linen.domain.dims import Dim
from typed_nnx_codegen.migrate.linen.domain.frames import (
    Dispatch,
    Evaluate,
    Frame,
    FunctionRef,
    Pass,
    plain_key,
)
from typed_nnx_codegen.migrate.linen.domain.references import (
    BoundMethod,
    Choice,
    FieldModule,
    ModuleValue,
    Partial,
    Ref,
    Repeated,
    SelfValue,
)
from typed_nnx_codegen.migrate.linen.domain.values import (
    NONE,
    UNKNOWN,
    Array,
    Code,
    Const,
    Lead,
    OfShapes,
    Passed,
    Remaining,
    Seq,
    Shape,
    Size,
    Slice,
    Table,
    Unknown,
    Value,
    is_known,
)
from typed_nnx_codegen.migrate.linen.evaluate.lifted_calls import (
    LiftedMethods,
    inside,
    outside,
    size_along,
)
from typed_nnx_codegen.migrate.linen.evaluate.merging import Merging
from typed_nnx_codegen.migrate.linen.evaluate.sized_lists import any_item, are_arrays, given_list
from typed_nnx_codegen.migrate.linen.shapes.operands import bind, dim_of
from typed_nnx_codegen.migrate.linen.write.constructor_code import ConstructorCode
from typed_nnx_codegen.migrate.syntax import deeper

# Of how many functions what was found out is remembered.
_KEPT: Final = 4096


@lru_cache(maxsize=_KEPT)
def is_consumed(name: str, node: cst.FunctionDef) -> bool:
    """Whether a loop of a method takes an item of an argument, and goes on with the others.

    ``last = skips[-1]`` and ``skips = skips[:-1]``: the items are arrays, and each one may have
    another size. Were it an array, nothing would be known either, as its length tells the loop.
    """
    return any(
        _shortens(name, loop) and _takes_item(name, loop)
        for loop in of_kinds(descendants(node.body), cst.For, cst.While)
        if isinstance(loop, cst.For | cst.While)
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
# One of them and nothing else, with or without its dtype and axes.
_ARRAY: Final = re.compile(
    r"(\w+\.)*(\w*([Aa]rray|[Tt]ensor)|\w+\[(\w+\.)*\w*([Aa]rray|[Tt]ensor), .*\])"
)
_CHANGING: Final = frozenset({"append", "insert", "pop"})
# Functions that go over a list, or make another one of it.
_GOING_OVER: Final = frozenset({"zip", "enumerate", "reversed", "list", "tuple", "len"})


@lru_cache(maxsize=_KEPT)
def is_list(parameter: cst.Param, method: Method) -> bool:
    """Whether a parameter is a list of arrays: by its type, or by what its method does with it.

    A list whose items are only read by literal places is left out: they are arguments like others.
    """
    name = parameter.name.value
    text = _type_of(parameter)
    is_said = _LISTS.match(text) is not None and _ARRAYS.search(text) is not None
    if is_consumed(name, method.node) or any(
        _is_changed(one, name) for one in of_kinds(_below(method), cst.Call)
    ):
        return True
    if text and not is_said:
        return False
    uses = _uses(method, anywhere=is_said)
    if any(is_name(one, name) and one not in uses for one in _below(method)):
        return False
    return any(
        _is_over(one, name) or (is_said and _is_item_of(one, name)) for one in _below(method)
    )


def _type_of(parameter: cst.Param) -> str:
    """Return the type that a parameter is said to have; empty where it has none."""
    annotation = parameter.annotation
    return "" if annotation is None else code_of(annotation.annotation).strip("\"'")


@lru_cache(maxsize=_KEPT)
def _below(method: Method) -> tuple[cst.CSTNode, ...]:
    return tuple(descendants(method.node.body))


@lru_cache(maxsize=_KEPT)
def _uses(method: Method, *, anywhere: bool) -> frozenset[cst.CSTNode]:
    """Return where names stand as lists may.

    Args:
        method: The method.
        anywhere: Whether any function may be called with them.
    """
    return frozenset(_like_lists(method, anywhere=anywhere))


_WITH_LISTS: Final = (
    *(cst.Attribute, cst.Arg, cst.Subscript, cst.Call, cst.For, cst.CompFor, cst.AssignTarget),
)


def _like_lists(method: Method, *, anywhere: bool) -> Iterator[cst.CSTNode]:
    for node in of_kinds(_below(method), *_WITH_LISTS):
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


@dataclass(frozen=True, eq=False)
class Functions:
    """Goes through functions.

    Attributes:
        lifted_methods: Goes through methods under transforms.
        merging: Joins values.
        evaluate: Goes through an expression.
        run: Goes through statements; says whether they end.
    """

    lifted_methods: LiftedMethods
    merging: Merging
    evaluate: Evaluate
    run: Callable[[cst.BaseSuite, Frame], bool]

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
        """Go through a method as a caller from outside would call it."""
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
        if isinstance(params.star_arg, cst.Param):
            name = params.star_arg.name.value
            inner.names[name] = Remaining(name)
        if params.star_kwarg is not None:
            inner.names[params.star_kwarg.name.value] = UNKNOWN
        return self.lifted_methods.run(method, inner, lambda: self._run(method.node, inner))

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
        is_repeated = bool(recorder.loops or recorder.call_loops)
        self._name_self(method, inner)
        self._bind(method.node.params, passed, inner, skip=1 if method.is_bound else 0)
        inner.log(Enter(method.node, caller, call, is_repeated, dict(inner.names)))
        self.lifted_methods.check(method, passed, node, recorder)
        return self.lifted_methods.run(method, inner, lambda: self._run(method.node, inner))

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
        recorder = frame.recorder
        given = [(name, plain_key(value)) for name, value in inner.names.items()]
        called = plain_key(function)
        if called is None or any(key is None for _, key in given):
            return self._call_function(function.node, inner)
        before = recorder.traces

        def is_pure(result: Value, log: Log) -> bool:
            is_silent = log.kinds <= {Pass} and recorder.traces == before
            return is_silent and plain_key(result) is not None

        key = called, *given, inner.root, *recorder.loops, len(recorder.equal_sizes)
        return recorder.once(key, lambda: self._call_function(function.node, inner), is_pure)

    def _call_function(self, function: cst.FunctionDef | cst.Lambda, frame: Frame) -> Value:
        if isinstance(function, cst.FunctionDef):
            return self._run(function, frame)
        return self._shallow(function, lambda: self.evaluate(function.body, frame), frame)

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
                frame.names[name] = self.evaluate(parameter.default, outside)
            else:
                frame.names[name] = UNKNOWN
        named = {one.name.value for one in (*params.params, *params.kwonly_params)}
        rest: dict[object, Value] = {
            name: one.value for name, one in bound.by_name.items() if name not in named
        }
        if isinstance(params.star_arg, cst.Param):
            frame.names[params.star_arg.name.value] = bound.remaining
        if params.star_kwarg is not None:
            name = params.star_kwarg.name.value
            frame.names[name] = UNKNOWN if bound.is_open else Table(rest)

    def _run(self, node: cst.FunctionDef, frame: Frame) -> Value:
        if node.asynchronous is not None:
            return UNKNOWN
        return self._shallow(node, lambda: self._body(node, frame), frame)

    def _body(self, node: cst.FunctionDef, frame: Frame) -> Value:
        ends = self.run(node.body, frame)
        results = frame.results if ends else [*frame.results, NONE]
        if frame.results and not ends and len(frame.results) == 1:
            results = frame.results  # all but what raises or falls through
        if not results:
            return UNKNOWN  # it only raises
        value = results[0]
        for other in results[1:]:
            value = self.merging.joined(value, other, frame)
        return value

    def _shallow(
        self, function: cst.FunctionDef | cst.Lambda, run: Callable[[], Value], frame: Frame
    ) -> Value:
        recorder = frame.recorder
        # Literals, shapes and objects end a recursion; what is not known of the rest does not.
        names = {name: _literals(value) for name, value in frame.names.items()}
        call = function, frame.outer, names
        if call in recorder.running:
            within = recorder.running[recorder.running.index(call) :]
            frame.log(Recursion(tuple(one for one, _, _ in within)))
        if len(recorder.running) >= _DEEPEST or call in recorder.running:
            recorder.cuts += 1
            return Unknown("functions call each other too deeply")
        recorder.running.append(call)
        anchor = recorder.anchors.get(id(recorder.block))
        is_pending = anchor is not None and anchor[1] < len(recorder.block)
        recorder.pending += is_pending
        try:
            with deeper():
                return run()
        finally:
            recorder.running.pop()
            recorder.pending -= is_pending
            if anchor is not None:
                recorder.anchors[id(recorder.block)] = anchor


def _literals(value: Value) -> object:
    """Return a value without what only the constructor, or the call, knows of it."""
    match value:
        case Code() | Size() | Unknown():
            return None
        case Seq(items=items):
            return [_literals(one) for one in items]
        case Table(items=table, cls=None):
            return {key: _literals(one) for key, one in table.items()}
    return value


def argument_value(parameter: cst.Param, method: Method, frame: Frame) -> Value:
    """Return what a parameter of a method stands for when a caller from outside gives it."""
    name = parameter.name.value
    if is_flag(parameter):
        return UNKNOWN
    if is_list(parameter, method):
        return UNKNOWN if is_optional(parameter, method) else given_list(name, frame)
    return Array(
        Shape((), Lead(name, None)),
        origin=name,
        is_optional=is_optional(parameter, method),
        is_said=_ARRAY.fullmatch(_type_of(parameter)) is not None,
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
    text = _type_of(parameter)
    return "Optional" in text or "None" in text


def is_flag(parameter: cst.Param) -> bool:
    """Whether a parameter is a setting, not an array."""
    match parameter.default:
        case cst.Name(value="True" | "False") | cst.SimpleString() | cst.Integer() | cst.Float():
            return True
    if parameter.annotation is None:
        return parameter.name.value in ("train", "training", "deterministic", "is_training")
    text = _type_of(parameter)
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


_MAPPING: Final = "jax.vmap"
_SAME: Final = frozenset(
    {
        *("jax.jit", "jax.checkpoint", "jax.remat", "jax.ad_checkpoint.checkpoint"),
        *("jax.named_call", "jax.pjit", "jax.experimental.pjit.pjit"),
        *("functools.cache", "functools.lru_cache"),
    }
)
_FIRST: Final = Const(0)
_ALL: Final = Slice(NONE, NONE, NONE)
# What stands for a submodule, or for a method of the object itself.
_OBJECTS: Final = (ModuleValue, FieldModule, BoundMethod)


@dataclass(frozen=True, eq=False)
class Mapped(Value):
    """A function under `jax.vmap`.

    Attributes:
        function: The function.
        in_axes: The axes of its arguments that are mapped.
        out_axes: Where the axis is in what it returns.
    """

    function: Value
    in_axes: Value = _FIRST
    out_axes: Value = _FIRST


@dataclass(frozen=True, eq=False)
class MappedFunctions:
    """Goes through functions under transforms of jax."""

    evaluate: Evaluate
    dispatch: Dispatch

    def decorated(self, name: str, frame: Frame) -> Value | None:
        """Return a function of a file whose decorators are transforms; None where it is none."""
        found = [
            one
            for one in frame.analysis.tree.body
            if isinstance(one, cst.FunctionDef) and one.name.value == name
        ]
        if len(found) != 1 or not found[0].decorators:
            return None
        outside = Frame(frame.recorder, frame.analysis, records=False)
        value: Value | None = FunctionRef(found[0], outside, name, frame.binders)
        for one in reversed(found[0].decorators):
            decorator = self.evaluate(one.decorator, outside)
            value = None if value is None else self._under(decorator, value)
        return value

    def _under(self, decorator: Value, function: Value) -> Value | None:
        match decorator:
            case Ref(name=name, code=""):
                return under_transform(name, function, [], {})
            case Partial(function=Ref(name=name, code=""), args=args, keywords=keywords):
                named = {key: one.value for key, one in keywords.items()}
                return under_transform(name, function, [one.value for one in args], named)
        return None

    def call(self, callee: Mapped, passed: Sequence[Passed], node: cst.Call, frame: Frame) -> Value:
        """Return what a call of a mapped function returns."""
        if any(one.star for one in passed):
            return UNKNOWN
        values = [one.value for one in passed if not one.keyword]
        axes = _axes(callee.in_axes, len(values))
        if axes is None:
            return UNKNOWN
        size: Dim | None = None
        inner: list[Passed] = []
        for one in passed:
            axis = _FIRST if one.keyword else axes.pop(0)
            size = size or size_along(one.value, axis)
            inner.append(replace(one, value=_row(one.value, axis), code=None, place=None))
        if isinstance(callee.function, _OBJECTS):
            # The call is one of the transform: it stays as it is.
            frame = replace(frame, records=False)
        result = self.dispatch(callee.function, inner, node, frame)
        return outside(result, callee.out_axes, size)


def is_transform_of_jax(name: str) -> bool:
    """Whether a function gives back the one that it is given, or maps it."""
    return name in _SAME or name == _MAPPING


def under_transform(
    name: str, function: Value, args: Sequence[Value], keywords: dict[str, Value]
) -> Value | None:
    """Return a function under a transform of jax; None where it is another one."""
    is_object = isinstance(function, _OBJECTS)
    if not is_object and not isinstance(function, FunctionRef | Mapped | Partial | Ref | Choice):
        return None
    if name in _SAME and not is_object:
        return function
    if name != _MAPPING:
        return None
    given = dict(zip(("in_axes", "out_axes"), args, strict=False)) | keywords
    return Mapped(function, given.get("in_axes", _FIRST), given.get("out_axes", _FIRST))


def _axes(value: Value, count: int) -> list[Value] | None:
    """Return the mapped axis of each argument; None where that is not known."""
    match value:
        case Const():
            return [value for _ in range(count)]
        case Seq(items=items) if len(items) >= count:
            return list(items[:count])
    return None


def _row(value: Value, axis: Value) -> Value:
    """Return an argument as a mapped function gets it: an array, not a tuple of arrays."""
    match value:
        case Array():
            found = inside(replace(value, origin=""), axis)
            lead = found.shape.lead if isinstance(found, Array) and axis != NONE else None
            if not isinstance(found, Array) or lead is None or not found.shape.collapsed().dims:
                return found
            # What is left in front of the known sizes may be nothing.
            return replace(found, shape=replace(found.shape, lead=replace(lead, sure=0)))
        case Seq(items=items):
            return replace(value, items=tuple(_row(one, axis) for one in items))
    return inside(value, axis)


_CALLABLE = (FunctionRef, Mapped, Partial, Ref, BoundMethod)
# The parameters of each of them, as jax names them.
_PARAMETERS: Final = {
    "jax.lax.map": ("f", "xs"),
    "jax.lax.scan": ("f", "init", "xs", "length"),
    "jax.lax.associative_scan": ("fn", "elems"),
    "jax.lax.fori_loop": ("lower", "upper", "body_fun", "init_val"),
    "jax.lax.while_loop": ("cond_fun", "body_fun", "init_val"),
    "jax.lax.cond": ("pred", "true_fun", "false_fun"),
    "jax.lax.switch": ("index", "branches"),
}


@dataclass(frozen=True, eq=False)
class LoopedFunctions:
    """Goes through functions that loops and branches of jax call."""

    dispatch: Dispatch

    def call(
        self, name: str, passed: Sequence[Passed], node: cst.Call, frame: Frame
    ) -> Value | None:
        """Return what a loop or a branch of jax returns; None where the call is another one."""
        if any(one.star for one in passed):
            return None
        if name == "builtins.map":
            function, *each = (one.value for one in passed) if passed else (UNKNOWN,)
            return self._mapped(function, each, node, frame)
        if name == "functools.reduce":
            return self._reduced([one.value for one in passed], node, frame)
        parameters = _PARAMETERS.get(name)
        if parameters is None:
            return None
        values = [one.value for one in passed if not one.keyword]
        given = dict(zip(parameters, values, strict=False))
        given.update((one.keyword, one.value) for one in passed if one.keyword)
        match name.rpartition(".")[2]:
            case "map":
                return self._map(given, node, frame)
            case "scan":
                return self._scan(given, node, frame)
            case "associative_scan":
                return traced(given.get("elems", UNKNOWN))
            case "fori_loop":
                return self._repeated(given, [Array(Shape(()))], node, frame)
            case "while_loop":
                return self._repeated(given, [], node, frame)
            case "cond":
                sides = [given.get("true_fun", UNKNOWN), given.get("false_fun", UNKNOWN)]
                return self._branch(sides, values[3:], node, frame)
            case "switch":
                match given.get("branches"):
                    case Seq(items=items):
                        return self._branch(items, values[2:], node, frame)
        return None

    def _repeated(
        self, given: dict[str, Value], first: list[Value], node: cst.Call, frame: Frame
    ) -> Value:
        """Return what a loop returns whose body is called with what it returned before."""
        body, state = given.get("body_fun"), traced(given.get("init_val", UNKNOWN))
        if not isinstance(body, _CALLABLE):
            return state
        return _same(state, self._result(body, [*first, state], node, frame))

    def _branch(
        self, functions: Sequence[Value], args: list[Value], node: cst.Call, frame: Frame
    ) -> Value | None:
        """Return what one of some functions returns, which return all the same shapes."""
        if not functions or not all(isinstance(one, _CALLABLE) for one in functions):
            return None
        given = [traced(one) for one in args]
        return reduce(_same, (self._result(one, given, node, frame) for one in functions))

    def _result(self, function: Value, args: list[Value], node: cst.Call, frame: Frame) -> Value:
        given = [Passed(one, None, node) for one in args]
        return traced(self.dispatch(function, given, node, frame))

    def _mapped(
        self, function: Value, each: Sequence[Value], node: cst.Call, frame: Frame
    ) -> Value | None:
        """Return what the function of Python makes of each item; None where it is not known."""

        def of(items: Iterable[Value]) -> Value:
            return self.dispatch(function, [Passed(one, None, node) for one in items], node, frame)

        match each:
            case [Seq(), *_] if isinstance(function, _CALLABLE):
                items = [one.items for one in each if isinstance(one, Seq)]
                first = [one[0] for one in items if one]
                if frame.verbatim and first and self._builds(function, first, node, frame):
                    frame.mark(node, "a function that `map` calls builds submodules")
                if len(items) == len(each):
                    return Seq(tuple(of(one) for one in zip(*items, strict=False)))
            case [Repeated(element=Array() as element)] if isinstance(function, _CALLABLE):
                if not self._builds(function, [element], node, frame):
                    return Repeated(of([element]))
        return None

    def _builds(self, function: Value, args: Sequence[Value], node: cst.Call, frame: Frame) -> bool:
        """Whether a function builds submodules: nothing says how many where a list has any length."""
        given = [Passed(one, None, node) for one in args]
        with frame.recorder.trial():
            before = len(frame.recorder.log.of(Build))
            self.dispatch(function, given, node, frame)
            return len(frame.recorder.log.of(Build)) > before

    def _reduced(self, given: Sequence[Value], node: cst.Call, frame: Frame) -> Value | None:
        """Return what a function makes of the arrays of a list, two at a time."""
        function = given[0] if given else UNKNOWN
        if not isinstance(function, _CALLABLE):
            return None

        def joined(one: Value, other: Value) -> Value:
            return self._result(function, [one, other], node, frame)

        match given[1:]:
            case [Seq(items=items), *first]:
                arrays = [*first, *items]
                return reduce(joined, arrays) if arrays and are_arrays(arrays) else None
            case [Repeated(parts=None) as some, *first]:
                item = any_item(some.element, some)
                arrays = [*first, *some.head] or [item]
                ends = [*arrays, item, *some.tail]
                if not are_arrays(ends) or self._builds(function, [item, item], node, frame):
                    return None
                found = reduce(joined, arrays)
                # However many there are: one more of those alike changes nothing.
                is_same = _last_sizes(joined(found, item)) == _last_sizes(found)
                return reduce(joined, some.tail, found) if is_same else None
        return None

    def _map(self, given: dict[str, Value], node: cst.Call, frame: Frame) -> Value | None:
        function, items = given.get("f"), traced(given.get("xs", UNKNOWN))
        if not isinstance(function, _CALLABLE):
            return None
        result = self._result(function, [_row(items, _FIRST)], node, frame)
        return outside(result, _FIRST, size_along(items, _FIRST))

    def _scan(self, given: dict[str, Value], node: cst.Call, frame: Frame) -> Value | None:
        function, items = given.get("f"), given.get("xs", NONE)
        if not isinstance(function, _CALLABLE):
            return None
        first = traced(given.get("init", UNKNOWN))
        size = dim_of(given.get("length", NONE))
        if items != NONE:
            items = traced(items)
            size = size_along(items, _FIRST)
            items = _row(items, _FIRST)
        match self._result(function, [first, items], node, frame):
            case Seq(items=(carry, each)):
                return Seq((_same(first, carry), outside(each, _FIRST, size)))
        return Seq((first, UNKNOWN))


def _last_sizes(value: Value) -> Shape | None:
    """Return the shape of an array, its last size by itself; None for other values."""
    return value.shape.expanded(1) if isinstance(value, Array) else None


def traced(value: Value) -> Value:
    """Return what a value is inside of a loop: all numbers are arrays, of the same shape."""
    match value:
        case Array():
            return replace(value, origin="", is_optional=False, made="", of_shapes=False)
        case Const(value=bool() | int() | float()) | Size():
            return Array(Shape(()))
        case Seq(items=items):
            return replace(value, items=tuple(traced(one) for one in items))
        case Table(items=table, cls=None):
            return Table({key: traced(one) for key, one in table.items()})
    return value if value == NONE else UNKNOWN


def _same(one: Value, other: Value) -> Value:
    """Return what is known of two values whose shapes are equal, since jax refuses all else."""
    match one, other:
        case Array(shape=first), Array(shape=second):
            dtype = one.dtype if one.dtype == other.dtype else ""
            return Array(_same_shape(first, second), dtype)
        case Seq(items=first), Seq(items=second) if len(first) == len(second):
            pairs = zip(first, second, strict=True)
            return replace(one, items=tuple(_same(a, b) for a, b in pairs))
    return one if is_known(one) else other


def _same_shape(one: Shape, other: Shape) -> Shape:
    """Return a shape with all sizes that either of two equal shapes knows."""
    if one.lead is not None and (other.lead is None or not one.lead.argument):
        one, other = other, one
    known = list(one.dims)
    for place in range(1, min(len(one.dims), len(other.dims)) + 1):
        known[-place] = known[-place] if known[-place] is not None else other.dims[-place]
    if one.lead is not None and len(other.dims) > len(one.dims) and not one.lead.argument:
        known = [*other.dims[: -len(known) or None], *known]
    return Shape(tuple(known), one.lead)


_REFUSED: Final = frozenset(
    {
        *("cond", "switch", "while_loop", "grad", "value_and_grad", "vjp", "jvp", "custom_vjp"),
        *("map_variables", "fold_rngs", "add_metadata_axis", "xmap"),
        *("jit_with_static", "scan_with_axes", "remat_with_axes", "vmap_with_axes"),
    }
)


def is_refused(name: str) -> bool:
    """Whether a function of Linen has modules in its arguments that nothing here looks into."""
    return name.rpartition(".")[2] in _REFUSED


# Functions that make a number of numbers.
_ON_NUMBERS: Final = frozenset(
    f"numpy.{name}"
    for name in (
        *("abs", "ceil", "clip", "exp", "floor", "log", "log10", "log2", "maximum", "minimum"),
        *("power", "rint", "round", "sqrt", "square"),
    )
)


# Functions that make a number of the items of a list.
_REDUCING: Final = frozenset(f"numpy.{name}" for name in ("max", "min", "prod", "sum"))


def is_number_or_text(literal: object) -> bool:
    """Whether a literal is a number or a text: no truth value, not None."""
    return isinstance(literal, int | float | str) and not isinstance(literal, bool)


def spelled(writer: ConstructorCode, value: Value, node: cst.BaseExpression, frame: Frame) -> Value:
    """Return a literal that an expression computes, so that the constructor has the expression.

    What numpy computes is no number of Python: it has a dtype.
    """
    if not isinstance(value, Const) or not is_number_or_text(value.value):
        return value
    found = writer.expression(node, frame)
    return value if found is None else Const(value.value, found.code, found.binders)


def computed_number(
    writer: ConstructorCode, name: str, given: Iterable[Value], node: cst.Call, frame: Frame
) -> Value | None:
    """Return what a function of numpy makes of numbers, as code; None for anything else."""
    values = list(given)
    if name in _ON_NUMBERS and any(isinstance(one, Code | Size) for one in values):
        if all(isinstance(one, Const | Size | Code) for one in values):
            return writer.expression(node, frame)
    elif name in _REDUCING and all(isinstance(one, Code | OfShapes) for one in values):
        found = writer.or_code(UNKNOWN, node, frame)
        return None if found == UNKNOWN else found
    return None
