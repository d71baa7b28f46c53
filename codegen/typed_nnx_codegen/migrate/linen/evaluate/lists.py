"""Lists and tuples: what they hold, what methods and functions make of them, how loops fill them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of, dotted
from typed_nnx_codegen.migrate.linen import shapes
from typed_nnx_codegen.migrate.linen.domain.class_plan import Site
from typed_nnx_codegen.migrate.linen.domain.classes import Field
from typed_nnx_codegen.migrate.linen.domain.code import parsed
from typed_nnx_codegen.migrate.linen.domain.dims import Dim, Piece, as_dim, chosen
from typed_nnx_codegen.migrate.linen.domain.frames import Frame, Recorder
from typed_nnx_codegen.migrate.linen.domain.references import (
    Choice,
    ModuleValue,
    Repeated,
    sites_in,
)
from typed_nnx_codegen.migrate.linen.domain.values import (
    NONE,
    UNKNOWN,
    Array,
    Code,
    CodeTuple,
    Const,
    Lead,
    Made,
    OfShapes,
    Passed,
    Position,
    Seq,
    Shape,
    ShapeOf,
    Size,
    Slice,
    Table,
    Unknown,
    Value,
    made_by,
)
from typed_nnx_codegen.migrate.linen.evaluate.conditions import condition_of, is_of_fields
from typed_nnx_codegen.migrate.linen.shapes.axes import changed, inserted
from typed_nnx_codegen.migrate.linen.shapes.operands import (
    Arguments,
    dim_of,
    items_of,
    number_of,
    prefixed,
    wanted_shape,
)

Join = Callable[[Value, Value], Value]

# -- items -----------------------------------------------------------------------------------------


def element_of(values: Value) -> tuple[Value, int | None]:
    """Return what an item of something stands for, and the loop that makes the items."""
    match values:
        case Repeated(element=element, loop=loop):
            return element, loop
        case Seq(items=items) if items and all(item == items[0] for item in items):
            return items[0], None
    return UNKNOWN, None


def made_within(value: Value) -> Made | None:
    """Return what may have made a module of which nothing is known: a value, or an item of it."""
    match value:
        case Repeated(element=element):
            return made_by(element)
        case Seq(items=items):
            return next((made for made in map(made_by, items) if made is not None), None)
    return made_by(value)


def head_of(value: Value) -> tuple[Value, ...]:
    """Return the items that a tuple begins with, as far as they are known."""
    match value:
        case Seq(items=head) | Repeated(head=head):
            return head
    return ()


def tail_of(value: Value) -> tuple[Value, ...]:
    """Return the items that a tuple ends with, as far as they are known."""
    match value:
        case Seq(items=tail) | Repeated(tail=tail):
            return tail
    return ()


def item_of(value: Repeated, index: Value) -> Value:
    """Return what a subscript takes out of a list whose length is not known."""
    head, tail = value.head, value.tail
    if value.parts and value.loop is None:
        part = _part_of(value, value.parts, index)
        if part is not None:
            return part
    match index:
        case Const(value=-1) if is_regular(value) and not tail and value.without_last is False:
            return _last_of(value)
        case Const(value=int(place)) if -len(tail) <= place < 0:
            return tail[place]
        case Const(value=int(place)) if 0 <= place < len(head):
            return head[place]
        case Slice(start=Const(value=None | 0), stop=stop, step=Const(value=None | 1)) if (
            not head + tail
        ):
            is_one = stop == Const(-1) and value.without_last is False
            rest = replace(value, without_last=is_one or None, count=None)
            return value if stop == NONE else rest
        case Slice(start=Const(value=None | int() as start), stop=stop, step=step):
            first = start or 0
            if first < 0 or stop != NONE or step != NONE:
                return Repeated(value.element)
            tail = () if first else tail
            rest = replace(value, element=_without(value, first), head=head[first:], tail=tail)
            return replace(rest, count=None if first else value.count)
        case Slice():
            return Repeated(value.element)
    return value.element


def _last_of(value: Repeated) -> Value:
    """Return the last item of what one loop makes."""
    match value.element:
        case ModuleValue(site=site) if site.loops == (value.loop,):
            return ModuleValue(site, is_last=True)
    return value.element


def _part_of(value: Repeated, parts: tuple[Value, ...], index: Value) -> Value | None:
    """Return what a subscript takes out of a list built part by part; None where that is not sure."""
    match index:
        case Const(value=int(place)) if place in (0, -1):
            return None if isinstance(parts[place], Repeated) else parts[place]
        case Slice(start=Const(value=None | 0), stop=Const(value=-1), step=Const(value=None)):
            rest, left_out = parts[:-1], parts[-1]
        case Slice(start=Const(value=1), stop=Const(value=None), step=Const(value=None)):
            rest, left_out = parts[1:], parts[0]
        case _:
            return None
    if isinstance(left_out, Repeated) or not rest:
        return None
    match rest:
        case [Repeated(condition=None) as one]:
            return one
    return Repeated(_any_of(rest), parts=rest)


def rest_of(value: Repeated) -> Repeated:
    """Return what comes after the items that are known."""
    return Repeated(_without(value, len(value.head)), value.loop, value.also)


def _without(value: Repeated, count: int) -> Value:
    """Return what any item but the first ones stands for: a submodule is in a list once."""
    if not isinstance(value.element, Choice):
        return value.element
    first = [one for one in value.head[:count] if isinstance(one, ModuleValue)]
    options = tuple(one for one in value.element.options if one not in first)
    return options[0] if len(options) == 1 else Choice(options) if options else value.element


def unpacked(value: Repeated, count: int) -> list[Value]:
    """Return the items of a tuple that is unpacked without a star."""
    head = value.head[:count]
    return [*head, *[value.element] * (count - len(head))]


def added(left: Value, right: Value) -> Value | None:
    """Return two tuples one after the other; None unless the length of one is not known."""
    if isinstance(left, Repeated) and isinstance(right, Seq):
        more = _more(left, right.items)
        if more is not None or (sites_in(left) and not left.head and not left.tail):
            return more or replace(left, element=_any_of((left, *right.items)), count=None)
    if isinstance(right, Repeated) and sites_in(right) and right.parts is None:
        is_made = isinstance(left, Repeated) and is_regular(left) and sites_in(left)
        before = (left,) if is_made else _parts_of(left)
        if before is not None:
            return Repeated(_any_of((*before, right)), parts=(*before, right))
    left, right = _as_tuple(left), _as_tuple(right)
    if not all(isinstance(side, Seq) or _is_open(side) for side in (left, right)):
        return None
    if isinstance(left, Repeated):
        tail = (*tail_of(left), *right.items) if isinstance(right, Seq) else tail_of(right)
        return Repeated(UNKNOWN, head=head_of(left), tail=tail)
    if isinstance(right, Repeated):
        return Repeated(UNKNOWN, head=(*head_of(left), *head_of(right)), tail=tail_of(right))
    return None


def _is_open(value: Value) -> bool:
    """Whether a value is a tuple or a list of arrays, or of what nothing is known of."""
    is_list = isinstance(value, Repeated) and isinstance(value.element, Array | Unknown)
    return is_list or bool(isinstance(value, Repeated) and (value.head or value.tail))


# -- records that are tuples, too ------------------------------------------------------------------


def _as_tuple(value: Value) -> Value:
    """Return the tuple that a record is here: code adds only tuples."""
    if not isinstance(value, Table) or value.cls is None:
        return value
    head: list[Value] = []
    for number in range(len(value.items)):
        item = numbered_field(value, number)
        if isinstance(item, Unknown):
            break
        head.append(item)
    return Repeated(UNKNOWN, head=tuple(head))


def numbered_field(record: Table, number: object) -> Value:
    """Return the field that a number finds in a record which leaves out fields that are None."""
    values = list(record.items.values())
    if not isinstance(number, int):
        return record.items.get(number, UNKNOWN)
    found = values[: number + 1]
    # The first one is what all else is computed from: where it is None, nothing works.
    behind = found[1:] if found and isinstance(found[0], Array) else found
    is_known = 0 <= number < len(values) and all(_is_there(one) for one in behind)
    return found[number] if is_known else UNKNOWN


def record_or_tuple(record: Table, other: Value, join: Join) -> Table:
    """Return what stands for a record or for a tuple of its fields."""
    head = head_of(other)
    items = {
        key: join(value, head[k]) if k < len(head) else UNKNOWN
        for k, (key, value) in enumerate(record.items.items())
    }
    return Table(items, record.cls)


def without_none(value: Value) -> Value:
    """Return what `tuple(v for v in value if v is not None)` keeps of a tuple."""
    kept: list[Value] = []
    for item in head_of(value):
        if isinstance(item, Array) and not kept:
            # What all else is computed from: where it is None, nothing works.
            kept.append(replace(item, is_optional=False))
            continue
        if not _is_there(item):
            return Repeated(UNKNOWN, head=tuple(kept))
        kept.append(item)
    return Seq(tuple(kept)) if isinstance(value, Seq) else Repeated(UNKNOWN, head=tuple(kept))


def is_dropping_none(node: cst.CSTNode) -> bool:
    """Whether an expression is `(v for v in values if v is not None)`."""
    match node:
        case cst.GeneratorExp(
            elt=cst.Name(value=kept),
            for_in=cst.CompFor(
                target=cst.Name(value=name),
                ifs=[
                    cst.CompIf(
                        test=cst.Comparison(
                            left=cst.Name(value=asked),
                            comparisons=[
                                cst.ComparisonTarget(
                                    operator=cst.IsNot(), comparator=cst.Name(value="None")
                                )
                            ],
                        )
                    )
                ],
                inner_for_in=None,
            ),
        ):
            return kept == name == asked
    return False


def _is_there(value: Value) -> bool:
    """Whether a value is surely not None."""
    if isinstance(value, Array):
        return not value.is_optional
    return isinstance(value, Seq | Size) or (isinstance(value, Const) and value != NONE)


# -- changes -------------------------------------------------------------------------------------

# The methods of lists and dicts that change them.
_CHANGING: Final = frozenset(
    {
        *("append", "extend", "insert", "remove", "clear", "sort", "reverse", "pop"),
        *("update", "setdefault", "popitem"),
    }
)


def rebind(before: Value, after: Value, frame: Frame) -> None:
    """Let all local names that have a list or dict have it as it is after a change."""
    current: Frame | None = frame
    while current is not None:
        for name, value in current.names.items():
            if value is before:
                current.names[name] = after
        current = current.outer


def note_item(target: cst.Subscript, value: Value, frame: Frame, key: Value, join: Join) -> None:
    """Note that an item of a list or dict is assigned: ``sizes[0] = 3``.

    Args:
        target: The item.
        value: What it is.
        frame: The function.
        key: The key or position.
        join: Gives what stands for either of two values.
    """
    held = _held(target, frame)
    if isinstance(held, Repeated) and not held.head and not held.tail:
        element = join(held.element, value)
        after = UNKNOWN if isinstance(element, Unknown) else replace(held, element=element)
        rebind(held, after, frame)
    elif held is not None:
        rebind(held, _with_item(held, key, value), frame)


def note_deleted(target: cst.Subscript, frame: Frame) -> None:
    """Note that an item of a list or dict is deleted."""
    held = _held(target, frame)
    if held is not None:
        rebind(held, UNKNOWN, frame)


def _held(target: cst.Subscript, frame: Frame) -> Value | None:
    """Return the list or dict in a local name of which an item changes."""
    node: cst.BaseExpression = target.value
    is_deep = False
    while isinstance(node, cst.Subscript):
        node, is_deep = node.value, True
    if not isinstance(node, cst.Name):
        return None
    value = frame.lookup(node.value)
    if not isinstance(value, Table | Seq | Repeated):
        return None
    if is_deep:
        rebind(value, UNKNOWN, frame)
        return None
    return value


def _with_item(held: Value, key: Value, value: Value) -> Value:
    match held, key:
        case Table(items=items, cls=None), Const(value=name):
            return Table({**items, name: value})
        case Seq(items=found, is_list=is_list), Const(value=int(position)):
            if -len(found) <= position < len(found):
                others = list(found)
                others[position] = value
                return Seq(tuple(others), is_list)
    return UNKNOWN


def container_method(
    receiver: Value, name: str, passed: Sequence[Passed], frame: Frame, join: Join
) -> Value:
    """Return what a method of a list or dict returns; names that have it have it changed.

    Args:
        receiver: The list or dict.
        name: The method.
        passed: The arguments.
        frame: The function.
        join: Gives what stands for either of two values.
    """
    args = [one.value for one in passed if not one.keyword]
    read = _read(receiver, name, args)
    if read is not None and name == "pop" and isinstance(receiver, Repeated):
        rebind(receiver, replace(receiver, count=None), frame)
    if read is not None or name not in _CHANGING:
        return UNKNOWN if read is None else read
    keywords = {one.keyword: one.value for one in passed if one.keyword}
    after, result = _changed(receiver, name, args, keywords, join)
    rebind(receiver, UNKNOWN if any(one.star for one in passed) else after, frame)
    return result


def item_or_default(table: Mapping[object, Value], passed: Sequence[Value]) -> list[Value]:
    """Return what `get` of a dict may give: one value where its key is known."""
    key, default = passed[0], passed[1] if len(passed) == 2 else NONE
    if isinstance(key, Const):
        return [table.get(key.value, default)]
    return [*table.values(), default]


def _read(receiver: Value, name: str, args: Sequence[Value]) -> Value | None:
    """Return what a method returns that changes nothing; None for the others."""
    match name, receiver:
        case "pop", Repeated(element=element):
            return element
        case "items", Table(items=table):
            return Seq(tuple(Seq((Const(key), value)) for key, value in table.items()))
        case "values", Table(items=table):
            return Seq(tuple(table.values()))
        case "items", Repeated(element=element):
            return Repeated(Seq((UNKNOWN, element)), receiver.loop)
    return None


def _changed(
    receiver: Value, name: str, args: list[Value], keywords: Mapping[str, Value], join: Join
) -> tuple[Value, Value]:
    """Return a list or dict after a method call that changes it, and what the call returns."""
    match receiver, name, args:
        case Seq(items=items), "append", [value]:
            return Seq((*items, value), is_list=True), NONE
        case Repeated(), "append", [value] if longer := _more(receiver, (_item(value),)):
            return longer, NONE
        case Repeated(), "extend", [Seq(items=more)] if longer := _more(receiver, more):
            return longer, NONE
        case Seq(items=items), "extend", [Seq(items=more)]:
            return Seq((*items, *more), is_list=True), NONE
        case Repeated(element=element), "extend", [Seq(items=more)]:
            return replace(receiver, element=reduce(join, more, element), count=None), NONE
        case Repeated(element=element), "append", [value]:
            return replace(receiver, element=join(element, value), count=None), NONE
        case Table(items=table, cls=None), "update", [] | [Table()]:
            first = args[0].items if args and isinstance(args[0], Table) else {}
            given: dict[object, Value] = dict(keywords.items())
            return Table({**table, **first, **given}), NONE
    return UNKNOWN, UNKNOWN


# -- changes of settings --------------------------------------------------------------------------


def note_setting_call(node: cst.Call, frame: Frame) -> None:
    """Note a method call that changes a list or dict of settings."""
    match node.func:
        case cst.Attribute(value=cst.Name(value=name) as owner, attr=cst.Name(value=method)) if (
            method in _CHANGING | {"add", "discard"}
        ):
            forget_settings(name, frame)
            if frame.lookup(name) == UNKNOWN:
                frame.values[owner] = frame.values[node.func] = UNKNOWN


def forget_settings(name: str, frame: Frame) -> None:
    """Note that a list or dict of settings changes: nothing is known of it any more."""
    value = frame.lookup(name)
    is_bound = not frame.records or frame.binds_locals  # locals come when it counts
    if isinstance(value, Code | OfShapes) and is_bound and not frame.verbatim:
        _forget(value, frame)


def _forget(value: Value, frame: Frame) -> None:
    current: Frame | None = frame
    while current is not None:
        for name, one in current.names.items():
            if one is value or one == value:
                current.names[name] = UNKNOWN
        current = current.outer


def count_of(header: str, recorder: Recorder) -> str:
    """Return the code of how many iterations a loop has; empty where that is not known."""
    spelled = condition_of(header, recorder) if header else None  # a list that no loop makes
    node = None if spelled is None else parsed(spelled.code)
    while True:
        match node:
            case None:
                return ""
            case cst.Call(func=cst.Name(value="range"), args=[cst.Arg(value=count)]):
                return code_of(count)
            case cst.Call(
                func=cst.Name(value="reversed" | "enumerate"), args=[cst.Arg(value=inner)]
            ):
                node = inner
            case _:
                return f"len({code_of(node)})"


def number_of_items(header: str | None, recorder: Recorder) -> Dim | None:
    """Return how many iterations a loop over fields has; None where they do not say it."""
    count = count_of(header or "", recorder)
    if count.isdigit():
        return as_dim(int(count))
    return as_dim(Piece(count)) if count and is_of_fields(count) else None


# -- functions of lists ----------------------------------------------------------------------------


def is_regular(value: Repeated) -> bool:
    """Whether each iteration of a loop makes one item of a list."""
    return value.loop is not None and not value.head and value.parts is None


def over_values(name: str, args: Sequence[Value], recorder: Recorder) -> Value | None:
    """Return what `zip`, `enumerate` and `reversed` make of lists with submodules; else None."""
    lists = [arg for arg in args if isinstance(arg, Repeated)]
    if not lists:
        return None
    made = [one for one in lists if one.loop is not None]
    values = next((one for one in made if one.without_last), made[0] if made else lists[0])
    elements = tuple(element_of(arg)[0] for arg in args)
    loop, also = values.loop, values.also
    ends = [one.without_last for one in lists]
    without_last = None if None in ends else any(ends)
    match name.removeprefix("builtins."):
        case "len" if is_regular(values) and loop not in recorder.filtered and ends == [False]:
            count = number_of_items(recorder.headers.get(loop or 0, ("", ""))[1], recorder)
            return None if count is None else Size(count)
        case "enumerate" if values.parts and len(args) == 1:
            parts, orelse = (
                tuple(over_values(name, [one], recorder) or Seq((UNKNOWN, one)) for one in side)
                for side in (values.parts, values.orelse)
            )
            return replace(values, element=Seq((UNKNOWN, elements[0])), parts=parts, orelse=orelse)
        case "zip":
            # Lists that loops make in the same way are in step.
            is_cut = bool(values.without_last)
            alike = [
                one.loop
                for one in made
                if loop is not None
                and one.loop is not None
                and is_regular(one)
                and recorder.are_alike(loop, one.loop, cut=(is_cut, bool(one.without_last)))
            ]
            more = alike if is_regular(values) else []
            steps = dict.fromkeys(one for one in (*also, *more) if one != loop)
            return Repeated(Seq(elements), loop, tuple(steps), without_last=without_last)
        case "enumerate":
            is_place = loop is not None and len(args) == 1 and is_regular(values)
            number = Position("", loop or 0, also) if is_place else UNKNOWN
            return Repeated(Seq((number, elements[0])), loop, also, without_last=without_last)
        case "list" | "tuple" if values.head or values.tail or values.parts is not None:
            return values
        case "list" | "tuple" | "iter":
            return Repeated(elements[0], loop, also, without_last=without_last)
        case "reversed":
            return Repeated(elements[0])
    return None


def over_arrays(name: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value | None:
    """Return what a function makes of a list of arrays, or the list that it makes; else None."""
    call = Arguments(tuple(args), dict(keywords))
    module, _, function = name.rpartition(".")
    if function in ("split", "array_split") and module in _MODULES:
        return _split(call)
    match call.get(0, "arrays", "object", "a"):
        case Repeated(element=Array(shape=element), head=(), tail=(), count=count):
            pass
        case _:
            return None
    if name == "builtins.sum":
        return Array(element) if len(call.positional) == 1 and not call.named else None
    axis = call.integer(1, "axis", default=0)
    match function:
        case _ if module not in _MODULES:
            return None
        case "stack":
            return Array() if axis is None else Array(inserted(element, axis, count))
        case "concatenate" | "concat":
            size = None if axis is None else element.axis(axis)
            together = None if size is None or count is None else size.joined(count)
            return Array() if axis is None else Array(changed(element, axis, together))
        case "array" | "asarray":
            return Array(prefixed((count,), element))
    return None


_MODULES: Final = ("jax.numpy", "numpy")


def _split(call: Arguments) -> Value | None:
    """Return the parts of an array that is split into a number of parts that fields say."""
    array, where = call.get(0, "ary"), call.get(1, "indices_or_sections")
    axis = call.integer(2, "axis", default=0)
    is_open = isinstance(where, Code | Size) and number_of(where) is None
    if not isinstance(array, Array) or not is_open or axis is None:
        return None
    size, count = array.shape.axis(axis), dim_of(where)
    is_number = isinstance(where, Size) or (isinstance(where, Code) and where.holds == "number")
    part: Dim | None = None
    if size is not None and count is not None and is_number:
        part = size.part(count)
    return Repeated(Array(changed(array.shape, axis, part)), count=count if is_number else None)


# -- lists of submodules that loops and branches of the constructor fill ---------------------------


def is_rebuilt(one: Value, other: Value) -> bool:
    """Whether two submodules are one, as an iteration of a loop and the next one build it."""
    if not isinstance(one, ModuleValue) or not isinstance(other, ModuleValue):
        return False
    first, second = one.site, other.site
    return (
        first.node is second.node
        and first.target == second.target
        and bool(first.loops)
        and first.loops == second.loops
        and {name: (bound.value, bound.code) for name, bound in first.given.items()}
        == {name: (bound.value, bound.code) for name, bound in second.given.items()}
    )


def counting(value: Value) -> Value:
    """Return a list as it begins an iteration that notes what it appends."""
    if isinstance(value, Repeated) and (is_counted(value) or sites_in(value)):
        return Repeated(value.element, parts=())
    return value


def is_counted(value: Value) -> bool:
    """Whether a value is a list of which it is known what the constructor appends to it."""
    return isinstance(value, Repeated) and value.parts is not None


def grown(before: Value, stable: Value, after: Value, number: int, recorder: Recorder) -> Value:
    """Return what a name stands for after a loop of the constructor.

    Args:
        before: What it stands for before the loop.
        stable: What it stands for in any iteration.
        after: What the last iteration leaves; the submodules in it are those that count.
        number: The loop.
        recorder: What is written down.
    """
    if not isinstance(after, Repeated):
        return stable
    if after.parts is not None:
        iteration = _of_iteration(after.parts, number, recorder)
        if iteration is not None:
            return _continued(before, iteration)
        head = stable.head if isinstance(stable, Repeated) else ()
        after = Repeated(after.element, head=head)
    return after if sites_in(rest_of(after)) else stable


def _of_iteration(parts: tuple[Value, ...], number: int, recorder: Recorder) -> Repeated | None:
    """Return what a loop adds to a list, of what an iteration does; None where iterations differ."""
    match parts:
        case [Choice(options=[Repeated() as inner])] if all(
            number in site.loops for site in sites_in(inner)
        ):
            return Repeated(inner, number)
    if not parts or not all(_is_built(one, number, len(recorder.conditions)) for one in parts):
        return None
    match parts:
        case [ModuleValue() | Choice() as one] if all(
            site.loops[-1:] == (number,) for site in sites_in(one)
        ):
            return Repeated(one, number)
    return Repeated(_any_of(parts), number, parts=parts)


def _is_built(part: Value, number: int, depth: int) -> bool:
    """Whether an iteration of a loop builds what it appends, under so many conditions."""
    sites = sites_in(part)
    match part:
        case Repeated(condition=Piece(), parts=tuple() as parts, orelse=orelse):
            return all(_is_built(one, number, depth + 1) for one in (*parts, *orelse))
        case Repeated(parts=tuple() as parts):
            return all(_is_built(one, number, depth) for one in parts)
        case Choice(options=options):
            # A branch within the expression says which one it is.
            return len(sites) == len(options) and all(
                number in site.loops and len(site.conditions) == depth + 1 for site in sites
            )
    return all(number in site.loops and len(site.conditions) == depth for site in sites)


def _parts_of(value: Value) -> tuple[Value, ...] | None:
    match value:
        case Repeated(loop=None, parts=tuple() as parts) | Seq(items=parts, is_list=True):
            return parts
    return None


def sometimes(one: Value, other: Value, code: str, recorder: Recorder) -> Repeated | None:
    """Return a list of submodules that is longer on one side of a branch; None for other values.

    Args:
        one: The list where the condition holds.
        other: The list where it does not.
        code: The condition, which the constructor decides.
        recorder: What is written down.
    """
    first, second = _parts_of(one), _parts_of(other)
    if first is None or second is None or first == second:
        return None
    condition = condition_of(code, recorder)
    if condition is None or not any(sites_in(part) for part in (*first, *second)):
        return None
    common = 0
    while first[common : common + 1] == second[common : common + 1]:
        common += 1
    before, more, others = first[:common], first[common:], second[common:]
    part = Repeated(_any_of((*more, *others)), parts=more, condition=condition, orelse=others)
    return Repeated(_any_of((*before, part)), parts=(*before, part))


def in_uneven(one: Value, other: Value) -> list[Site]:
    """Return the submodules in two lists that a branch fills differently; none of other values."""
    first, second = _parts_of(one), _parts_of(other)
    if first is None or second is None or first == second:
        return []
    return [*sites_in(one), *sites_in(other)]


def _continued(before: Value, more: Repeated) -> Value:
    """Return a list with what a loop adds to it."""
    match before:
        case Repeated(loop=None, parts=tuple()):
            return with_part(before, more)
        case Seq(items=()):
            return more
        case Seq(items=items) if more.parts is None:
            return Repeated(_any_of((*items, more)), more.loop, head=items)
        case Seq(items=items):
            return Repeated(_any_of((*items, more)), parts=(*items, more))
        case Repeated():
            return Repeated(_any_of((before, more)), parts=(before, more))
    return UNKNOWN


def _item(value: Value) -> Value:
    """Return an item as a part of a list: a list among the parts stands for several items."""
    return Choice((value,)) if isinstance(value, Repeated) else value


def _more(value: Repeated, items: tuple[Value, ...]) -> Repeated | None:
    """Return a list with more items, of which it is known what the constructor appends; else None."""
    if value.parts is not None or (value.loop is not None and sites_in(value)):
        return with_part(value, *items)
    return None


def with_part(value: Repeated, *parts: Value) -> Repeated:
    """Return a list with more at its end."""
    before = (value,) if value.parts is None or value.loop is not None else value.parts
    return Repeated(_any_of((Repeated(value.element), *parts)), parts=(*before, *parts))


def is_longer(value: Value, before: Value | None) -> bool:
    """Whether a list is another one with more at its end."""
    if not isinstance(value, Repeated) or not isinstance(before, Repeated) or value.parts is None:
        return False
    first = (before,) if before.parts is None else before.parts
    return value.parts[: len(first)] == first


def _any_of(parts: tuple[Value, ...]) -> Value:
    """Return what any item stands for, of a list with these parts."""
    found: list[Value] = []
    for part in parts:
        item = part.element if isinstance(part, Repeated) else part
        for one in item.options if isinstance(item, Choice) else (item,):
            if one != UNKNOWN:
                found = [each for each in found if each != one and not is_rebuilt(each, one)]
                found.append(one)
    return found[0] if len(found) == 1 else Choice(tuple(found)) if found else UNKNOWN


def is_continued(value: Repeated) -> bool:
    """Whether a list is a few submodules, and behind them those that one loop makes."""
    first = [site for item in value.head for site in sites_in(item)]
    rest = sites_in(later_in(value))
    others = {id(site) for site in (*first, *rest)}
    is_whole = all(id(site) in others for site in sites_in(value.element))
    return value.loop is not None and bool(rest) and is_whole and not any(s.loops for s in first)


def later_in(value: Repeated) -> Value:
    """Return what the loop makes that goes on with a list."""
    sites = [site for site in sites_in(value.element) if site.loops == (value.loop,)]
    return Choice(tuple(ModuleValue(site) for site in sites))


# -- tuples of numbers, as code --------------------------------------------------------------------

_TUPLES: Final = ("tuple", "Tuple")


def with_ends(value: Value, left: Value, right: Value) -> Value:
    """Return the sum of two tuples with what is known of its last items."""
    is_sum = isinstance(value, Code) and isinstance(left, Code)
    return _coded(value, right) if is_sum and items_of(right) is not None else value


def starred_tuple(node: cst.Tuple | cst.List, items: list[Value]) -> Value | None:
    """Return a tuple that unpacks the shape of an array, or a list of submodules; None for others."""
    parts: list[Value] = []
    if any(isinstance(one, Repeated) and sites_in(one) for one in items):
        return _of_parts(node, items)
    for element, item in zip(node.elements, items, strict=True):
        is_starred = isinstance(element, cst.StarredElement)
        if is_starred and not isinstance(item, ShapeOf | Seq):
            return None
        parts.append(item if is_starred else Seq((item,)))
    found = reduce(lambda one, other: shapes.binary("+", one, other), parts)
    return found if isinstance(found, ShapeOf) else None


def _of_parts(node: cst.Tuple | cst.List, items: list[Value]) -> Value | None:
    """Return a list that unpacks lists of submodules."""
    parts: list[Value] = []
    for element, item in zip(node.elements, items, strict=True):
        if not isinstance(element, cst.StarredElement):
            parts.append(item)
            continue
        inner = _parts_of(replace(item, is_list=True) if isinstance(item, Seq) else item)
        if inner is None and not isinstance(item, Repeated):
            return None
        parts += (item,) if inner is None else inner
    return Repeated(_any_of(tuple(parts)), parts=tuple(parts))


def with_starred(value: Value, node: cst.Tuple | cst.List, items: list[Value]) -> Value:
    """Return a tuple that unpacks fields with what is known of its last items."""
    stars = [k for k, one in enumerate(node.elements) if isinstance(one, cst.StarredElement)]
    last = items[stars[-1] + 1 :]
    return _coded(value, Seq(tuple(last))) if last else value


def one_by_one(one: Field, code: str) -> CodeTuple | None:
    """Return a field whose type says how many numbers it holds; None for other fields."""
    match one.annotation.annotation:
        case cst.Subscript(value=kind, slice=slices) if dotted(kind).rpartition(".")[2] in _TUPLES:
            kinds = [code_of(each) for each in slices]
        case _:
            return None
    if any(kind.rstrip(", ") != "int" for kind in kinds) or not _agrees(one.default, len(kinds)):
        return None
    dims = tuple(as_dim(Piece(f"{code}[{k}]")) for k in range(len(kinds)))
    return CodeTuple(code, shape=Shape(dims))


def either_tuple(value: Code, condition: Piece | None, one: Value, other: Value) -> Code:
    """Return one of two tuples of numbers with its sizes; other code as it is."""
    first, second = (items_of(side) or () for side in (one, other))
    dims = [(dim_of(a), dim_of(b)) for a, b in zip(first, second, strict=False)]
    known = [chosen(condition, a, b) for a, b in dims if a and b] if condition else []
    if not known or not len(known) == len(first) == len(second):
        return value
    return CodeTuple(value.code, value.binders, shape=Shape(tuple(known)), is_sure=True)


def _agrees(default: cst.BaseExpression | None, count: int) -> bool:
    """Whether the default of a field is not of another form than its type says."""
    match default:
        case None:
            return True
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            return len(elements) == count
    return False


def _coded(value: Value, last: Value) -> Value:
    if not isinstance(value, Code):
        return value
    return CodeTuple(
        value.code, value.binders, shape=Shape(wanted_shape(last).dims, Lead("", None))
    )
