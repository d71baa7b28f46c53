"""Lists and tuples of unknown length, and what changes of containers leave in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.linen.domain.dims import Dim
from typed_nnx_codegen.migrate.linen.domain.frames import Frame
from typed_nnx_codegen.migrate.linen.domain.references import (
    Choice,
    Grown,
    Headed,
    ModuleValue,
    Repeated,
)
from typed_nnx_codegen.migrate.linen.domain.values import (
    NONE,
    UNKNOWN,
    Array,
    Code,
    Const,
    Seq,
    Shape,
    Size,
    Slice,
    Table,
    Unknown,
    Value,
)
from typed_nnx_codegen.migrate.linen.shapes.axes import changed, inserted
from typed_nnx_codegen.migrate.linen.shapes.operands import Arguments, dim_of, number_of, prefixed


def head_of(value: Value) -> tuple[Value, ...]:
    """Return the items that a tuple begins with, as far as they are known."""
    if isinstance(value, Seq):
        return value.items
    return value.head if isinstance(value, Headed) else ()


def tail_of(value: Value) -> tuple[Value, ...]:
    """Return the items that a tuple ends with, as far as they are known."""
    if isinstance(value, Seq):
        return value.items
    return value.tail if isinstance(value, Headed) else ()


def added(left: Value, right: Value) -> Value | None:
    """Return two tuples one after the other; None unless the length of one is not known."""
    if isinstance(left, Grown) and isinstance(right, Seq):
        return replace(left, parts=(*left.parts, *right.items))
    left, right = _as_tuple(left), _as_tuple(right)
    for side in (left, right):
        is_open = isinstance(side, Headed) or _is_of_arrays(side)
        if not is_open and not isinstance(side, Seq):
            return None
    if isinstance(left, Repeated):
        tail = (*tail_of(left), *right.items) if isinstance(right, Seq) else tail_of(right)
        return Headed(UNKNOWN, head=head_of(left), tail=tail)
    if isinstance(right, Repeated):
        return Headed(UNKNOWN, head=(*head_of(left), *head_of(right)), tail=tail_of(right))
    return None


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
    return Headed(UNKNOWN, head=tuple(head))


def _is_of_arrays(value: Value) -> bool:
    """Whether a value is a list of arrays, or of what nothing is known of: not of submodules."""
    return isinstance(value, Repeated) and isinstance(value.element, Array | Unknown)


def item_of(value: Headed, index: Value) -> Value:
    """Return what a subscript takes out of a tuple whose length is not known."""
    if isinstance(index, Const) and isinstance(index.value, int):
        if -len(value.tail) <= index.value < 0:
            return value.tail[index.value]
        is_known = 0 <= index.value < len(value.head)
        return value.head[index.value] if is_known else value.element
    if isinstance(index, Slice):
        start = index.start.value if isinstance(index.start, Const) else -1
        first = 0 if start is None else start
        if isinstance(first, int) and first >= 0 and index.stop == NONE and index.step == NONE:
            tail = () if first else value.tail
            element = _without(value, first)
            return replace(value, element=element, head=value.head[first:], tail=tail)
        return Repeated(value.element)
    return value.element


def rest_of(value: Headed) -> Repeated:
    """Return what comes after the items that are known."""
    return Repeated(_without(value, len(value.head)), value.loop, also=value.also)


def _without(value: Headed, count: int) -> Value:
    """Return what any item but the first ones stands for: a submodule is in a list once."""
    if not isinstance(value.element, Choice):
        return value.element
    first = [one for one in value.head[:count] if isinstance(one, ModuleValue)]
    options = tuple(one for one in value.element.options if one not in first)
    return options[0] if len(options) == 1 else Choice(options) if options else value.element


def unpacked(value: Repeated, count: int) -> list[Value]:
    """Return the items of a tuple that is unpacked without a star."""
    head = head_of(value)[:count]
    return [*head, *[value.element] * (count - len(head))]


def without_none(value: Value) -> Value:
    """Return what `tuple(v for v in value if v is not None)` keeps of a tuple."""
    kept: list[Value] = []
    for item in head_of(value):
        if isinstance(item, Array) and not kept:
            # What all else is computed from: where it is None, nothing works.
            kept.append(replace(item, is_optional=False))
            continue
        if not _is_there(item):
            return Headed(UNKNOWN, head=tuple(kept))
        kept.append(item)
    return Seq(tuple(kept)) if isinstance(value, Seq) else Headed(UNKNOWN, head=tuple(kept))


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


def record_or_tuple(
    record: Table, other: Seq | Headed, joined: Callable[[Value, Value], Value]
) -> Table:
    """Return what stands for a record or for a tuple of its fields."""
    head = head_of(other)
    items = {
        key: joined(value, head[k]) if k < len(head) else UNKNOWN
        for k, (key, value) in enumerate(record.items.items())
    }
    return Table(items, record.cls)


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


def _is_there(value: Value) -> bool:
    """Whether a value is surely not None."""
    if isinstance(value, Array):
        return not value.is_optional
    return isinstance(value, Seq | Size) or (isinstance(value, Const) and value != NONE)


# The methods of lists and dicts that change them.
CHANGING: Final = frozenset(
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


def note_item(
    target: cst.Subscript,
    value: Value,
    frame: Frame,
    key: Value,
    joined: Callable[[Value, Value], Value],
) -> None:
    """Note that an item of a list or dict is assigned: ``sizes[0] = 3``.

    Args:
        target: The item.
        value: What it is.
        frame: The function.
        key: The key or position.
        joined: Gives what stands for either of two values.
    """
    held = _held(target, frame)
    if isinstance(held, Repeated) and not isinstance(held, Headed):
        element = joined(held.element, value)
        after = UNKNOWN if isinstance(element, Unknown) else replace(held, element=element)
        rebind(held, after, frame)
    elif held is not None:
        rebind(held, _with_item(held, key, value), frame)


def note_deleted(target: cst.Subscript, frame: Frame, key: Value) -> None:
    """Note that an item of a list or dict is deleted."""
    held = _held(target, frame)
    if held is None:
        return
    if isinstance(held, Table) and isinstance(key, Const) and not held.cls:
        rest = {name: one for name, one in held.items.items() if name != key.value}
        rebind(held, Table(rest), frame)
        return
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
    if not isinstance(value, Table | Seq | Repeated | Headed):
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
                changed = list(found)
                changed[position] = value
                return Seq(tuple(changed), is_list)
    return UNKNOWN


def changed_by(
    receiver: Value, name: str, args: Sequence[Value], keywords: Mapping[str, Value]
) -> tuple[Value, Value] | None:
    """Return a list or dict after a method call, and what the call returns.

    Args:
        receiver: The list or dict.
        name: The method.
        args: Its positional arguments.
        keywords: Its keyword arguments.

    Returns:
        Both; None where the method changes nothing.
    """
    if name not in CHANGING:
        return None
    match receiver, name, list(args):
        case Table(items=items, cls=None), "update", [] | [Table()]:
            first = args[0].items if args and isinstance(args[0], Table) else {}
            merged: dict[object, Value] = {**items, **first}
            for key, value in keywords.items():
                merged[key] = value
            return Table(merged), NONE
        case Table(items=items, cls=None), "setdefault", [Const(value=key), *rest]:
            value = items.get(key, rest[0] if rest else NONE)
            return Table({**items, key: value}), value
        case Table(items=items, cls=None), "pop", [Const(value=key), *rest]:
            kept = {one: value for one, value in items.items() if one != key}
            return Table(kept), items.get(key, rest[0] if rest else UNKNOWN)
        case Seq(items=items), "extend", [Seq(items=more)]:
            return Seq((*items, *more), is_list=True), NONE
        case Seq(items=items), "insert", [Const(value=int(place)), value]:
            return Seq((*items[:place], value, *items[place:]), is_list=True), NONE
        case Seq(items=items), "clear", []:
            return Seq((), is_list=True), NONE
        case Seq(items=items), "reverse", []:
            return Seq(items[::-1], is_list=True), NONE
        case Seq(items=items), "pop", [Const(value=int(place))]:
            if -len(items) <= place < len(items):
                at = place % len(items)
                return Seq((*items[:at], *items[at + 1 :]), is_list=True), items[at]
    return UNKNOWN, UNKNOWN


_MODULES: Final = ("jax.numpy.", "numpy.")


def over_arrays(name: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value | None:
    """Return what a function makes of such a list, or the list that it makes; else None.

    Args:
        name: The public name of the function.
        args: The arguments by position.
        keywords: The arguments by name.
    """
    module = next((one for one in _MODULES if name.startswith(one)), "")
    call = Arguments(tuple(args), dict(keywords))
    function = name.removeprefix(module)
    if not module:
        return _sum(call) if name == "builtins.sum" else None
    if function in ("split", "array_split"):
        return _split(call)
    rule = _RULES.get(function)
    element = _element(call.get(0, "arrays", "object", "a"))
    return None if rule is None or element is None else rule(element, call)


def _element(value: Value) -> Shape | None:
    """Return the shape of each array of a list; None where the value is another."""
    if not isinstance(value, Repeated) or isinstance(value, Headed):
        return None
    return value.element.shape if isinstance(value.element, Array) else None


def _split(call: Arguments) -> Value | None:
    """Return the parts of an array that is split into a number of parts that fields say."""
    array, where = call.get(0, "ary"), call.get(1, "indices_or_sections")
    axis = call.integer(2, "axis", default=0)
    is_open = isinstance(where, Code | Size) and number_of(where) is None
    if not isinstance(array, Array) or not is_open or axis is None:
        return None
    size, count = array.shape.axis(axis), dim_of(where)
    is_number = isinstance(where, Size) or (isinstance(where, Code) and where.is_number)
    part: Dim | None = None
    if size is not None and count is not None and is_number:
        part = size // count
    return Repeated(Array(changed(array.shape, axis, part)))


def _stacked(element: Shape, call: Arguments) -> Value:
    axis = call.integer(1, "axis", default=0)
    return Array() if axis is None else Array(inserted(element, axis, None))


def _joined(element: Shape, call: Arguments) -> Value:
    axis = call.integer(1, "axis", default=0)
    return Array() if axis is None else Array(changed(element, axis, None))


def _as_array(element: Shape, call: Arguments) -> Value:
    del call
    return Array(prefixed((None,), element))


def _sum(call: Arguments) -> Value | None:
    element = _element(call.get(0))
    is_plain = len(call.positional) == 1 and not call.named
    return Array(element) if element is not None and is_plain else None


_RULES: Final[dict[str, Callable[[Shape, Arguments], Value]]] = {
    "stack": _stacked,
    "concatenate": _joined,
    "concat": _joined,
    "array": _as_array,
    "asarray": _as_array,
    **dict.fromkeys(
        ("mean", "sum", "max", "min"),
        lambda element, call: (
            Array(element) if call.integer(1, "axis", default=1) == 0 else Array()
        ),
    ),
}
