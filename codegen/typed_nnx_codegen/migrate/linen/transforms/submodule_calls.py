"""Calls of submodules whose class is under a transform, along the axis that it maps over."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import libcst as cst

from typed_nnx_codegen.migrate.linen.domain.class_plan import Bound, Build, ClassPlan, Site
from typed_nnx_codegen.migrate.linen.domain.classes import LinenClass
from typed_nnx_codegen.migrate.linen.domain.dims import ArgumentSize, Dim, as_dim
from typed_nnx_codegen.migrate.linen.domain.frames import CallEdit, Frame, LiftedCall, Recorder
from typed_nnx_codegen.migrate.linen.domain.markers import TRANSFORM
from typed_nnx_codegen.migrate.linen.domain.references import ModuleValue, Repeated
from typed_nnx_codegen.migrate.linen.domain.values import (
    ANY_SHAPE,
    UNKNOWN,
    Array,
    Const,
    Lead,
    Seq,
    Shape,
    Table,
    Value,
)
from typed_nnx_codegen.migrate.linen.shapes.operands import Passed, dim_of, with_front
from typed_nnx_codegen.migrate.linen.transforms.lifts import (
    Lift,
    Unsupported,
    axes_of,
    collections_of,
    draws,
    in_method,
    is_broadcast,
    size_setting,
    state_axes,
)
from typed_nnx_codegen.migrate.linen.transforms.stacked_submodules import lengths_of, lifts_of
from typed_nnx_codegen.migrate.linen.transforms.transformed_code import (
    FunctionCode,
    Mapped,
    ModuleFirst,
    Wrapping,
    is_simple,
    lambda_of,
)


def inside(value: Value, axes: Value) -> Value:
    """Return what one step or member gets of an argument.

    Args:
        value: The argument.
        axes: Its axes: one for all of it, or a tree of them.
    """
    if is_broadcast(axes):
        return value
    match value:
        case Seq(items=items):
            each = _each(axes, len(items))
            parts = (inside(one, axis) for one, axis in zip(items, each, strict=True))
            return Seq(tuple(parts), value.is_list)
        case Table(items=items):
            return Table({key: inside(one, _at(axes, key)) for key, one in items.items()})
        case Array(shape=shape, dtype=dtype):
            if isinstance(axes, Const) and isinstance(axes.value, int):
                smaller = _without(shape, axes.value)
                origin = value.origin
                if origin and (value.without or shape == Shape((), Lead(origin, None))):
                    # It may be a tuple or dict of arrays as well.
                    return Array(smaller, dtype, origin, without=(*value.without, axes.value))
                return Array(smaller, dtype)
            last = shape.axis(-1)
            return Array(Shape((last,), Lead("", None)), dtype)
        case Const():
            return value
    return UNKNOWN


def outside(value: Value, axes: Value, size: Dim | None) -> Value:
    """Return the results of all steps or members together.

    Args:
        value: The result of one.
        axes: The axes along which they are stacked.
        size: How many there are.
    """
    if is_broadcast(axes):
        return value
    match value:
        case Seq(items=items):
            each = _each(axes, len(items))
            parts = (outside(one, axis, size) for one, axis in zip(items, each, strict=True))
            return Seq(tuple(parts), value.is_list)
        case Table(items=items):
            return Table({key: outside(one, _at(axes, key), size) for key, one in items.items()})
        case Array(shape=shape, dtype=dtype):
            if isinstance(axes, Const) and isinstance(axes.value, int):
                return Array(_with(shape, axes.value, size), dtype)
            return Array(dtype=dtype)
        case Const(value=None):
            return value
    return UNKNOWN


def size_along(value: Value, axes: Value) -> Dim | None:
    """Return how many steps or members an argument has; None where it does not say."""
    if is_broadcast(axes):
        return None
    parts: list[Dim | None] = []
    match value:
        case Seq(items=items):
            each = _each(axes, len(items))
            parts = [size_along(one, axis) for one, axis in zip(items, each, strict=True)]
        case Table(items=items):
            parts = [size_along(one, _at(axes, key)) for key, one in items.items()]
        case Array(shape=shape) if isinstance(axes, Const) and isinstance(axes.value, int):
            parts = [shape.axis(axes.value)]
    return next((one for one in parts if one is not None), None)


def part_of(array: Array, path: str) -> Array:
    """Return an item of an argument that may be a tuple, a dict or an array.

    Args:
        array: The argument.
        path: The expression for the item.
    """
    shape = Shape((), Lead(path, None))
    for axis in array.without:
        shape = _without(shape, axis)
    return Array(shape, origin=path, without=array.without)


def _each(axes: Value, count: int) -> tuple[Value, ...]:
    if isinstance(axes, Seq):
        return axes.items if len(axes.items) == count else (UNKNOWN,) * count
    return (axes,) * count


def _at(axes: Value, key: object) -> Value:
    return axes.items.get(key, UNKNOWN) if isinstance(axes, Table) else axes


def _without(shape: Shape, axis: int) -> Shape:
    if axis < 0:
        longer = shape.expanded(-axis)
        position = len(longer.dims) + axis
        if position < 0:
            return ANY_SHAPE
        return Shape((*longer.dims[:position], *longer.dims[position + 1 :]), longer.lead)
    lead = shape.lead
    if lead is None:
        return Shape((*shape.dims[:axis], *shape.dims[axis + 1 :]))
    if axis < len(lead.front):
        front = [*lead.front[:axis], *lead.front[axis + 1 :]]
        return Shape(shape.dims, with_front(lead, front))
    if not lead.argument:
        return Shape(shape.dims, Lead("", None))
    before = axis - len(lead.front)
    front = [*lead.front, *_sizes(lead, before)]
    rest = Lead(lead.argument, lead.stop, lead.start + before + 1)
    return Shape(shape.dims, with_front(rest, front))


def _with(shape: Shape, axis: int, size: Dim | None) -> Shape:
    if axis < 0:
        behind = -axis - 1
        longer = shape.expanded(behind)
        position = len(longer.dims) - behind
        if position < 0:
            return ANY_SHAPE
        dims = (*longer.dims[:position], size, *longer.dims[position:])
        return Shape(dims, longer.lead)
    lead = shape.lead
    if lead is None:
        return Shape((*shape.dims[:axis], size, *shape.dims[axis:]))
    if axis <= len(lead.front):
        front = [*lead.front[:axis], size, *lead.front[axis:]]
        return Shape(shape.dims, with_front(lead, front))
    if not lead.argument:
        return Shape(shape.dims, Lead("", None))
    before = axis - len(lead.front)
    front = [*lead.front, *_sizes(lead, before), size]
    return Shape(shape.dims, with_front(Lead(lead.argument, lead.stop, lead.start + before), front))


def _sizes(lead: Lead, count: int) -> list[Dim | None]:
    return [as_dim(ArgumentSize(lead.argument, lead.start + k)) for k in range(count)]


Plain = Callable[[list[Passed]], Value]


def ignores_keywords(lift: Lift) -> bool:
    """Whether Linen leaves out what a function under a transform is given by name."""
    return lift.kind in ("scan", "vmap")


def steps_inside(lift: Lift, passed: list[Passed]) -> tuple[list[Passed], Dim | None]:
    """Return what one step or member is called with, and how many there are.

    Args:
        lift: The transform.
        passed: The arguments without the module.
    """
    if not ignores_keywords(lift):
        return passed, None
    passed = [one for one in passed if not one.keyword]
    positions = [k for k, one in enumerate(passed) if not one.keyword and not one.star]
    first = 1 if lift.kind == "scan" else 0
    size = None
    setting = size_setting(lift)
    if setting is not None:
        size = dim_of(setting.value)
    inner = list(passed)
    mapped = positions[first:]
    for position, axis in zip(mapped, axes_of(lift, len(mapped)), strict=True):
        one = passed[position]
        size = size or size_along(one.value, axis)
        value = inside(one.value, axis)
        inner[position] = Passed(value, one.code, one.node, one.keyword, one.star)
    return inner, size


def results_outside(lift: Lift, value: Value, size: Dim | None) -> Value:
    """Return what all steps or members return together."""
    axes = lift.value("out_axes", Const(0))
    if lift.kind == "vmap":
        return outside(value, axes, size)
    if lift.kind == "scan":
        match value:
            case Seq(items=(carry, results)):
                return Seq((carry, outside(results, axes, size)))
        return UNKNOWN
    return value


class LiftedCalls:
    """Goes through calls of submodules whose class is under transforms, and writes them.

    Args:
        plan_of: Plans another module of the project.
        refer: Gives the code for a public name.
    """

    def __init__(
        self,
        plan_of: Callable[[LinenClass], ClassPlan],
        refer: Callable[[str], str],
    ) -> None:
        self._plan_of = plan_of
        self._refer = refer

    def call(
        self,
        site: Site,
        method: str,
        passed: list[Passed],
        node: cst.Call,
        frame: Frame,
        plain: Plain,
    ) -> Value:
        """Return what a call returns.

        Args:
            site: The submodule.
            method: Its method.
            passed: The arguments.
            node: The call.
            frame: The frame of the call.
            plain: Goes through the call of one step or member.
        """
        try:
            lifts = lifts_of(site)
            if any(method not in lift.methods for lift in lifts):
                return plain(passed)
            inner = passed
            sizes: list[Dim | None] = []
            for lift in lifts:
                inner, size = steps_inside(lift, inner)
                sizes.append(size)
        except Unsupported as error:
            frame.mark(node, str(error), TRANSFORM)
            return UNKNOWN
        if not site.sizes:
            site.sizes = tuple(sizes)
        value = plain(inner)
        for lift, size in zip(reversed(lifts), reversed(sizes), strict=True):
            value = results_outside(lift, value, size)
        is_own = bool(frame.recorder.log.about(Build, site))
        if not frame.records and is_own and any(lift.maps for lift in lifts):
            message = "a module under a transform is called outside of the module that has it"
            frame.recorder.mark(site.node, message)
        here = not site.is_verbatim and frame.method is not None
        is_here = here and frame.method is not None and site.method == frame.method.name
        frame.log(LiftedCall(node, site, method, tuple(passed), is_here))
        return value

    # -- writing ------------------------------------------------------------------------------

    def write(self, recorder: Recorder) -> None:
        """Note in the plan how the calls are written."""
        _check_uses(recorder)
        for calls in recorder.log.groups(LiftedCall):
            node = calls[0].node
            try:
                found = [self._written(recorder, node, one) for one in calls]
            except Unsupported as error:
                recorder.mark(node, str(error), TRANSFORM)
                continue
            if len({function for function, _ in found}) > 1:
                recorder.mark(node, "what is called here is under different transforms", TRANSFORM)
                continue
            function, code = found[0]
            is_attribute = calls[0].method != "__call__" or (
                isinstance(node.func, cst.Attribute) and node.func.attr.value == "__call__"
            )
            recorder.replace(node, ModuleFirst(function, code.arguments, is_attribute))

    def _written(
        self, recorder: Recorder, node: cst.Call, call: LiftedCall
    ) -> tuple[str, FunctionCode]:
        lifts = lifts_of(call.site)
        passed = self._edited(recorder, node, call)
        code = self._function(recorder, call, lifts, passed)
        positional = [k for k, one in enumerate(passed) if not one.keyword]
        count = len(positional)
        plan_of = self._plan_of
        kept = tuple(k for k in code.kept if k < count)
        if len(kept) < len(code.kept) and any(lift.kind == "scan" for lift in lifts):
            raise Unsupported("an argument with a keyword is computed in the call")
        mapped = Mapped(
            collections_of(call.site, plan_of), draws(call.site, plan_of), code.kept, len(passed)
        )

        is_own = bool(recorder.log.about(Build, call.site))

        def spelled(bound: Bound) -> str:
            code = in_method(bound, is_here=call.is_here)
            if not is_own and "self" in code:
                raise Unsupported("a setting of this transform is a field of another module")
            return code

        wrapping = Wrapping(mapped, spelled, self._refer, count)
        function = code.code
        for lift in reversed(lifts):
            if lift.kind == "remat_scan":
                function = self._remat_scan(function, lift, mapped, spelled)
            else:
                function = wrapping.wrapped(function, [lift])
        return function, code

    def _edited(self, recorder: Recorder, node: cst.Call, call: LiftedCall) -> list[Passed]:
        """Return the arguments as the new class takes them, without those that Linen ignores."""
        ignored = any(ignores_keywords(lift) for lift in lifts_of(call.site))
        edits = recorder.log.about(CallEdit, node)
        arguments = next((one.arguments for one in edits if one.site is call.site), None)
        if arguments is None:
            return [one for one in call.passed if not (ignored and one.keyword)]
        known = {id(one.node): one for one in call.passed}
        found: list[Passed] = []
        for keyword, value in arguments:
            one = known.get(id(value))
            if ignored and one is not None and one.keyword:
                continue
            if ignored and keyword:
                raise Unsupported(f"NNX takes `{keyword}` by name, which no transform maps")
            found.append(Passed(one.value if one else UNKNOWN, None, value, keyword))
        return found

    def _function(
        self, recorder: Recorder, call: LiftedCall, lifts: list[Lift], passed: list[Passed]
    ) -> FunctionCode:
        target = call.site.target
        if any(one.star == "**" for one in passed):
            raise Unsupported("a transformed module is called with `**`")
        if any(one.star for one in passed) and (
            len(passed) != 1 or any(lift.kind == "scan" for lift in lifts)
        ):
            raise Unsupported("a transformed module is called with `*`")
        closed = _closed(lifts, passed)
        names: list[str] = []
        if isinstance(target, LinenClass):
            method = target.method(call.method)
            if method is not None:
                params = method.node.params
                names = [one.name.value for one in method.parameters()]
                name = self._class_code(recorder, call.site, target)
                is_whole = len(params.params) - 1 == len(passed) and not params.kwonly_params
                plain = not any(one.keyword or one.star for one in passed)
                if name and is_whole and plain and not closed and not params.posonly_params:
                    nodes = tuple(one.node for one in passed)
                    return FunctionCode(f"{name}.{call.method}", nodes, tuple(range(len(nodes))))
        return lambda_of(call.method, passed, closed, names, recorder.plan.replacements)

    def _class_code(self, recorder: Recorder, site: Site, cls: LinenClass) -> str:
        if site.code.startswith("self."):
            return ""
        return site.code or (cls.name if cls.home == recorder.plan.cls.home else "")

    def _remat_scan(
        self, function: str, lift: Lift, mapped: Mapped, spelled: Callable[[Bound], str]
    ) -> str:
        if mapped.kept != (0,):
            raise Unsupported("`nn.remat_scan` is called with more than its carry")
        refer = self._refer
        carry = refer("nnx.Carry")
        state = state_axes(lift, mapped.collections, refer)
        policy = [f"policy={spelled(lift.given['policy'])}"] if "policy" in lift.given else []
        for length in reversed(lengths_of(lift)):
            function = f"{refer('nnx.remat')}({', '.join([function, *policy])})"
            function = (
                f"{refer('nnx.scan')}({function}, in_axes=({state}, {carry}), out_axes={carry},"
                f" length={length})"
            )
        return function


def _closed(lifts: list[Lift], passed: list[Passed]) -> frozenset[int]:
    """Return the positions of arguments that the function has in itself."""
    found = {k for k, one in enumerate(passed) if one.keyword and is_simple(one.node)}
    scans = [lift for lift in lifts if lift.kind == "scan"]
    if not scans:
        return frozenset(found)
    for k, one in enumerate(passed):
        if k == 0 or one.keyword or isinstance(one.value, Array) or not is_simple(one.node):
            continue
        if all(_is_shared(lift, k, len(passed)) for lift in lifts if lift.maps):
            found.add(k)
    return frozenset(found)


def _is_shared(lift: Lift, position: int, count: int) -> bool:
    first = 1 if lift.kind == "scan" else 0
    return is_broadcast(axes_of(lift, count - first)[position - first])


def _check_uses(recorder: Recorder) -> None:
    """Mark submodules that a transform runs more than once, where a call of them is not seen."""
    called = {one.site for one in recorder.log.of(LiftedCall)}
    handed = {
        value.site
        for site in recorder.plan.sites
        for bound in site.given.values()
        for value in _modules_in(bound.value)
    }
    for site in recorder.plan.sites:
        try:
            is_mapped = any(lift.maps for lift in lifts_of(site))
        except Unsupported as error:
            recorder.mark(site.node, str(error), TRANSFORM)
            continue
        if is_mapped and site in handed:
            recorder.mark(
                site.node, "a module under a transform is handed to another module", TRANSFORM
            )
        elif is_mapped and site not in called:
            recorder.mark(site.node, "it is not seen where this module under a transform is called")


def _modules_in(value: Value) -> Iterator[ModuleValue]:
    match value:
        case ModuleValue():
            yield value
        case Seq(items=items):
            for item in items:
                yield from _modules_in(item)
        case Table(items=table):
            for item in table.values():
                yield from _modules_in(item)
        case Repeated(element=element):
            yield from _modules_in(element)
