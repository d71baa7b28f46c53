"""What loops go over, and what an iteration leaves behind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import libcst as cst

from typed_nnx_codegen.migrate.linen.dims import Atom, Dim, Piece, as_dim, chosen
from typed_nnx_codegen.migrate.linen.frames import Frame
from typed_nnx_codegen.migrate.linen.merging import Running
from typed_nnx_codegen.migrate.linen.references import (
    Choice,
    FieldModule,
    ModuleValue,
    Repeated,
)
from typed_nnx_codegen.migrate.linen.values import (
    UNKNOWN,
    Array,
    Const,
    Shape,
    Value,
)
from typed_nnx_codegen.migrate.linen.values import Sequence as Items

if TYPE_CHECKING:
    from typed_nnx_codegen.migrate.linen.executor import Executor

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
        case cst.Name(value=name), _ if not isinstance(iterable, cst.Call):
            return header, {name: f"{header}[-1]"}
        case (
            cst.Tuple(
                elements=[
                    cst.Element(value=cst.Name(value=index)),
                    cst.Element(value=cst.Name(value=name)),
                ]
            ),
            cst.Call(func=cst.Name(value="enumerate"), args=[_]),
        ):
            inner = header[len("enumerate(") : -1]
            return inner, {index: f"(len({inner}) - 1)", name: f"{inner}[-1]"}
    return None


def as_key(key: object) -> Value:
    """Return the key of a dict as a value."""
    return Const(key)


def ran(executor: Executor, body: cst.BaseSuite, frame: Frame) -> None:
    """Go through the body of a loop."""
    executor.statements.run(body, frame)


def unrolled(values: Value, header: str | None) -> list[Value] | None:
    """Return the items to go through one by one: submodules and arrays differ, settings do not."""
    if not isinstance(values, Items) or len(values.items) > _MOST_UNROLLED:
        return None
    differ = header is None or any(holds_modules(item) for item in values.items)
    return list(values.items) if differ else None


def holds_modules(value: Value) -> bool:
    """Whether a value holds submodules or arrays."""
    if isinstance(value, Items):
        return any(holds_modules(item) for item in value.items)
    return isinstance(value, (ModuleValue, FieldModule, Choice, Array, Repeated))


def element_of(values: Value) -> tuple[Value, int | None]:
    """Return what an item of something stands for, and the loop that makes the items."""
    match values:
        case Repeated(element=element, loop=loop):
            return element, loop
        case Array(origin=origin) if origin:
            return UNKNOWN, None
        case Items(items=items) if items and all(item == items[0] for item in items):
            return items[0], None
    return UNKNOWN, None


def size_reader(
    name: str, value: Value, one: Running, frame: Frame
) -> Callable[[], Value | Dim | None]:
    """Return what reads the value of a running local at the end of an iteration."""
    if not isinstance(value, Array):
        return lambda: frame.names.get(name)
    axis = 0
    for position, dim in enumerate(value.shape.dims):
        if dim is not None and dim.atom == Piece(one.local):
            axis = position - len(value.shape.dims)

    def read() -> Dim | None:
        after = frame.names.get(name)
        return after.shape.axis(axis) if isinstance(after, Array) else None

    return read


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


def left(entry: Value, after: Value, last: Ended, number: int) -> Value:
    """Return what a name stands for after a loop, from its last iteration."""
    if not isinstance(entry, Array) or not isinstance(after, Array) or last is None:
        return without_sizes(after)
    condition, ends = last
    home = f"loop{number}"
    values: dict[Atom, Dim] = {
        Piece(name, home): as_dim(Piece(code)) for name, code in ends.items()
    }
    count = len(after.shape.dims)
    first = entry.shape.expanded(count)
    dims: list[Dim | None] = []
    for position in range(-count, 0):
        dim = after.shape.dims[position]
        if dim is None or len(first.dims) < -position or first.dims[position] is None:
            dims.append(None)
            continue
        dim = dim.replaced(values)
        other = first.dims[position]
        assert other is not None
        is_open = any(isinstance(atom, Piece) and atom.home == home for atom in dim.atoms())
        dims.append(None if is_open else chosen(Piece(condition), dim, other))
    return Array(Shape(tuple(dims), after.shape.lead), after.dtype)
