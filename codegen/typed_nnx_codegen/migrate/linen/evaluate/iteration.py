"""What loops go over, and what an iteration leaves behind."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.linen.domain.code import parsed
from typed_nnx_codegen.migrate.linen.domain.dims import Atom, Dim, Piece, as_dim, chosen
from typed_nnx_codegen.migrate.linen.domain.frames import Frame
from typed_nnx_codegen.migrate.linen.domain.references import (
    Choice,
    FieldModule,
    ModuleValue,
    Repeated,
    SizedList,
    sites_in,
)
from typed_nnx_codegen.migrate.linen.domain.values import (
    UNKNOWN,
    Array,
    Code,
    Seq,
    Shape,
    Table,
    Value,
)
from typed_nnx_codegen.migrate.linen.evaluate.merging import Merging, Running, is_same
from typed_nnx_codegen.migrate.linen.write.constructor_code import ConstructorCode

_MOST_TRIALS: Final = 4
Names = dict[str, Value]
_COUNTERS: Final = ("range", "enumerate")
_MOST_UNROLLED: Final = 64
_Names = dict[str, Value]
# The condition for a loop to run, and what its targets are in the last iteration; None if unknown.
Ended = tuple[str, dict[str, str]] | None


def last_iteration(target: cst.BaseExpression, iterable: cst.BaseExpression, header: str) -> Ended:
    """Return the condition for a loop to run, and what its targets are in the last iteration."""
    match target, iterable:
        case cst.Name(value=name), cst.Call(func=cst.Name(value="range"), args=[arg]):
            del arg
            bound = header[len("range(") : -1]
            return f"{bound} > 0", {name: f"({bound} - 1)"}
        case (
            cst.Tuple(elements=[cst.Element(value=cst.Name(value=index)), cst.Element(value=item)]),
            cst.Call(func=cst.Name(value="enumerate"), args=[_]),
        ):
            inner = _as_list(header[len("enumerate(") : -1])
            ends = {index: f"(len({inner}) - 1)", **dict(_parts_of(item, f"{inner}[-1]"))}
            return inner, ends
    inner = _as_list(header)
    ends = dict(_parts_of(target, f"{inner}[-1]"))
    return (inner, ends) if ends else None


def _as_list(code: str) -> str:
    """Return the code of a list; what a call makes may have no length, as pairs of two lists."""
    return f"list({code})" if isinstance(parsed(code), cst.Call) else code


def _parts_of(target: cst.BaseExpression, code: str) -> Iterator[tuple[str, str]]:
    """Yield the names in the target of a loop, and the parts of an item that they are bound to."""
    match target:
        case cst.Name(value=name):
            yield name, code
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            if not any(isinstance(one, cst.StarredElement) for one in elements):
                for place, one in enumerate(elements):
                    yield from _parts_of(one.value, f"{code}[{place}]")


def header_of(node: cst.BaseExpression, writer: ConstructorCode, frame: Frame) -> str | None:
    """Return what a loop of the constructor goes over; None where only the call knows."""
    match node:
        case cst.Call(func=cst.Name(value=name), args=args) if (
            name in _COUNTERS and frame.lookup(name) is None
        ):
            codes = [writer.of(arg.value, frame) for arg in args]
            known = [code for code in codes if code is not None]
            if len(known) != len(codes) or any(arg.star for arg in args):
                return None
            keywords = [f"{arg.keyword.value}=" if arg.keyword else "" for arg in args]
            pairs = zip(keywords, known, strict=True)
            return f"{name}({', '.join(keyword + code for keyword, code in pairs)})"
    if isinstance(frame.seen(node), Array):
        return None
    return writer.of(node, frame)


def unrolled(values: Value, header: str | None) -> list[Value] | None:
    """Return the items to go through one by one: submodules and arrays differ, settings do not."""
    if not isinstance(values, Seq) or len(values.items) > _MOST_UNROLLED:
        return None
    differ = header is None or any(holds_modules(item) for item in values.items)
    return list(values.items) if differ else None


def holds_modules(value: Value) -> bool:
    """Whether a value holds submodules or arrays."""
    if isinstance(value, Seq):
        return any(holds_modules(item) for item in value.items)
    return isinstance(value, (ModuleValue, FieldModule, Choice, Array, Repeated))


def size_reader(
    name: str, value: Value, one: Running, frame: Frame
) -> Callable[[], Value | Dim | None]:
    """Return what reads the value of a running local at the end of an iteration."""
    path = _path_to(value, one.local) or ()

    def read() -> Value | Dim | None:
        after: Value | None = frame.names.get(name)
        for step in path:
            after = _item(after, step)
        if not isinstance(after, Array):
            return after
        found = value
        for step in path:
            found = _item(found, step)
        return after.shape.axis(_axis_of(found, one.local))

    return read


def _path_to(value: Value, local: str) -> tuple[object, ...] | None:
    """Return the keys and positions at which a list or dict has a running local; None if none."""
    match value:
        case Code(code=code):
            return () if code == local else None
        case SizedList():
            return () if value.local == local else None
        case Array():
            return () if _axis_of(value, local) else None
        case Seq(items=items):
            parts: list[tuple[object, Value]] = list(enumerate(items))
        case Table(items=table):
            parts = list(table.items())
        case _:
            return None
    for key, part in parts:
        found = _path_to(part, local)
        if found is not None:
            return (key, *found)
    return None


def _item(value: Value | None, key: object) -> Value:
    match value:
        case Seq(items=items) if isinstance(key, int) and key < len(items):
            return items[key]
        case Table(items=table):
            return table.get(key, UNKNOWN)
    return UNKNOWN


def _axis_of(value: Value, local: str) -> int:
    """Return the axis of an array whose size is a running local, from the end; 0 if none is."""
    dims = value.shape.dims if isinstance(value, Array) else ()
    for position, dim in enumerate(dims):
        if dim is not None and dim.atom == Piece(local):
            return position - len(dims)
    return 0


def same_but_running(now: Array, after: Array) -> bool:
    """Whether an array has the same sizes but where they run."""
    count = len(now.shape.dims)
    shape = after.shape.expanded(count)
    if len(shape.dims) < count:
        return False
    for position in range(-count, 0):
        dim = now.shape.dims[position]
        is_running = dim is not None and isinstance(dim.atom, Piece)
        if dim is not None and not is_running and dim != shape.dims[position]:
            return False
        if is_running and shape.dims[position] is None:
            return False
    return True


def with_running(now: Array, after: Array, running: set[str]) -> Array:
    """Return what an iteration leaves behind, with the locals for the sizes that run already."""
    count = len(now.shape.dims)
    shape = after.shape.expanded(count)
    dims = list(shape.dims)
    for position in range(-min(count, len(dims)), 0):
        dim = now.shape.dims[position]
        atom = None if dim is None else dim.atom
        if isinstance(atom, Piece) and atom.code in running and dims[position] is not None:
            dims[position] = dim
    return replace(after, shape=Shape(tuple(dims), shape.lead))


def without_sizes(value: Value) -> Value:
    """Return a value of which only the kind is known."""
    return Array() if isinstance(value, Array) else UNKNOWN


def literal_size(code: str) -> Dim | None:
    """Return the size that a literal is; None for other code."""
    return as_dim(int(code)) if code.lstrip("-").isdigit() else None


def inner_name(name: str, number: int) -> str:
    """Return what stands for the target of a loop of a submodule: no other loop has it."""
    return f"{name}_of_loop{number}"


def left(entry: Value, after: Value, last: Ended, number: int) -> Value:
    """Return what a name stands for after a loop, from its last iteration."""
    if not isinstance(entry, Array) or not isinstance(after, Array) or last is None:
        return without_sizes(after)
    condition, ends = last
    count = len(after.shape.dims)
    first = entry.shape.expanded(count)
    dims: list[Dim | None] = []
    for position in range(-count, 0):
        dim = _ended(after.shape.dims[position], ends, number)
        other = first.dims[position] if len(first.dims) >= -position else None
        if dim is None or other is None:
            dims.append(None)
        else:
            dims.append(chosen(Piece(condition), dim, other))
    return Array(Shape(tuple(dims), after.shape.lead), after.dtype)


def _ended(dim: Dim | None, ends: dict[str, str], number: int) -> Dim | None:
    """Return a size as it is in the last iteration of a loop; None where that is not known."""
    if dim is None:
        return None
    values: dict[Atom, Dim] = {}
    home = f"loop{number}"
    for atom in dim.atoms():
        if not isinstance(atom, Piece):
            continue
        code = atom.code
        for name, end in ends.items():
            code = re.sub(rf"\b{inner_name(name, number)}\b", lambda _, end=end: end, code)  # type: ignore[misc]  # mypy infers no lambda with a default
        if f"_of_{home}" in code:
            return None
        values[atom] = as_dim(Piece(code, "" if atom.home == home else atom.home))
    return dim.replaced(values)


def stable(
    merging: Merging, before: Names, frame: Frame, run: Callable[[], None]
) -> tuple[list[tuple[Running, Callable[[], Value | Dim | None]]], Names]:
    """Return what names stand for in each iteration, and the locals that run.

    The loop is gone through for a trial, until what it is entered with stands for what it
    leaves behind, too.
    """
    names = dict(before)
    running: dict[str, tuple[Running, Callable[[], Value | Dim | None]]] = {}
    after = names
    changed: list[Value] = []
    for _ in range(_MOST_TRIALS):
        after = trial(names, frame, run)
        changed = []
        for name, value in list(names.items()):
            if name not in after or is_same(after[name], value):
                continue
            found = _run(merging, name, before[name], value, after[name], frame, running)
            changed += [] if is_same(found, value) else [found]
            names[name] = found
        if not changed:
            break
    else:
        # Lists of submodules have no sizes that others depend on.
        is_open = not all(isinstance(one, Repeated) and sites_in(one) for one in changed)
        for name in names if is_open else ():
            if name in after and names[name] != before[name]:
                is_list = isinstance(names[name], Repeated) and sites_in(names[name])
                names[name] = names[name] if is_list else without_sizes(names[name])
    return list(running.values()), names


def _run(
    merging: Merging,
    name: str,
    entry: Value,
    now: Value,
    after: Value,
    frame: Frame,
    running: dict[str, tuple[Running, Callable[[], Value | Dim | None]]],
) -> Value:
    """Return what a name stands for that an iteration leaves with another value."""
    if name in running or any(key.startswith(f"{name}/") for key in running):
        if isinstance(now, Array) and isinstance(after, Array) and same_but_running(now, after):
            return now
        if not isinstance(now, Array):
            return now
        if isinstance(after, Array):
            known = {one.local for key, (one, _) in running.items() if key.startswith(f"{name}/")}
            after = with_running(now, after, known)
    needed: list[Running] = []
    value = merging.merged(
        name, entry if now == entry else now, after, frame, needed if frame.records else None
    )
    for position, one in enumerate(needed):
        reader = size_reader(name, value, one, frame)
        running[f"{name}/{position}/{one.local}"] = (one, reader)
    return value


def trial(names: Names, frame: Frame, run: Callable[[], None]) -> Names:
    """Return what names stand for after one time through a loop, which leaves no trace."""
    kept = frame.names
    results = len(frame.results)
    frame.names = dict(names)
    with frame.recorder.trial():
        run()
    after = frame.names
    frame.names = kept
    del frame.results[results:]
    return after
