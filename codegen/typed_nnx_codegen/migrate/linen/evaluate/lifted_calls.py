"""Calls of submodules and methods under transforms; their code in NNX."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from keyword import iskeyword

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import (
    code_of,
    free_name,
)
from typed_nnx_codegen.migrate.linen.domain.class_plan import (
    TRANSFORM,
    Build,
    ClassPlan,
    Site,
)
from typed_nnx_codegen.migrate.linen.domain.classes import LinenClass, Method
from typed_nnx_codegen.migrate.linen.domain.code import code_with
from typed_nnx_codegen.migrate.linen.domain.dims import ArgumentSize, Dim, as_dim
from typed_nnx_codegen.migrate.linen.domain.frames import (
    CallEdit,
    Evaluate,
    Frame,
    FunctionRef,
    LiftedCall,
    Recorder,
)
from typed_nnx_codegen.migrate.linen.domain.references import (
    ClassTransform,
    ModuleValue,
    Partial,
    Ref,
    Repeated,
)
from typed_nnx_codegen.migrate.linen.domain.values import (
    ANY_SHAPE,
    NONE,
    UNKNOWN,
    Array,
    Const,
    Lead,
    Passed,
    Seq,
    Shape,
    Table,
    Value,
)
from typed_nnx_codegen.migrate.linen.evaluate.lifts import (
    Lift,
    Refer,
    Spelled,
    Stack,
    Unsupported,
    axes_of,
    axis_code,
    collections_in,
    collections_of,
    draws,
    in_method,
    is_broadcast,
    is_transform,
    lift_of,
    lifts_of,
    plan_draws,
    size_setting,
    state_axes,
    static_code,
    without_module,
)
from typed_nnx_codegen.migrate.linen.shapes.operands import dim_of, with_front

# -- shapes along the axis of a transform -----------------------------------------------------


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
    """Return an item of an argument that may be a tuple, a dict or an array."""
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
    """Return what one step or member is called with, and how many there are."""
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


# -- functions under transforms as code -------------------------------------------------------

_IDENTIFIER = re.compile(r"\b[A-Za-z_]\w*\b")


@dataclass(frozen=True)
class FunctionCode:
    """A function to transform, and what it is called with.

    Attributes:
        code: The function.
        arguments: What it is called with after the module, as it is written.
        kept: The positions of these among all arguments.
    """

    code: str
    arguments: tuple[cst.BaseExpression, ...]
    kept: tuple[int, ...]


def is_simple(node: cst.BaseExpression) -> bool:
    """Whether an expression may as well be computed within a transform: nothing is called."""
    found: list[cst.CSTNode] = [node]
    while found:
        one = found.pop()
        if isinstance(one, (cst.Call, cst.Lambda, cst.Await, cst.NamedExpr)):
            return False
        found += one.children
    return True


def lambda_of(
    method: str,
    passed: Sequence[Passed],
    closed: frozenset[int],
    names: Sequence[str],
    replacements: Mapping[cst.CSTNode, str],
) -> FunctionCode:
    """Return a function that calls a method of the module that it is given.

    Args:
        method: The method.
        passed: The arguments of the call.
        closed: The positions of arguments that are written into the function.
        names: Names for the parameters, by position.
        replacements: Code for nodes that are written differently.
    """
    codes = {k: code_with(passed[k].node, replacements) for k in closed}
    taken = {"module", *(name for code in codes.values() for name in _IDENTIFIER.findall(code))}
    parameters: list[str] = []
    arguments: list[str] = []
    for position, one in enumerate(passed):
        prefix = f"{one.keyword}=" if one.keyword else one.star
        if position in closed:
            arguments.append(prefix + codes[position])
            continue
        wanted = one.keyword or _name(names, position, one)
        name = free_name("value" if iskeyword(wanted) else wanted, taken)
        parameters.append(name)
        arguments.append(prefix + name)
    target = "module" if method == "__call__" else f"module.{method}"
    code = f"lambda {', '.join(['module', *parameters])}: {target}({', '.join(arguments)})"
    kept = tuple(k for k in range(len(passed)) if k not in closed)
    return FunctionCode(code, tuple(passed[k].node for k in kept), kept)


def _name(names: Sequence[str], position: int, one: Passed) -> str:
    if one.star:
        return "args"
    if position < len(names):
        return names[position]
    return one.node.value if isinstance(one.node, cst.Name) else f"arg_{position}"


@dataclass(frozen=True)
class ModuleFirst:
    """Writes a call of a module as a call of a transformed function.

    Attributes:
        function: The transformed function.
        arguments: The arguments after the module: nodes of the call, or others.
        is_attribute: Whether the call names the method: ``module.encode(x)``.
    """

    function: str
    arguments: tuple[cst.BaseExpression, ...]
    is_attribute: bool

    def __call__(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Return the new call."""
        after = {
            id(one.value): other.value
            for one, other in zip(original.args, updated.args, strict=True)
        }
        receiver = updated.func
        if self.is_attribute and isinstance(receiver, cst.Attribute):
            receiver = receiver.value
        values = [receiver, *(after.get(id(one), one) for one in self.arguments)]
        last = len(values) - 1
        comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
        args = [
            cst.Arg(value) if k == last else cst.Arg(value, comma=comma)
            for k, value in enumerate(values)
        ]
        return updated.with_changes(func=cst.parse_expression(self.function), args=args)


