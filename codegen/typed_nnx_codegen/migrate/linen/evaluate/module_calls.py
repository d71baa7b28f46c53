"""Calls of submodules: what they return, and how their arguments are written in NNX."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import Transformer
from typed_nnx_codegen.migrate.linen.domain.class_plan import (
    CALLER,
    COUNTERPART,
    Build,
    Call,
    CallElsewhere,
    Need,
    Site,
    given_of,
)
from typed_nnx_codegen.migrate.linen.domain.classes import LinenClass, Method
from typed_nnx_codegen.migrate.linen.domain.dims import ArgumentSize, Dim, Piece, as_dim
from typed_nnx_codegen.migrate.linen.domain.expr import Constructed
from typed_nnx_codegen.migrate.linen.domain.frames import (
    CallEdit,
    CallMethod,
    Dispatch,
    Frame,
    Line,
    Recorder,
    plain_key,
)
from typed_nnx_codegen.migrate.linen.domain.references import (
    Choice,
    ClassRef,
    FieldModule,
    ModuleValue,
    OneOf,
    Ref,
    Repeated,
    SelfValue,
    SizedList,
)
from typed_nnx_codegen.migrate.linen.domain.values import (
    ANY_SHAPE,
    UNKNOWN,
    Array,
    Const,
    Passed,
    Seq,
    Shape,
    Table,
    Unknown,
    Value,
    made_by,
    with_binders,
)
from typed_nnx_codegen.migrate.linen.evaluate.functions import Functions
from typed_nnx_codegen.migrate.linen.evaluate.lifted_calls import LiftedCalls
from typed_nnx_codegen.migrate.linen.evaluate.loops import at_last
from typed_nnx_codegen.migrate.linen.evaluate.merging import Ended, Merging, of_last
from typed_nnx_codegen.migrate.linen.evaluate.recurrence import SEQUENTIAL, CallsInTurn, Recurrence
from typed_nnx_codegen.migrate.linen.evaluate.submodules import API, Submodules
from typed_nnx_codegen.migrate.linen.layers import Given, Helper, Inputs, Layer, Refused, find_layer
from typed_nnx_codegen.migrate.linen.project.fields import FieldFacts
from typed_nnx_codegen.migrate.linen.shapes.operands import BoundArguments, bind, bind_names
from typed_nnx_codegen.migrate.linen.write.constructor_code import ConstructorCode


def output_key(
    cls: LinenClass,
    instance: SelfValue,
    method: str,
    values: Mapping[str, Value],
    recorder: Recorder,
) -> Hashable | None:
    """Return what the output of a call depends on; None where that is more than plain values."""
    fields = tuple((name, plain_key(value)) for name, value in instance.fields.items())
    given = tuple((name, plain_key(value)) for name, value in values.items())
    if any(key is None for _, key in (*fields, *given)):
        return None
    return cls, fields, method, given, recorder.rngs


_PARAMS: Final = "params"

WITH_PARAMETERS: Final = Helper("with_parameters")


def functional_call(
    receiver: Value, passed: list[Passed], node: cst.Call, frame: Frame
) -> Value | None:
    """Return what such a call, or `init`, returns; None where it is no plain call of a layer."""
    match receiver:
        case ModuleValue(site=Site(target=str() as target) as site):
            layer = find_layer(target)
        case _:
            return None
    if _name_of(node) == "init" and layer is not None:
        frame.mark(node, "`init` of a layer here is not migrated", COUNTERPART)
        return None
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
    frame.log(Need(WITH_PARAMETERS))
    frame.replace(node, _WithParameters())
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
        if one.linen == f"{_PARAMS}/{one.nnx}" and not one.change
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


# Layers that call other modules one after the other, and the field that holds those.
_WRAPPERS: Final = {
    SEQUENTIAL: "layers",
    "flax.linen.SpectralNorm": "layer_instance",
    "flax.linen.WeightNorm": "layer_instance",
}


_CONVOLUTIONS: Final = ("Conv", "ConvTranspose")


@dataclass(frozen=True, eq=False)
class ModuleCalls:
    """Calls submodules.

    Attributes:
        facts: What is known of fields.
        merging: Joins values.
        submodules: Constructs submodules.
        functions: Goes through methods and functions.
        lifted_calls: Goes through calls of submodules under transforms.
        recurrence: Goes through layers that run others over time.
        in_turn: Calls the modules of a list one after the other.
        ended: What the last iterations of loops leave.
        wraps_layers: Whether layers that NNX does not have are held in a bridge.
        dispatch: Goes through a call of something.
        refer: Gives the code for a public name.
    """

    facts: FieldFacts
    merging: Merging
    submodules: Submodules
    functions: Functions
    lifted_calls: LiftedCalls
    recurrence: Recurrence
    in_turn: CallsInTurn
    ended: Mapping[int, Ended]
    wraps_layers: bool
    dispatch: Dispatch
    refer: Callable[[str], str]

    def call(
        self,
        receiver: Value,
        method: str,
        passed: list[Passed],
        node: cst.Call,
        frame: Frame,
    ) -> Value:
        """Return what a call of a method of a submodule returns."""
        if method in ("apply", "init"):
            functional = functional_call(receiver, passed, node, frame)
            if functional is not None:
                return functional
        match receiver:
            case ModuleValue(site=site, is_last=True):
                given = [replace(one, value=at_last(one.value, site.loops)) for one in passed]
                value = self.call(ModuleValue(site), method, given, node, frame)
                number = site.loops[-1]
                is_whole = number not in frame.recorder.filtered
                return of_last(value, self.ended.get(number) if is_whole else None, number)
            case ModuleValue(site=site):
                value = self._of_site(site, method, passed, node, frame)
                return with_binders(value, frame.recorder.step_of(site))
            case FieldModule():
                return self._of_field(receiver, method, passed, node, frame)
            case Choice(options=options):
                results = [
                    self.call(option, method, passed, node, frame)
                    for option in possible(options, frame.recorder)
                    if isinstance(option, (ModuleValue, FieldModule))
                ]
                # What a field holds may not be known: it stands in for what is.
                known = [one for one in results if not isinstance(one, Unknown)]
                results = known or results
                value = results[0] if results else UNKNOWN
                for other in results[1:]:
                    value = self.merging.joined(value, other, frame)
                return value
        return UNKNOWN

    def _of_site(
        self, site: Site, method: str, passed: list[Passed], node: cst.Call, frame: Frame
    ) -> Value:
        if site.transforms:
            return self.lifted_calls.call(
                site,
                method,
                passed,
                node,
                frame,
                lambda inner: self._plain(site, method, inner, node, frame),
            )
        if site.alternatives:
            return self._of_alternatives(site, method, passed, node, frame)
        value = self._plain(site, method, passed, node, frame)
        is_of_project = isinstance(site.target, LinenClass) and method == "__call__"
        # The submodules of a submodule are not within reach.
        if not frame.records or not (is_of_project or site.code.startswith("self.")):
            return value
        return of_alternatives(self.facts, site, [value], value, frame)

    def _plain(
        self, site: Site, method: str, passed: list[Passed], node: cst.Call, frame: Frame
    ) -> Value:
        if isinstance(site.target, LinenClass):
            return self._of_class(site, site.target, method, passed, node, frame)
        layer = find_layer(site.target)
        if layer is None:
            return UNKNOWN
        return self._of_layer(site, layer, method, passed, node, frame)

    def _of_alternatives(
        self, site: Site, method: str, passed: list[Passed], node: cst.Call, frame: Frame
    ) -> Value:
        """Call an object of one of several classes."""
        results = [self._plain(site, method, passed, node, frame)]
        inner = Frame(
            frame.recorder, frame.analysis, records=False, root=frame.root, names=frame.names
        )
        results += [self._plain(one, method, passed, node, inner) for one in site.alternatives]
        value = results[0]
        for other in results[1:]:
            value = self.merging.joined(value, other, frame)
        return of_alternatives(self.facts, site, results, value, frame)

    # -- layers -------------------------------------------------------------------------------

    def _of_layer(
        self,
        site: Site,
        layer: Layer,
        method: str,
        passed: list[Passed],
        node: cst.Call,
        frame: Frame,
    ) -> Value:
        if method == "__call__" and site.target in _WRAPPERS:
            return self._wrapped(site, passed, node, frame)
        if self.wraps_layers and isinstance(layer.build(given_of(site), None), Refused):
            return self._in_bridge(site, method, passed, node, frame)
        names = [one.linen for one in layer.calls.get(method, ())]
        bound = bind_names(names, passed)
        values = _ranked(site, {name: one.value for name, one in bound.by_name.items()})
        frame.note_call(site, method, values)
        if frame.records and bound.extra:
            frame.recorder.mark(node, f"`{layer.name}` is called with arguments that are not known")
        elif frame.records:
            self._edit(site, layer, method, bound.by_name, node, frame)
        if method == "__call__" and self.recurrence.runs(site):
            return self.recurrence.output(site, layer, given_of(site), values, frame)
        return layer.output(given_of(site), Inputs(values), method)

    def _in_bridge(
        self, site: Site, method: str, passed: list[Passed], node: cst.Call, frame: Frame
    ) -> Value:
        """Call a layer that stays in Linen: its arguments stay, too."""
        values = {one.keyword or f"*{place}": one.value for place, one in enumerate(passed)}
        frame.note_call(site, method, values)
        frame.log(CallEdit(node, site, None))
        return UNKNOWN

    def _wrapped(self, site: Site, passed: list[Passed], node: cst.Call, frame: Frame) -> Value:
        """Go through the modules and functions that a layer is made of."""
        if not (site.is_made_in_call and frame.records):
            return self._in_wrapper(site, passed, node, frame)
        log = frame.recorder.log
        before = log.of(CallElsewhere)
        value = self._in_wrapper(site, passed, node, frame)
        calls = [one for one in log.of(CallElsewhere) if one not in before]
        log.drop(*calls)
        for one in calls:
            log.append(replace(one, is_in_turn=True))
        return value

    def _in_wrapper(self, site: Site, passed: list[Passed], node: cst.Call, frame: Frame) -> Value:
        name = _WRAPPERS[str(site.target)]
        given = site.given.get(name)
        parts: tuple[Value, ...] = ()
        if given is not None:
            value = given.value
            parts = value.items if isinstance(value, Seq) else (value,)
        if not parts or not passed:
            return UNKNOWN
        # Its arguments are written as those of the layer around it.
        inner = Frame(
            frame.recorder, frame.analysis, records=False, root=frame.root, names=frame.names
        )
        if len(parts) == 1 and isinstance(parts[0], Repeated):
            return self.in_turn.call(parts[0], passed[0], node, frame)
        current = passed
        value = passed[0].value
        for part in parts:
            # One in it is no more than what it is made of.
            is_inner = isinstance(part, ModuleValue) and part.site.target in _WRAPPERS
            is_here = is_inner or made_by(part) is not None
            value = self.dispatch(part, current, node, frame if is_here else inner)
            current = [Passed(value, None, node)]
        return value

    def _edit(
        self,
        site: Site,
        layer: Layer,
        method: str,
        bound: dict[str, Passed],
        node: cst.Call,
        frame: Frame,
    ) -> None:
        arguments = {
            name: Given(f"__arg{position}__", one.value, bool(one.keyword))
            for position, (name, one) in enumerate(bound.items())
        }
        written = layer.call(given_of(site), arguments, method)
        if isinstance(written, Refused):
            frame.recorder.mark(node, f"{written.why} {written.fix}", COUNTERPART)
            return
        nodes = [one.node for one in bound.values()]
        found: list[tuple[str, cst.BaseExpression]] = []
        for argument in written:
            written_code = cst.parse_expression(str(argument.code))
            found.append((argument.keyword, _ArgumentsIn(nodes).applied(written_code)))
        before = [(one.keyword, one.node) for one in bound.values()]
        is_same = [keyword for keyword, _ in found] == [keyword for keyword, _ in before] and all(
            one is other for (_, one), (_, other) in zip(found, before, strict=True)
        )
        edit = CallEdit(node, site, None if is_same else tuple(found), called=method, frame=frame)
        frame.log(edit)

    # -- modules of the project ---------------------------------------------------------------

    def _of_class(
        self,
        site: Site,
        cls: LinenClass,
        method: str,
        passed: list[Passed],
        node: cst.Call,
        frame: Frame,
    ) -> Value:
        if method in API:
            frame.recorder.mark(
                node, f"`.{method}` of a submodule within a module is not migrated", CALLER
            )
            return UNKNOWN
        found = cls.method(method)
        if found is None:
            return UNKNOWN
        bound = bind(found.node.params, passed, 1 if found.is_bound else 0)
        # A list of arrays may change behind the call.
        values = {
            name: Repeated(value.element) if isinstance(value, SizedList) else value
            for name, value in _values_of(bound, found).items()
        }
        frame.note_call(site, method, values)
        frame.log(CallEdit(node, site, None, called=method, frame=frame))
        instance = self.submodules.instance(site, frame)
        inner = Frame(frame.recorder, frame.analysis, records=False, root=frame.root)
        is_plain = not bound.extra and not bound.is_open
        key = output_key(cls, instance, method, values, frame.recorder) if is_plain else None

        def run() -> Value:
            return self.functions.call_method(instance, found, passed, node, inner)

        return run() if key is None else frame.recorder.once(key, run)

    # -- modules in fields --------------------------------------------------------------------

    def _of_field(
        self,
        receiver: FieldModule,
        method: str,
        passed: Sequence[Passed],
        node: cst.Call,
        frame: Frame,
    ) -> Value:
        if method in API:
            message = f"`.{method}` of a module in a field is not migrated"
            frame.mark(node, message, CALLER)
            return UNKNOWN
        values = _by_name(receiver.default, method, passed)
        frame.log(Call(receiver.name, method, values))
        if receiver.site is not None:
            target = receiver.site.target
            kind = ClassRef(target, "") if isinstance(target, LinenClass) else Ref(target)
            frame.log(Call(receiver.site, method, _by_name(kind, method, passed), frame.root))
        del node
        return of_field(
            self.functions.call_method,
            self.facts,
            receiver,
            method,
            list(passed),
            frame,
        )


def _values_of(bound: BoundArguments, method: Method) -> dict[str, Value]:
    """Return the arguments of a call of a method by parameter, those behind the others as one."""
    values = {name: one.value for name, one in bound.by_name.items()}
    match method.node.params.star_arg:
        case cst.Param(name=cst.Name(value=name)):
            values[name] = bound.remaining
    return values


def _by_name(kind: Value, method: str, passed: Sequence[Passed]) -> dict[str, Value]:
    """Return the arguments of a call of a kind of module by parameter, by position if unknown."""
    if isinstance(kind, ClassRef) and (found := kind.cls.method(method)) is not None:
        return _values_of(bind(found.node.params, passed, 1 if found.is_bound else 0), found)
    if isinstance(kind, Ref) and (layer := find_layer(kind.name)) is not None:
        bound = bind_names([one.linen for one in layer.calls.get(method, ())], passed)
        return {name: one.value for name, one in bound.by_name.items()}
    return {one.keyword or str(k): one.value for k, one in enumerate(passed)}


def possible(options: Sequence[Value], recorder: Recorder) -> Sequence[Value]:
    """Return those of a few submodules that there are on this side of the branches around."""
    codes = recorder.branch_codes
    around = {codes[one.number]: one.side for one in recorder.conditions if one.number in codes}

    def is_there(option: Value) -> bool:
        conditions = option.site.conditions if isinstance(option, ModuleValue) else ()
        known = [(codes.get(one.number, ""), one.side) for one in conditions]
        return all(around.get(code, side) is side for code, side in known)

    return [option for option in options if is_there(option)] or options


class _ArgumentsIn(Transformer):
    """Puts the arguments of a call where `__arg0__` stands for them."""

    def __init__(self, nodes: Sequence[cst.BaseExpression]) -> None:
        super().__init__()
        self._nodes = nodes

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        """Write an argument."""
        found = re.fullmatch(r"__arg(\d+)__", original_node.value)
        return updated_node if found is None else self._nodes[int(found[1])]


def _ranked(site: Site, values: dict[str, Value]) -> dict[str, Value]:
    """Return the arguments of a layer; a convolution says the rank of its input."""
    array, kernel = values.get("inputs"), site.given.get("kernel_size")
    if (
        str(site.target).rpartition(".")[2] not in _CONVOLUTIONS
        or kernel is None
        or not isinstance(array, Array)
        or array.shape.rank is not None
    ):
        return values
    match kernel.value:
        case Seq(items=items):
            count = len(items)
        case Const(value=int()):
            count = 1
        case _:
            return values
    shape = array.shape.with_rank(count + 2)
    return values if shape is None else {**values, "inputs": replace(array, shape=shape)}


ATTRIBUTE: Final = "out_features"
# Where objects of NNX have the last size of what they return.
_OF_LAYERS: Final = {
    "nnx.Linear": ATTRIBUTE,
    "nnx.Conv": ATTRIBUTE,
    "nnx.ConvTranspose": ATTRIBUTE,
    "nnx.Embed": "features",
}


def of_field(
    call_method: CallMethod,
    facts: FieldFacts,
    receiver: FieldModule,
    method: str,
    passed: list[Passed],
    frame: Frame,
) -> Value:
    """Return what a call of a module that a field holds returns."""
    match receiver.default:
        case OneOf(options=options):
            each = [replace(receiver, default=one) for one in options]
            return _common(
                [of_field(call_method, facts, one, method, passed, frame) for one in each]
            )
        case Ref(name=name):
            layer = find_layer(name)
            if layer is None or method not in layer.calls:
                return UNKNOWN
            try:
                values = _by_name(receiver.default, method, passed)
                found = layer.output({}, Inputs(values), method)
            except (KeyError, AttributeError, TypeError):
                return UNKNOWN
            attribute = _OF_LAYERS.get(layer.nnx, "")
            return with_last(found, f"self.{receiver.name}.{attribute}") if attribute else found
        case ClassRef(cls=cls):
            called = cls.method(method)
            if called is None:
                return UNKNOWN
            instance = SelfValue(cls, {one.name: UNKNOWN for one in cls.fields()})
            inner = Frame(frame.recorder, frame.analysis, records=False, root=frame.root)
            found = call_method(instance, called, passed, called.node.name, inner)
            is_known = isinstance(found, Array) and found.shape.axis(-1) is not None
            if method == "__call__" and not is_known and facts.has_output(cls):
                return with_last(found, f"self.{receiver.name}.{ATTRIBUTE}")
            return found
    return UNKNOWN


def _common(results: Sequence[Value]) -> Value:
    """Return what a call returns that may be of several modules: of arrays, the last size."""
    if all(one == results[0] for one in results):
        return results[0]
    lasts = [one.shape.axis(-1) for one in results if isinstance(one, Array)]
    if len(lasts) < len(results):
        return UNKNOWN
    is_same = all(one == lasts[0] for one in lasts)
    return Array(Shape((lasts[0],), ANY_SHAPE.lead)) if is_same and lasts[0] else Array()


def of_alternatives(
    facts: FieldFacts, site: Site, results: list[Value], joined: Value, frame: Frame
) -> Value:
    """Return what a call of an object of one of several classes returns."""
    targets = [site.target, *(one.target for one in site.alternatives)]
    if not isinstance(joined, Array) or not all(isinstance(one, Array) for one in results):
        return joined
    if not frame.recorder.log.about(Build, site):
        return joined  # another module constructs it: nothing here names it
    if not set(site.loops) <= set(frame.recorder.loops):
        return joined  # one of the items of a list: nothing says which
    if joined.shape.axis(-1) is not None or not joined.shape.expanded(1).dims:
        return joined
    for target in targets:
        if isinstance(target, LinenClass):
            if not facts.has_output(target):
                return joined
        else:
            layer = find_layer(target)
            if layer is None or _OF_LAYERS.get(layer.nnx) != ATTRIBUTE:
                return joined
    if not frame.records:
        return joined  # another module has it
    token = frame.recorder.slots.name(Constructed(site.node))
    return with_last(joined, f"{token}.{ATTRIBUTE}")


def with_last(value: Value, code: str) -> Value:
    """Return an array whose last size an expression says, where it is not known."""
    if not isinstance(value, Array):
        return value
    shape = value.shape.expanded(1)
    if not shape.dims:
        return value
    size: Dim = as_dim(Piece(code))
    return Array(Shape((*shape.dims[:-1], size), shape.lead), value.dtype)


def write_output(writer: ConstructorCode, recorder: Recorder, value: Value) -> bool:
    """Let a module know the last size of what it returns; return whether that is known."""
    size = _last_size(writer, recorder, value)
    if size is None:
        return False
    code = recorder.slots.name(size)
    recorder.block.append(Line(f"self.{ATTRIBUTE} = {code}"))
    return True


def is_sayable(writer: ConstructorCode, recorder: Recorder, value: Value) -> bool:
    """Whether the constructor of a module can say the last size of what it returns."""
    return _last_size(writer, recorder, value) is not None


def _last_size(writer: ConstructorCode, recorder: Recorder, value: Value) -> Dim | None:
    cls = recorder.plan.cls
    if ATTRIBUTE in {*(one.name for one in cls.fields()), *cls.methods()}:
        return None
    size = value.shape.axis(-1) if isinstance(value, Array) else None
    frame = Frame(recorder, cls.analysis, recorder.instance)
    if size is None or not writer.sizes_are_visible(size, frame):
        return None
    # Whoever calls it has the size of an argument, or does not know it either.
    return None if isinstance(size.atom, ArgumentSize) else size
