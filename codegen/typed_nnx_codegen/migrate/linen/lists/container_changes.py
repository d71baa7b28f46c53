"""Changes of lists and dicts in local names: what they hold afterwards."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.linen.running.frames import Frame
from typed_nnx_codegen.migrate.linen.running.references import Headed, Repeated
from typed_nnx_codegen.migrate.linen.running.values import (
    NONE,
    UNKNOWN,
    Const,
    Seq,
    Table,
    Unknown,
    Value,
)

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
