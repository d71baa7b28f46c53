"""Tuples whose length depends on the call: `(x, weights) if output_weights else (x,)`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import libcst as cst

from typed_nnx_codegen.migrate.linen.running.references import (
    Choice,
    Grown,
    Headed,
    ModuleValue,
    Repeated,
)
from typed_nnx_codegen.migrate.linen.running.values import (
    NONE,
    UNKNOWN,
    Array,
    Const,
    Seq,
    Size,
    Slice,
    Table,
    Unknown,
    Value,
)


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
    return Repeated(_without(value, len(value.head)), value.loop, value.code, also=value.also)


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