@dataclass(frozen=True)
class Mapped:
    """What is known of a function that is transformed, beside its code.

    Attributes:
        collections: The collections of the module that it is called with.
        draws: Whether it draws random keys.
        kept: The positions of the arguments that it is called with, counted without the module;
            the others are written into it.
        count: How many arguments it had.
    """

    collections: frozenset[str]
    draws: bool
    kept: tuple[int, ...]
    count: int


@dataclass(frozen=True)
class Wrapping:
    """Writes transforms.

    Attributes:
        mapped: What is known of the function.
        spelled: Writes settings.
        refer: Spells public names of NNX.
        positional: How many arguments are given by position; the others are the same for all.
    """

    mapped: Mapped
    spelled: Spelled
    refer: Refer
    positional: int

    def wrapped(self, function: str, lifts: Sequence[Lift]) -> str:
        """Return a function under transforms, outermost first."""
        for lift in reversed(lifts):
            name, settings = self.transform(lift)
            plain = f"({function})" if function.startswith("lambda") else function
            function = name.format(", ".join([function, *settings]))
            if lift.condition:
                function = f"({function} if {lift.condition} else {plain})"
        return function

    def transform(self, lift: Lift) -> tuple[str, list[str]]:
        """Return a transform of NNX, with a place for its arguments, and its settings.

        Raises:
            Unsupported: NNX cannot do the same.
        """
        match lift.kind:
            case "remat" | "jit":
                return f"{self.refer(f'nnx.{lift.kind}')}({{}})", self._same(lift)
            case "vmap":
                return self._vmap(lift)
            case "scan":
                return f"{self.refer('nnx.scan')}({{}})", self._scan(lift)
        raise Unsupported(f"`nn.{lift.kind}` is not migrated here")

    def alone(self, lift: Lift) -> tuple[str, list[str]]:
        """Return a transform of NNX by its name alone, and its settings.

        Raises:
            Unsupported: It takes more than one, or NNX cannot do the same.
        """
        name, settings = self.transform(lift)
        if name.count("(") != 1:
            raise Unsupported("members draw keys of their own")
        return name.removesuffix("({})"), settings

    def _same(self, lift: Lift) -> list[str]:
        closed = [k + 1 for k in range(self.mapped.count) if k not in self.mapped.kept]
        found: list[str] = []
        for name in lift.kept:
            if name == "static_argnums":
                found.append(f"{name}={static_code(lift, closed, self.spelled)}")
            else:
                found.append(f"{name}={self.spelled(lift.given[name])}")
        return found

    def _metadata(self, lift: Lift) -> list[str]:
        bound = lift.given.get("metadata_params")
        return [] if bound is None else [f"transform_metadata={self.spelled(bound)}"]

    def _is_stacked(self, lift: Lift) -> bool:
        return lift.stacks(self.mapped.collections)

    def _axes(self, lift: Lift, count: int) -> list[Value]:
        return [*axes_of(lift, count), *(NONE for _ in range(self.mapped.count - self.positional))]

    # -- vmap ---------------------------------------------------------------------------------

    def _vmap(self, lift: Lift) -> tuple[str, list[str]]:
        axes = self._axes(lift, self.positional)
        is_stacked = self._is_stacked(lift)
        shares_keys = not is_stacked and self.mapped.draws and lift.splits_any
        state = state_axes(
            lift, self.mapped.collections, self.refer, random=0 if shares_keys else ""
        )
        codes = [axis_code(axes[k], lift, "in_axes", self.spelled) for k in self.mapped.kept]
        settings = [f"in_axes={_tuple([state, *codes])}"]
        out = axis_code(lift.value("out_axes", Const(0)), lift, "out_axes", self.spelled)
        if out != "0":
            settings.append(f"out_axes={out}")
        size = size_setting(lift)
        if size is not None and not is_stacked:
            settings.append(f"axis_size={self.spelled(size)}")
        settings += [*self._same(lift), *self._metadata(lift)]
        name = f"{self.refer('nnx.vmap')}({{}})"
        if shares_keys:
            if size is None:
                raise Unsupported("members draw keys of their own; give `axis_size`")
            name = f"{self.refer('nnx.split_rngs')}(splits={self.spelled(size)})({name})"
        return name, settings

    # -- scan ---------------------------------------------------------------------------------

    def _scan(self, lift: Lift) -> list[str]:
        if not self.mapped.kept or self.mapped.kept[0] != 0:
            raise Unsupported("`nn.scan` is called without a carry")
        axes = self._axes(lift, self.positional - 1)
        is_stacked = self._is_stacked(lift)
        carries_keys = not is_stacked and self.mapped.draws
        if carries_keys and not lift.splits_any:
            raise Unsupported("each step draws the same random numbers")
        state = state_axes(
            lift, self.mapped.collections, self.refer, random="carry" if carries_keys else ""
        )
        codes = [
            axis_code(axes[k - 1], lift, "in_axes", self.spelled) for k in self.mapped.kept[1:]
        ]
        out = axis_code(lift.value("out_axes", Const(0)), lift, "out_axes", self.spelled)
        carry = self.refer("nnx.Carry")
        settings = [f"in_axes={_tuple([state, carry, *codes])}", f"out_axes=({carry}, {out})"]
        size = size_setting(lift)
        if size is not None:
            settings.append(f"length={self.spelled(size)}")
        return [*settings, *self._same(lift), *self._metadata(lift)]


