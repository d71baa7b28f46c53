"""What kinds of things fields hold, without what only the module that gives them knows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import libcst as cst

from typed_nnx_codegen.migrate.linen.layers import find_layer
from typed_nnx_codegen.migrate.linen.modules.classes import LinenClass
from typed_nnx_codegen.migrate.linen.plan import Bound
from typed_nnx_codegen.migrate.linen.running.frames import FunctionRef
from typed_nnx_codegen.migrate.linen.running.references import (
    ClassRef,
    ClassTransform,
    FieldModule,
    ModuleValue,
    Partial,
    Ref,
)
from typed_nnx_codegen.migrate.linen.running.values import (
    UNKNOWN,
    Const,
    Seq,
    Size,
    Table,
    Value,
)


def held_kind(value: Value) -> Value | None:
    """Return what kind of thing a value is for whoever it is given to; None for a plain value."""
    match value:
        case Ref(name=name, subclass=subclass):
            return Ref(name, subclass=subclass)
        case ClassRef(cls=cls):
            return ClassRef(cls, cls.name, cls.home)
        case FunctionRef(frame=frame) if not frame.names:
            return value
        case FieldModule(default=default):
            return FieldModule("", default)
        case ModuleValue(site=site):
            target = site.target
            known = isinstance(target, LinenClass)
            return FieldModule("", ClassRef(target, "") if known else Ref(target))  # type: ignore[arg-type]  # `known` tells which it is
        case Partial():
            return _partial(value)
    return None


def _partial(value: Partial) -> Value | None:
    function = held_kind(value.function)
    if function is None:
        return None
    # Another partial may have other sizes: those of what is built are asked of it.
    is_open = not isinstance(function, Ref)
    return Partial(
        function,
        tuple(_bound(one, is_open=True) for one in value.args),
        {
            name: _bound(one, is_open=is_open or name == "features")
            for name, one in value.keywords.items()
        },
    )


def _bound(one: Bound, *, is_open: bool) -> Bound:
    kind = held_kind(one.value)
    if kind is None:
        kind = UNKNOWN if is_open else _literal(one.value)
    return replace(one, value=kind)


def _literal(value: Value) -> Value:
    """Return a value if it is literal; UNKNOWN for one that other modules cannot say."""
    match value:
        case Const():
            return Const(value.value)
        case Size(dim=dim):
            return value if dim.constant is not None else UNKNOWN
        case Seq(items=items):
            return replace(value, items=tuple(_literal(item) for item in items))
        case Table(items=table):
            return Table({key: _literal(item) for key, item in table.items()})
    return UNKNOWN


def joined_kinds(kinds: Iterable[Value]) -> list[Value]:
    """Return different kinds; partials of one thing are one, with what is literal in all of them."""
    found: list[Value] = []
    for kind in kinds:
        for position, other in enumerate(found):
            if _is_same(kind, other):
                found[position] = _joined(other, kind)
                break
        else:
            found.append(kind)
    return found


def with_counterpart(kinds: list[Value]) -> list[Value]:
    """Return the kinds of layers that NNX has, where it has any of them.

    Whoever gives another one gets an error: the class is none of NNX.
    """
    return [kind for kind in kinds if not _is_without(kind)] or kinds


def _is_without(kind: Value) -> bool:
    function = kind.function if isinstance(kind, Partial) else kind
    layer = find_layer(function.name) if isinstance(function, Ref) else None
    return layer is not None and not layer.nnx


def _is_same(one: Value, other: Value) -> bool:
    if isinstance(one, Partial) and isinstance(other, Partial):
        return _is_same(one.function, other.function)
    if isinstance(one, FunctionRef) and isinstance(other, FunctionRef):
        return one.node is other.node
    return one == other


def _joined(one: Value, other: Value) -> Value:
    if not isinstance(one, Partial) or not isinstance(other, Partial):
        return one
    names = dict.fromkeys((*one.keywords, *other.keywords))
    keywords: dict[str, Bound] = {}
    is_changed = len(one.args) != len(other.args)
    for name in names:
        first, second = one.keywords.get(name), other.keywords.get(name)
        if first is None or second is None:
            keywords[name] = first or second or Bound(UNKNOWN, "")
            is_changed = is_changed or first is None
            continue
        value = first.value if _is_same(first.value, second.value) else UNKNOWN
        code = None if second.code is None else first.code
        is_changed = is_changed or value != first.value or code != first.code
        keywords[name] = replace(first, value=value, code=code)
    args = one.args if len(one.args) == len(other.args) else ()
    return Partial(one.function, args, keywords) if is_changed else one


def in_field(kind: Value, code: str, names: dict[tuple[str, ...], str]) -> Value:
    """Return a kind of thing as a module finds it in one of its fields.

    Args:
        kind: What kind of thing it is.
        code: The expression for the field.
        names: The keywords of methods for what is given at calls, by where it is in partials.
    """
    match kind:
        case Ref():
            return replace(kind, code=code)
        case ClassRef(cls=cls):
            return ClassRef(cls, code)
        case FunctionRef(node=node, frame=frame):
            return FunctionRef(node, frame, code)
        case FieldModule(default=default):
            return FieldModule(code.removeprefix("self."), default)
        case Partial():
            return _partial_in_field(kind, code, names, ())
        case ClassTransform():
            return kind
    return UNKNOWN


def _partial_in_field(
    kind: Partial, code: str, names: dict[tuple[str, ...], str], path: tuple[str, ...]
) -> Partial:
    keywords: dict[str, Bound] = {}
    for name, one in kind.keywords.items():
        below = (*path, name)
        value = one.value
        if isinstance(value, Partial):
            value = _partial_in_field(value, f"{code}_{name}", names, below)
        if below in names:
            keywords[name] = Bound(value, None, cst.Name(names[below]), hidden=True)
        else:
            keywords[name] = Bound(value, one.code or "...", one.node, hidden=True)
    args = tuple(replace(one, code=one.code or "...", hidden=True) for one in kind.args)
    return Partial(kind.function, args, keywords, code)
