"""Writes the calls that construct submodules, with the sizes of their inputs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of
from typed_nnx_codegen.migrate.linen.domain.class_plan import (
    CALL,
    COUNTERPART,
    HIDDEN,
    NAME,
    STAYS,
    TRACE,
    TRANSFORM,
    Call,
    ClassPlan,
    Condition,
    Enter,
    Lifted,
    Need,
    Site,
    given_of,
)
from typed_nnx_codegen.migrate.linen.domain.classes import LinenClass
from typed_nnx_codegen.migrate.linen.domain.dims import (
    ArgumentItems,
    ArgumentShape,
    ArgumentSize,
    Dim,
    NamedNumber,
    as_dim,
)
from typed_nnx_codegen.migrate.linen.domain.expr import Content
from typed_nnx_codegen.migrate.linen.domain.frames import Recorder
from typed_nnx_codegen.migrate.linen.domain.references import ModuleValue, SizedList
from typed_nnx_codegen.migrate.linen.domain.values import (
    NONE,
    OPEN,
    UNKNOWN,
    Array,
    Passed,
    Seq,
    Shape,
    ShapeOf,
    Size,
    Table,
    Value,
    with_sizes,
)
from typed_nnx_codegen.migrate.linen.evaluate.conditions import is_of_fields
from typed_nnx_codegen.migrate.linen.evaluate.lifted_calls import part_of
from typed_nnx_codegen.migrate.linen.evaluate.lifts import Unsupported, collections_of, stacked
from typed_nnx_codegen.migrate.linen.layers import (
    Built,
    Inputs,
    Layer,
    MissingWidth,
    Refused,
    find_layer,
)
from typed_nnx_codegen.migrate.linen.plan.lifting import (
    Lifting,
    MissingSizes,
    as_read,
    contradiction,
    disagreement,
    mark_widths,
    measured_widths,
    missing_sizes,
    of_argument,
    stand_in,
    within,
)
from typed_nnx_codegen.migrate.linen.project.fields import number_of, optional_fields
from typed_nnx_codegen.migrate.linen.project.gradual import (
    Gradual,
    bridged,
    changes_variables,
    class_code,
    first_inputs,
)
from typed_nnx_codegen.migrate.linen.trace.record import Measured, TracedCall
from typed_nnx_codegen.migrate.linen.write.method_edits import (
    SETTING,
    chosen_constructor,
    follows_inputs,
    typed,
)

if TYPE_CHECKING:
    from typed_nnx_codegen.migrate.linen.evaluate.executor import Executor

# Layers whose output has one shape whatever they are given beside its size.
_PASSING: Final = frozenset(
    f"flax.linen.{name}" for name in ("Dense", "Embed", "LayerNorm", "RMSNorm")
)


def given_when(value: Array, site: Site, lifted: Lifted, recorder: Recorder) -> str:
    """Return the condition on which calls give an argument; empty where none decides it."""
    given: list[tuple[Condition, ...]] = []
    absent: list[tuple[Condition, ...]] = []
    if not lifted.is_optional:
        return ""
    if value.condition not in ("", OPEN):
        return value.condition
    for call in recorder.log.about(Call, site):
        if call.conditions is None:
            return ""
        if call.method != lifted.method:
            continue
        argument = call.values.get(lifted.argument, NONE)
        if isinstance(argument, Array):
            given.append(call.conditions)
        elif argument == NONE:
            absent.append(call.conditions)
    if not given or not absent:
        return ""
    for one in given[0]:
        sides = {_side(one.number, conditions) for conditions in given}
        others = {_side(one.number, conditions) for conditions in absent}
        code = recorder.branch_codes.get(one.number, "")
        if sides == {one.side} and others == {not one.side} and code and is_of_fields(code):
            return code if one.side else f"not ({code})"
    return ""


def _side(number: int, conditions: tuple[Condition, ...]) -> bool | None:
    return next((one.side for one in conditions if one.number == number), None)


def part_at(values: dict[str, Value], path: str) -> Value:
    """Return the value at a path over the arguments of a call: ``batch['image']``."""
    if not path:
        return UNKNOWN
    first, *rest = re.findall(r"\w+|\[[^\]]*\]", path)
    value = values.get(first, UNKNOWN)
    for key in rest:
        match value:
            case Seq(items=items) if key.startswith("["):
                position = key[1:-1]
                is_number = position.removeprefix("-").isdigit()
                is_there = is_number and -len(items) <= int(position) < len(items)
                value = items[int(position)] if is_there else UNKNOWN
            case Table(items=table):
                name = key[1:-1].strip("'\"") if key.startswith("[") else key
                value = table.get(name, UNKNOWN)
            case ShapeOf():
                value = _item_of_shape(value, key)
            case Array(origin=origin) if origin:
                value = part_of(value, f"{origin}{key if key.startswith('[') else '.' + key}")
            case _:
                return UNKNOWN
    return value


def _item_of_shape(value: ShapeOf, key: str) -> Value:
    """Return a size in a shape that a method is called with: ``[-1]``."""
    place = key[1:-1]
    dim = value.shape.axis(int(place)) if place.removeprefix("-").isdigit() else None
    return UNKNOWN if dim is None else Size(dim)


def same_argument(plan: ClassPlan, lifted: Lifted, method: str) -> list[str]:
    """Return which arguments of a method are that of a lifted parameter.

    Methods that are called from outside mean the same by a name; to another they pass it on.
    """
    first = re.split(r"[.\[]", lifted.argument)[0]
    rest = lifted.argument.removeprefix(first)
    entered = [one for one in plan.log.of(Enter) if one.method.name.value == method]
    sides = [
        {
            name
            for name, value in one.values.items()
            if isinstance(value, Array) and value.origin == first
        }
        if one.caller is not None
        else {first}
        for one in entered
    ]
    return [f"{name}{rest}" for name in sorted(set.intersection(*sides))] if sides else []


def is_absent(site: Site, lifted: Lifted, recorder: Recorder) -> bool:
    """Whether no call of a submodule gives an argument that may be None."""
    return not any(
        isinstance(part_at(call.values, lifted.argument), Array)
        for call in recorder.log.about(Call, site)
        if call.method == lifted.method
    )


def with_whole_lead(shape: Shape) -> Shape:
    """Return a shape whose first sizes are the longest part of that of an argument.

    It stands for arrays of fewer dimensions, too: ``(*in_shape[:-1], 8)`` in the place of
    ``(*in_shape[:-2], in_shape[-2], 8)``.
    """
    lead, dims = shape.lead, shape.dims
    while lead is not None and lead.argument and lead.stop is not None and lead.stop < -1:
        if not dims or dims[0] != as_dim(ArgumentSize(lead.argument, lead.stop)):
            break
        lead, dims = replace(lead, stop=lead.stop + 1), dims[1:]
    return Shape(dims, lead)


def is_enough(shape: Shape, lifted: Lifted) -> bool:
    """Whether a constructor finds in a shape all that it surely reads of it.

    Dimensions that are not known are written as None. That is no problem where only the others
    are read, as with the size of a batch.
    """
    lead = shape.lead
    front = lead.front if lead is not None else ()
    if _is_open(shape) and all(dim is None for dim in (*front, *shape.dims)):
        return False
    return all(_is_known(shape, read) for read in lifted.reads)


def _is_open(shape: Shape) -> bool:
    """Whether it is not known how many dimensions there are."""
    return shape.lead is not None and not shape.lead.argument


def _is_known(shape: Shape, read: int | ArgumentShape | None) -> bool:
    lead = shape.lead
    is_open = _is_open(shape)
    match read:
        case None:
            return not is_open
        case ArgumentShape(start=start, stop=stop):
            part = shape.dims if lead is not None else shape.dims[start:stop]
            return None not in part and not (is_open or (lead is not None and None in lead.front))
        case int() if lead is None:
            return -len(shape.dims) <= read < len(shape.dims) and shape.dims[read] is not None
        case int() if read < 0:
            return shape.dims[read] is not None if -read <= len(shape.dims) else not is_open
        case int() if lead is not None:
            return lead.front[read] is not None if read < len(lead.front) else not is_open
    return True


class ConstructorCalls:
    """Writes the calls that construct the submodules of one module.

    Attributes:
        missing: The sizes that the code does not tell.
    """

    def __init__(self, recorder: Recorder, executor: Executor, lifting: Lifting) -> None:
        self._recorder = recorder
        self._lifting = lifting
        self._executor = executor
        self._plan: ClassPlan = recorder.plan
        self._slots = recorder.slots
        self.missing = MissingSizes(recorder, executor.trace, lifting)

    # -- submodules ---------------------------------------------------------------------------

    def constructor(self, site: Site) -> str:
        """Return the call that constructs a submodule, a template."""
        code = self._one_constructor(site)
        codes = [(site, code)]
        for other in site.alternatives:
            other.attribute, other.is_verbatim = site.attribute, site.is_verbatim
            codes.append((other, self._one_constructor(other)))
        if len(site.tests) < len(codes) and all(one == code for _, one in codes):
            return code
        chosen = chosen_constructor(codes, self._recorder, self._executor.refer)
        if chosen is None:
            message = f"the classes that `{site.code}` may be are constructed differently"
            self._recorder.mark(site.node, message)
        return chosen or code

    def _one_constructor(self, site: Site) -> str:
        def spelled(content: Content) -> str:
            if isinstance(content, Site) and content.is_nested:
                return self.constructor(content)
            return self._slots.name(content)

        code = self._stacked(site, self._constructor(site))
        return code_of(self._slots.filled(cst.parse_expression(code), spelled))

    def _stacked(self, site: Site, code: str) -> str:
        """Return the code of a submodule under the transforms that run it more than once."""
        if not site.transforms and not site.stacks:
            return code
        try:
            return stacked(
                code,
                site,
                collections_of(site, self._executor.plan_of),
                rngs=self._recorder.rngs,
                token=self._slots.name,
                refer=self._executor.refer,
            )
        except Unsupported as error:
            self._recorder.mark(site.node, str(error), TRANSFORM)
            return code

    def _constructor(self, site: Site) -> str:
        self._measure_fields(site)
        if isinstance(site.target, LinenClass):
            return self._of_class(site, site.target)
        layer = find_layer(site.target)
        assert layer is not None
        given = given_of(site)
        built: Built | Refused | MissingWidth = layer.build(given, None)
        for values in self._inputs(site):
            built = layer.build(given, Inputs(values))
            if isinstance(built, Built):
                break
        if isinstance(built, Refused):
            gradual = self._executor.gradual
            if gradual is not None and gradual.wraps_layers:
                return self._bridged(site)
            self._recorder.mark(site.node, f"{built.why} {built.fix}", COUNTERPART)
            return f"{site.code or self._class_of(layer) or code_of(site.node.func)}(...)"
        self._check(site)
        mark_widths(site, self._recorder)
        if isinstance(built, MissingWidth):
            return self._without_width(site, built)
        problem = disagreement(layer, given, built, self.missing.sure_calls(site), self._lifting)
        if problem:
            self._recorder.mark(site.node, problem, TRACE)
        return self._call(site, built)

    def _measure_fields(self, site: Site) -> None:
        """Give a submodule the sizes that nothing but a trace tells."""
        for name, bound in site.given.items():
            is_missing = bound.code is None and not self._executor.facts.is_moved(site.target, name)
            calls = self.missing.calls(site) if is_missing and name != "name" else []
            sizes = [call.own.get(f"self.{name}") for call in calls]
            measured = [
                Measured(size, call)
                for size, call in zip(sizes, calls, strict=True)
                if size is not None
            ]
            if calls and len(measured) == len(calls):
                size = self.missing.size(site, Lifted(name), measured, self._candidates(site))
                site.given[name] = replace(bound, code=self._slots.name(size))

    def _bridged(self, site: Site) -> str:
        """Return the code of a submodule that stays in Linen."""
        gradual = self._executor.gradual
        assert gradual is not None
        self._check(site)
        refer = self._executor.refer
        name = class_code(site, self._plan.cls)
        calls = self._plan.log.about(Call, site)
        inputs = first_inputs(
            site, calls, lambda value: self._visible(value, site), self._slots, refer
        )
        problem = self._unbridged(site, gradual)
        if not problem and (name is None or inputs is None or site.transforms):
            problem = "the shapes that it is initialised with are not known"
        if problem:
            self._recorder.mark(site.node, f"it stays in Linen; {problem}", STAYS)
        site.is_bridged = True
        site.updates = changes_variables(
            site, {cls: kept.updates for cls, kept in gradual.kept.items()}
        )
        return bridged(name or site.class_name, site, inputs, self._recorder.rngs, refer)

    def _unbridged(self, site: Site, gradual: Gradual) -> str:
        """Return why a submodule cannot be in a bridge, whatever its inputs are."""
        kept = gradual.kept.get(site.target) if isinstance(site.target, LinenClass) else None
        if kept is not None and kept.needs_values:
            return "its variables depend on what it is called with first"
        own = {f"self.{one.attribute}" for one in self._plan.sites}
        given = site.given.values()
        if any(isinstance(one.value, ModuleValue) or one.code in own for one in given):
            return "it is given a module, which would be one of NNX"
        if any(one.code is None and not one.hidden for one in given):
            return "what it is constructed with is known only where it is called"
        return ""

    def _call(self, site: Site, built: Built) -> str:
        """Return the call that constructs a layer."""
        hidden = {name for name, one in site.given.items() if one.hidden}
        built = typed(site, built, self._recorder)
        arguments = [
            argument.spelled(self._slots.name)
            for argument in built.arguments
            if argument.keyword not in hidden and argument.code != HIDDEN
        ]
        for one in built.helpers:
            self._plan.log.append(Need(one))
        arguments += site.options or ()
        if built.takes_rngs:
            arguments.append(f"rngs={self._recorder.rngs}")
        name = site.code or (
            self._executor.refer(built.cls) if built.cls.startswith("nnx.") else built.cls
        )
        return f"{name}({', '.join(arguments)})"

    def _without_width(self, site: Site, missing: MissingWidth) -> str:
        layer = find_layer(str(site.target))
        assert layer is not None
        given = given_of(site)
        calls = self.missing.calls(site)
        sizes: dict[Dim, Dim] = {}
        for number, one in enumerate(missing_sizes(layer, given)):
            name = f"{missing.parameter}_{number}" if number else missing.parameter
            asked = Lifted(name, argument="inputs", axis=-1)
            measured = measured_widths(layer, given, calls, one)
            sizes[one] = self.missing.size(site, asked, measured, self._candidates(site))
        built = layer.build(given, stand_in(layer, sizes))
        if not isinstance(built, Built):
            return f"{self._class_of(layer)}(...)"
        return self._call(site, built)

    def _class_of(self, layer: Layer) -> str:
        """Return the code for the class of a layer; empty where it has none."""
        if layer.definition is not None:
            self._plan.log.append(Need(layer.definition))
        return self._executor.refer(layer.nnx) if layer.nnx.startswith("nnx.") else layer.nnx

    def _check(self, site: Site) -> None:
        passes = isinstance(site.target, LinenClass) or site.target in _PASSING
        if site.is_open and (site.options is None or not passes):
            self._recorder.mark(site.node, "some of its arguments are not known: `**`", CALL)
        for name, bound in site.given.items():
            is_known = bound.code is not None or name == "name"
            if name == SETTING and follows_inputs(site, self._recorder):
                continue
            if not is_known and not self._executor.facts.is_moved(site.target, name):
                self._recorder.mark(
                    site.node, f"`{name}` depends on what the method is called with", CALL
                )

    def _inputs(self, site: Site) -> list[dict[str, Value]]:
        return [
            {name: self._visible(value, site) for name, value in call.values.items()}
            for call in self._ordered(site)
        ]

    def _ordered(self, site: Site) -> list[Call]:
        """Return the calls of a submodule: last those with arguments that may not be given."""

        def rank(call: Call) -> tuple[bool, bool]:
            first = next(iter(call.values.values()), UNKNOWN)
            dims = first.shape.expanded(1).dims[-1:] if isinstance(first, Array) else ()
            asked = [atom for dim in dims if dim is not None for atom in dim.atoms()]
            return call.root != "__call__", any(self._lifting.may_be_none(atom) for atom in asked)

        return sorted(self._plan.log.about(Call, site), key=rank)

    def _visible(self, value: Value, site: Site) -> Value:
        """Return a value without the sizes that cannot be said where a submodule is constructed."""
        return with_sizes(value, lambda dim: self._if_visible(dim, site))

    def _if_visible(self, dim: Dim | None, site: Site) -> Dim | None:
        if dim is None or self._is_visible(dim, site):
            return dim
        named = (one for one in dim.pieces() if isinstance(one, NamedNumber))
        said = dim.replaced({one: as_dim(one.number) for one in named})
        if self._is_visible(said, site):
            return said
        # What is added has one size.
        pairs = (pair for pair in self._recorder.equal_sizes if dim in pair)
        equal = sorted((one for pair in pairs for one in pair), key=repr)
        return next((one for one in equal if self._is_visible(one, site)), None)

    def _is_visible(self, dim: Dim, site: Site) -> bool:
        """Whether a size can be said where a submodule is constructed."""
        loops = [(loop,) for loop in site.loops]
        there = {self._plan.cls.home, *site.loops}
        return all(
            there.issuperset(one.binders) and self._recorder.are_bound(one.code, one.binders, loops)
            for one in dim.pieces()
        )

    # -- modules of the project ---------------------------------------------------------------

    def _of_class(self, site: Site, cls: LinenClass) -> str:
        self._check(site)
        arguments: list[str] = []
        for name, one in site.given.items():
            if one.hidden or name == "name":
                continue
            if one.code is None:
                arguments += self._at_calls(cls, name, one)
                continue
            arguments.append(f"{name}={one.code}" if one.keyword else one.code)
        arguments += site.options or ()
        if self._executor.gradual is not None and self._executor.plan_of(cls).stays:
            return self._bridged(site)
        if cls is self._plan.cls:
            self._recorder.mark(site.node, "the module contains itself")
        child = self._executor.plan_of(cls)
        self._check_defaults(site, cls, child)
        for lifted in child.lifted:
            if lifted.default and not lifted.argument:
                continue
            if not (lifted.is_optional and is_absent(site, lifted, self._recorder)):
                arguments.append(f"{lifted.name}={self._lifted(site, lifted)}")
        arguments.append(f"rngs={self._recorder.rngs}")
        name = site.code or self._executor.refer(cls.public)
        return f"{name}({', '.join(arguments)})"

    def _check_defaults(self, site: Site, cls: LinenClass, child: ClassPlan) -> None:
        """Mark modules that share the default of a field: in Linen that is one object."""
        missing = sorted(child.built - site.given.keys()) if not site.is_open else []
        same = [one for one in self._plan.sites if one.target is cls]
        if missing and (len(same) > 1 or site.loops):
            self._recorder.mark(
                site.node,
                f"all `{cls.name}` share the default of `{missing[0]}` in Linen,"
                " and each has its own here: give it where they are constructed",
                NAME,
            )

    def _at_calls(self, cls: LinenClass, name: str, one: Passed) -> list[str]:
        """Return the argument of a field that calls say: None where there has to be one."""
        if not one.keyword:
            return ["None"]
        field = next((each for each in cls.fields() if each.name == name), None)
        is_optional = name in optional_fields(cls, self._executor.facts)
        has_default = field is not None and field.default is not None
        return [] if is_optional or has_default else [f"{name}=None"]

    def _lifted(self, site: Site, lifted: Lifted) -> str:
        """Return what a submodule's lifted parameter is given."""
        found = self._plan.log.about(Call, site)
        calls = sorted(
            found, key=lambda call: (call.method != lifted.method, call.root != "__call__")
        )
        for call in calls:
            value = self._argument(call.values, site, lifted, call.method)
            if lifted.is_number:
                number = self._if_visible(number_of(value), site)
                if number is not None:
                    return self._slots.name(number)
                continue
            if lifted.is_of_items:
                sizes = self._sizes(value, site, call.conditions or ())
                if sizes is not None:
                    return sizes
                continue
            if not isinstance(value, Array):
                continue
            code = self._of_array(value, site, lifted)
            if code is not None:
                self._compare(value, site, lifted)
                when = given_when(value, site, lifted, self._recorder)
                return f"({code} if {when} else None)" if when else code
        measured = list(self._measured(site, lifted))
        shape = self.missing.shape(measured)
        if shape is not None:
            return self._shape(shape)
        size = self.missing.size(site, lifted, measured, self._candidates(site))
        return self._slots.name(size)

    def _candidates(self, site: Site) -> list[Dim]:
        """Return what an unknown size may be, of what is known where a submodule is constructed."""
        return [one for one in self._recorder.candidates if self._if_visible(one, site) == one]

    def _compare(self, value: Array, site: Site, lifted: Lifted) -> None:
        """Mark a size of a submodule of the project that is another one in the trace."""
        dim = None if lifted.axis is None else value.shape.axis(lifted.axis)
        for one in self._measured_arguments(site, lifted, self.missing.sure_calls(site)):
            problem = dim and contradiction(dim, one.size, one.call, self._lifting)
            if problem:
                self._recorder.mark(site.node, problem, TRACE)
                return

    def _of_array(self, value: Array, site: Site, lifted: Lifted) -> str | None:
        """Return the size or shape of an array; None where the constructor cannot say it."""
        visible = self._visible(value, site)
        assert isinstance(visible, Array)
        if lifted.axis is not None:
            dim = visible.shape.axis(lifted.axis)
            return None if dim is None else self._slots.name(dim)
        if is_enough(visible.shape, lifted):
            return self._shape(as_read(visible.shape, lifted))
        return None

    def _sizes(self, value: Value, site: Site, around: tuple[Condition, ...]) -> str | None:
        """Return the last size of each array of a list; None where they are not known here.

        Args:
            value: The list.
            site: The submodule that is called with it.
            around: The branches around the call.
        """
        match value:
            case SizedList(sizes=code, loops=loops, is_local=False, depth=None):
                is_around = site.loops[: len(loops)] == loops
                is_seen = is_around and site.conditions[: len(around)] == around
                known = all(self._if_visible(dim, site) for dim in self._slots.sizes(code))
                return code if is_seen and known else None
            case Array(origin=origin, shape=Shape(dims=())) if origin:
                return self._slots.name(as_dim(ArgumentItems(origin)))
            case Seq(items=items):
                visible = [self._visible(item, site) for item in items]
                sizes = [one.shape.axis(-1) for one in visible if isinstance(one, Array)]
                if len(sizes) == len(items) and None not in sizes:
                    return self._shape(Shape(tuple(sizes)))
        return None

    def _measured(self, site: Site, lifted: Lifted) -> Iterator[Measured]:
        """Yield the sizes that a trace gives a submodule's lifted parameter."""
        calls = self.missing.calls(site)
        if not lifted.argument:
            yield from within(lifted, calls)
        yield from self._measured_arguments(site, lifted, calls)

    def _measured_arguments(
        self, site: Site, lifted: Lifted, calls: Iterable[TracedCall]
    ) -> Iterator[Measured]:
        """Yield what a lifted parameter is that is a size or the shape of an argument."""
        if lifted.argument and not lifted.is_number:
            for call in calls:
                value = self._argument(dict(call.arguments), site, lifted, call.method)
                yield from of_argument(value, lifted, call)

    def _argument(self, values: dict[str, Value], site: Site, lifted: Lifted, method: str) -> Value:
        """Return what a call of a submodule says of the argument of a lifted parameter."""
        if method == lifted.method or not isinstance(site.target, LinenClass):
            return part_at(values, lifted.argument)
        names = same_argument(self._executor.plan_of(site.target), lifted, method)
        found = [part_at(values, name) for name in names]
        return next((one for one in found if one != UNKNOWN), UNKNOWN)

    def _shape(self, shape: Shape) -> str:
        shape = with_whole_lead(shape)
        lead = shape.lead
        parts = [self._size(dim) for dim in (lead.front if lead is not None else ())]
        if lead is not None:
            parts.append(f"*{self._slots.name(lead.sizes)}" if lead.argument else "None")
        parts += [self._size(dim) for dim in shape.dims]
        if len(parts) == 1 and parts[0].startswith("*"):
            return parts[0][1:]  # None where the argument is
        inner = ", ".join(parts)
        return f"({inner},)" if len(parts) == 1 else f"({inner})"

    def _size(self, dim: Dim | None) -> str:
        return "None" if dim is None else self._slots.name(dim)