def decorator(name: str, settings: Sequence[str], refer: Refer) -> str:
    """Return the expression that applies a transform to a function that it decorates."""
    if not settings:
        return name
    return f"{refer('functools.partial')}({', '.join([name, *settings])})"


def _tuple(codes: Sequence[str]) -> str:
    inner = ", ".join(codes)
    return f"({inner},)" if len(codes) == 1 else f"({inner})"


# -- submodules -------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class LiftedCalls:
    """Goes through calls of submodules whose class is under transforms, and writes them."""

    plan_of: Callable[[LinenClass], ClassPlan]
    refer: Callable[[str], str]

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
            if lifts and method != "__call__":
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
        plan_of = self.plan_of
        kept = tuple(k for k in code.kept if k < count)
        if len(kept) < len(code.kept) and any(lift.kind == "scan" for lift in lifts):
            raise Unsupported("an argument with a keyword is computed in the call")
        mapped = Mapped(
            collections_of(call.site, plan_of), draws(call.site, plan_of), code.kept, len(passed)
        )

        is_own = bool(recorder.log.about(Build, call.site))

        def spelled(bound: Passed) -> str:
            code = in_method(bound, is_here=call.is_here)
            if not is_own and "self" in code:
                raise Unsupported("a setting of this transform is a field of another module")
            return code

        # What constructors got that depends on the call: the transformed function has it in itself.
        calls = recorder.plan.calls.get(node)
        given = {arg.keyword.value for arg in node.args if arg.keyword is not None}
        moved = [
            f"{arg.keyword.value}={code_of(arg.value)}"
            for arg in (calls.args if calls is not None else ())
            if arg.keyword is not None and arg.keyword.value not in given
        ]
        function = code.code
        if moved:
            function = f"{self.refer('functools.partial')}({', '.join([function, *moved])})"
        wrapping = Wrapping(mapped, spelled, self.refer, count)
        return wrapping.wrapped(function, lifts), code

    def _edited(self, recorder: Recorder, node: cst.Call, call: LiftedCall) -> list[Passed]:
        """Return the arguments as the new class takes them, without those that Linen ignores."""
        ignored = any(ignores_keywords(lift) for lift in lifts_of(call.site))
        edits = recorder.log.about(CallEdit, node)
        arguments = next((one.arguments for one in edits if one.site is call.site), None)
        if arguments is None:
            return [one for one in call.passed if not (ignored and one.keyword)]
        raise Unsupported("NNX takes the arguments of this call in another way")

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
        # A partial has no methods of its class.
        if site.code.startswith("self.") or any(one.hidden for one in site.given.values()):
            return ""
        return site.code or (cls.name if cls.home == recorder.plan.cls.home else "")


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


# -- methods ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class LiftedMethods:
    """Goes through methods under transforms, and writes them."""

    evaluate: Evaluate
    plan_of: Callable[[LinenClass], ClassPlan]
    refer: Callable[[str], str]

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
        match self.evaluate(decorator, frame):
            case Ref(name=name) if is_transform(name):
                return ClassTransform(name, target, node=decorator)
            case Partial(function=Ref(name=name), args=args, keywords=keywords) if is_transform(
                name
            ):
                return ClassTransform(name, target, args, tuple(keywords.values()), decorator)
        return None

    # -- methods ------------------------------------------------------------------------------

    def of_method(self, method: Method, recorder: Recorder) -> tuple[ClassTransform, ...]:
        """Return the transforms of a method, outermost first."""
        if not any(is_transform(name) for name in method.decorators):
            return ()
        frame = Frame(recorder, method.owner.analysis, records=False)
        found: list[ClassTransform] = []
        for one in method.node.decorators:
            transform = self._transform(one.decorator, UNKNOWN, frame)
            if transform is not None:
                found.append(transform)
        return tuple(found)

    def run(self, method: Method, frame: Frame, body: Callable[[], Value]) -> Value:
        """Go through a method, under its transforms."""
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
        """Note in the plan how transforms of methods are written."""
        cls = recorder.plan.cls
        for method in cls.own_methods.values():
            self._write_method(recorder, method)
        self._check_class(recorder, cls)

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
        plan_of = self.plan_of
        mapped = Mapped(
            collections_in(recorder.plan),
            plan_draws(recorder.plan, plan_of) or recorder.uses_rngs,
            tuple(range(count)),
            count,
        )

        def spelled(bound: Passed) -> str:
            return code_of(bound.node)

        try:
            lift = lift_of(transform)
            for first in params.params[:1]:
                lift = without_module(lift, first.name.value)
            if isinstance(params.star_arg, cst.Param) and lift.maps:
                raise Unsupported("a method under a transform takes `*` arguments")
            if params.kwonly_params and lift.kind != "jit":
                raise Unsupported("a method under a transform takes arguments by name only")
            wrapping = Wrapping(mapped, spelled, self.refer, count)
            return decorator(*wrapping.alone(lift), self.refer)
        except Unsupported as error:
            recorder.mark(node, str(error), TRANSFORM)
            return ""

    def _check_class(self, recorder: Recorder, cls: LinenClass) -> None:
        """Mark transforms that decorate a class."""
        frame = Frame(recorder, cls.analysis, records=False)
        for one in cls.node.decorators:
            if self._transform(one.decorator, UNKNOWN, frame) is not None:
                recorder.mark(cls.node, "a transform of a whole class is not migrated", TRANSFORM)
