"""What a name is where several ways through the code meet: branches, and the iterations of a loop."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of
from typed_nnx_codegen.migrate.linen.domain.code import parsed
from typed_nnx_codegen.migrate.linen.domain.dims import (
    Atom,
    Binders,
    Dim,
    Piece,
    as_dim,
    chosen,
)
from typed_nnx_codegen.migrate.linen.domain.frames import Frame, FunctionRef
from typed_nnx_codegen.migrate.linen.domain.references import (
    Choice,
    ClassRef,
    ClassTransform,
    FieldModule,
    ModuleValue,
    OneOf,
    Partial,
    Ref,
    Repeated,
    SizedList,
    sites_in,
)
from typed_nnx_codegen.migrate.linen.domain.values import (
    NONE,
    OPEN,
    UNKNOWN,
    Array,
    Code,
    Const,
    Lead,
    OfShapes,
    Seq,
    Shape,
    Size,
    Table,
    Value,
    is_of_elsewhere,
    with_sizes,
)
from typed_nnx_codegen.migrate.linen.evaluate.conditions import is_of_fields, module_or_function
from typed_nnx_codegen.migrate.linen.evaluate.lifts import is_of_self
from typed_nnx_codegen.migrate.linen.evaluate.lists import (
    element_of,
    head_of,
    is_rebuilt,
    record_or_tuple,
    tail_of,
)
from typed_nnx_codegen.migrate.linen.layers import find_layer
from typed_nnx_codegen.migrate.linen.shapes.operands import aligned
from typed_nnx_codegen.migrate.linen.write.constructor_code import ConstructorCode


def note_residual(operator: str, left: Value, right: Value, frame: Frame) -> None:
    """Note that two arrays have one last size, where they are added."""
    if operator != "+" or not (isinstance(left, Array) and isinstance(right, Array)):
        return
    one, other = left.shape.axis(-1), right.shape.axis(-1)
    if one is None or other is None or one == other:
        return
    if one.constant is None and other.constant is None:
        frame.recorder.equal_sizes.add(frozenset((one, other)))


def are_equal(one: Dim, other: Dim, frame: Frame) -> bool:
    """Whether two sizes are equal by what was added."""
    return frozenset((one, other)) in frame.recorder.equal_sizes


_CALLABLE = (Ref, ClassRef, ClassTransform, Partial, ModuleValue, FieldModule, Choice)


@dataclass(frozen=True)
class Running:
    """A local of the constructor that holds what differs between ways through the code.

    Attributes:
        local: The local.
        first: Its value on the first way.
        second: Its value on the second way.
        binders: The loop of the constructor that it changes in.
    """

    local: str
    first: str
    second: str
    binders: Binders = ()

    @property
    def piece(self) -> Piece:
        """The local as a size."""
        return Piece(self.local, self.binders)


@dataclass(frozen=True, eq=False)
class Merging:
    """Joins values."""

    code: ConstructorCode

    def joined(self, one: Value, other: Value, frame: Frame) -> Value:
        """Return what stands for either of two values, where nothing can be written about it."""
        return self.merged("", one, other, frame, None)

    def merged(
        self,
        name: str,
        one: Value,
        other: Value,
        frame: Frame,
        running: list[Running] | None,
    ) -> Value:
        """Return what stands for either of two values.

        Args:
            name: The local name that has them.
            one: The value on the first way.
            other: The value on the second way.
            frame: The frame.
            running: Locals of the constructor that the merge needs are added here; None where
                the constructor does not know which way is taken.
        """
        if one == other:
            return one
        if is_rebuilt(one, other):
            return other
        match one, other:
            case Array(), Array():
                value = self._arrays(name, one, other, frame, running)
                if running is None or not one.made or not other.made:
                    return value
                local = one.made
                if other.made != local:
                    local = frame.recorder.fresh(name)
                    running.append(Running(local, one.made, other.made))
                return replace(value, made=local, of_shapes=one.of_shapes or other.of_shapes)
            case (Seq(items=first), Seq(items=second)) if len(first) == len(second):
                return Seq(
                    tuple(
                        self.merged(f"{name}_{k}", a, b, frame, running)
                        for k, (a, b) in enumerate(zip(first, second, strict=True))
                    ),
                    one.is_list,
                )
            case SizedList(), SizedList() if running is not None and not (
                one.is_running or other.is_running
            ):
                local = frame.recorder.fresh(f"{name}_sizes")
                running.append(Running(local, one.sizes, other.sizes))
                element = self.joined(one.element, other.element, frame)
                return SizedList(element, sizes=local, is_local=True)
            case (Seq() | Repeated(), Seq() | Repeated()):
                return self._lists(name, one, other, frame, running)
            case (Table(items=first), Table(items=second)) if first.keys() == second.keys():
                return Table(
                    {
                        key: self.merged(f"{name}_{key}", first[key], second[key], frame, running)
                        for key in first
                    },
                    one.cls if one.cls == other.cls else None,
                )
            case (Table(cls=cls), Seq() | Repeated()) if cls is not None:
                return record_or_tuple(one, other, lambda a, b: self.joined(a, b, frame))
            case (Seq() | Repeated(), Table(cls=cls)) if cls is not None:
                return record_or_tuple(other, one, lambda a, b: self.joined(b, a, frame))
            case (Array(), Const(value=None)) | (Const(value=None), Array()):
                array = one if isinstance(one, Array) else other
                assert isinstance(array, Array)
                return replace(array, is_optional=True, made="", of_shapes=False, condition=OPEN)
        if isinstance(one, _CALLABLE) and (isinstance(other, _CALLABLE) or other == NONE):
            return self._of_functions(name, one, other, frame, running)
        if isinstance(other, _CALLABLE) and one == NONE:
            return Choice((*_options(other), NONE))
        either_kind = module_or_function(one, other)
        if either_kind is not None:
            return either_kind
        for a, b in ((one, other), (other, one)):
            if isinstance(a, (ModuleValue, FieldModule)) and isinstance(b, Code):
                return a  # a field that holds something to call in its place
            if is_known_function(a) and (isinstance(b, Code) or is_known_function(b)):
                return self._of_functions(name, one, other, frame, running)
        if running is not None and _is_written(one) and _is_written(other):
            either = self._local_for(name, one, other, frame)
            if either is not None:
                running.append(either)
                return Code(either.local)
            with self.code.with_shapes():
                either = self._local_for(name, one, other, frame)
            if either is not None:
                running.append(either)
                return OfShapes(code=either.local)
        return UNKNOWN

    def _local_for(self, name: str, one: Value, other: Value, frame: Frame) -> Running | None:
        """Return a local that holds either of two values; None where one of them has no code."""
        first = self.code.of_value(one, frame)
        second = self.code.of_value(other, frame)
        if first is None or second is None:
            return None
        return Running(frame.recorder.fresh(name), first, second)

    def _of_functions(
        self, name: str, one: Value, other: Value, frame: Frame, running: list[Running] | None
    ) -> Value:
        """Return what stands for either of two classes, functions or submodules."""
        choice = _choice(_options(one), _options(other))
        is_written = all(is_function(value) or isinstance(value, Code) for value in (one, other))
        if running is None or not is_written or not isinstance(choice, Choice):
            return choice
        either = self._local_for(name, one, other, frame)
        if either is None:
            return choice
        running.append(either)
        return replace(choice, code=either.local)

    def one_of_callables(
        self, options: Sequence[Value], node: cst.BaseExpression, frame: Frame
    ) -> Choice | OneOf | None:
        """Return what an expression is: one of a few classes, or of a few functions or None.

        Args:
            options: What it may be.
            node: The expression.
            frame: The frame.

        Returns:
            That; None where it may be something else, or another class in each iteration of a loop.
        """
        known = self.code.expression(node, frame)
        code = known.code if known is not None else ""
        varies = known is None or any(isinstance(one, int) for one in known.binders)
        classes = [one for one in options if isinstance(one, ClassRef | Ref) and is_class(one)]
        if not varies and len(classes) == len(options) > 0:
            return OneOf(tuple(replace(one, code=code) for one in classes))
        found: list[Value] = []
        for one in (each for option in options for each in _options(option)):
            found += [one] if one not in found else []
        functions = [one for one in found if one != NONE]
        is_known = bool(functions) and all(map(is_known_function, functions))
        return Choice(tuple(found), code) if is_known else None

    def chosen(self, condition: Piece, one: Value, other: Value, frame: Frame) -> Value:
        """Return what is one value where a condition holds, else the other one."""
        if one == other:
            return one
        joined = self.joined(one, other, frame)
        if not isinstance(one, Array) or not isinstance(other, Array):
            return joined
        first, second = aligned(one.shape, other.shape)
        dims = tuple(
            None if a is None or b is None else chosen(condition, a, b)
            for a, b in zip(first.dims, second.dims, strict=True)
        )
        assert isinstance(joined, Array)
        return replace(joined, shape=replace(joined.shape, dims=dims))

    def settings(self, name: str, one: Value, other: Value, frame: Frame) -> Running | None:
        """Return the local that holds one of two lists of settings; None where they are others."""
        lists = [isinstance(value, Seq) for value in (one, other)]
        if one == other or not any(lists) or not (_is_setting(one) and _is_setting(other)):
            return None
        lengths = {len(value.items) for value in (one, other) if isinstance(value, Seq)}
        if all(lists) and len(lengths) == 1:
            return None  # item by item
        return self._local_for(name, one, other, frame)

    def _head(
        self, name: str, one: Value, other: Value, frame: Frame, running: list[Running] | None
    ) -> tuple[Value, ...]:
        """Return the items that both of two tuples begin with."""
        both = zip(head_of(one), head_of(other), strict=False)
        return tuple(
            self.merged(f"{name}_{k}", a, b, frame, running) for k, (a, b) in enumerate(both)
        )

    def _tail(self, one: Value, other: Value, frame: Frame) -> tuple[Value, ...]:
        """Return the items that both of two tuples end with."""
        both = zip(reversed(tail_of(one)), reversed(tail_of(other)), strict=False)
        return tuple(self.joined(a, b, frame) for a, b in both)[::-1]

    def _lists(
        self,
        name: str,
        one: Seq | Repeated,
        other: Seq | Repeated,
        frame: Frame,
        running: list[Running] | None,
    ) -> Value:
        """Return what stands for either of two lists or tuples."""
        items = [
            item
            for value in (one, other)
            for item in (value.items if isinstance(value, Seq) else (value.element,))
        ]
        if not items:
            return UNKNOWN
        element = reduce(lambda a, b: self.joined(a, b, frame), items)
        head = self._head(name, one, other, frame, running)
        tail = self._tail(one, other, frame)
        match one, other:
            case Repeated(loop=int()), Repeated(loop=int(second)) if not head and not tail:
                return Repeated(element, one.loop, (*one.also, second, *other.also))
        return Repeated(element, head=head, tail=tail)

    def _arrays(
        self, name: str, one: Array, other: Array, frame: Frame, running: list[Running] | None
    ) -> Array:
        first, second = aligned(one.shape, other.shape)
        dims: list[Dim | None] = []
        count = len(first.dims)
        for position, (a, b) in enumerate(zip(first.dims, second.dims, strict=True)):
            dims.append(self._dim(name, position - count, a, b, frame, running))
        lead = first.lead if first.lead == second.lead else Lead("", None)
        origin = one.origin if one.origin == other.origin else ""
        dtype = one.dtype if one.dtype == other.dtype else ""
        is_optional = one.is_optional or other.is_optional
        condition = OPEN if one.condition or other.condition else ""
        shape = Shape(tuple(dims), lead)
        return Array(shape, dtype, origin, is_optional=is_optional, condition=condition)

    def _dim(
        self,
        name: str,
        axis: int,
        one: Dim | None,
        other: Dim | None,
        frame: Frame,
        running: list[Running] | None,
    ) -> Dim | None:
        if one == other:
            return one
        if one is None or other is None:
            return None
        if running is None:
            if are_equal(one, other, frame):
                return other
            frame.recorder.candidates |= {one: None, other: None}
            return None
        code = self.code
        if not (code.sizes_are_visible(one, frame) and code.sizes_are_visible(other, frame)):
            return None
        slots = frame.recorder.slots
        suffix = "features" if axis == -1 else f"size_{-axis}"
        local = frame.recorder.fresh(f"{name}_{suffix}")
        one_more = Running(local, slots.name(one), slots.name(other), frame.innermost)
        running.append(one_more)
        return as_dim(one_more.piece)


_PLAIN = (Const, Size, Code, OfShapes)


def _is_written(value: Value) -> bool:
    """Whether a local of the constructor can hold a value in the place of another one."""
    is_callable = isinstance(value, Ref) and find_layer(value.name) is None
    return isinstance(value, _PLAIN) or is_callable or is_function(value)


def _is_setting(value: Value) -> bool:
    """Whether a value is a setting, or a tuple or list of such: no array, no submodule."""
    if isinstance(value, Seq):
        return all(isinstance(item, _PLAIN) or _is_setting(item) for item in value.items)
    return isinstance(value, (Code, OfShapes))


def is_module(value: Value) -> bool:
    """Whether a value is a submodule, or a class or function that may make one."""
    return isinstance(value, _CALLABLE)


def is_function(value: Value) -> bool:
    """Whether a value is a function of a library, as an initializer or an activation is."""
    if isinstance(value, Choice):
        return bool(value.code)
    return isinstance(value, Ref) and not value.code and find_layer(value.name) is None


def is_known_function(value: Value) -> bool:
    """Whether a value is a function that can be gone through, or one of several functions."""
    if isinstance(value, Choice):
        return all(isinstance(one, Code) or is_known_function(one) for one in value.options)
    if isinstance(value, Partial):
        return is_known_function(value.function)
    if isinstance(value, Ref):
        return not value.code and find_layer(value.name) is None
    return isinstance(value, FunctionRef)


def mark_classes(node: cst.BaseExpression, frame: Frame) -> None:
    """Mark an item of a table that is one of several classes which cannot be called as it is."""
    frame.mark(node, f"`{code_of(node)}` is one of several classes, and is no choice of calls")


def is_of_callables(table: Table) -> bool:
    """Whether a table has classes of modules, or nothing but functions and None."""
    items = [one for one in table.items.values() if one != NONE]
    return any(map(is_class, items)) or (bool(items) and all(map(is_known_function, items)))


def holds_callables(value: Value) -> bool:
    """Whether a list or dict has submodules, classes or functions in it."""
    match value:
        case Seq(items=items):
            return any(is_module(item) or holds_callables(item) for item in items)
        case Table(items=table):
            return any(is_module(item) or holds_callables(item) for item in table.values())
    return False


def is_same(one: Value, other: Value) -> bool:
    """Whether two values are equal, where submodules that loops build again are one."""
    match one, other:
        case Seq(items=first), Seq(items=second):
            return len(first) == len(second) and all(map(is_same, first, second))
        case Choice(options=first), Choice(options=second):
            return len(first) == len(second) and all(
                any(is_same(a, b) for b in second) for a in first
            )
        case Repeated(element=first), Repeated(element=second):
            return one == replace(other, element=first) and is_same(first, second)
    return one == other or is_rebuilt(one, other)


def _choice(first: tuple[Value, ...], second: tuple[Value, ...]) -> Value:
    """Return one of a few values, of those that loops build again the last one."""
    kept = [
        one for one in first if not any(one == other or is_rebuilt(one, other) for other in second)
    ]
    options = (*kept, *second)
    return options[0] if len(options) == 1 else Choice(options)


def _options(value: Value) -> tuple[Value, ...]:
    return value.options if isinstance(value, Choice) else (value,)


def class_if(one: Value, other: Value, code: str) -> Choice | None:
    """Return either of two classes, with the conditions on which it is each; None for other values.

    Args:
        one: The class, or a choice of classes, where the condition holds.
        other: That where it does not hold.
        code: The condition. It means the same all through the constructor: only fields are in it.
    """
    first, second = _classes(one), _classes(other)
    if not first or not second or one == other or not is_of_self(code):
        return None
    tests = one.tests if isinstance(one, Choice) else ()
    within = [f"({code} and {test})" for test in tests]
    others = other.tests if isinstance(other, Choice) else ()
    return Choice((*first, *second), tests=(*within, code, *others))


def _classes(value: Value) -> tuple[Value, ...]:
    """Return the classes that a value may be, where conditions tell which."""
    if isinstance(value, Choice):
        return value.options if value.tests else ()
    return (value,) if _is_plain_class(value) else ()


def is_class(value: Value) -> bool:
    """Whether a value is a class of modules, or a partial of one."""
    if isinstance(value, Partial):
        value = value.function
    if isinstance(value, Ref):
        return find_layer(value.name) is not None
    return isinstance(value, (ClassRef, ClassTransform))


def _is_plain_class(value: Value) -> bool:
    """Whether a value is a class, or a partial of one, under no transform."""
    kind = value.function if isinstance(value, Partial) else value
    return is_class(kind) and not isinstance(kind, ClassTransform)


_MOST_TRIALS: Final = 4
Names = dict[str, Value]
_COUNTERS: Final = ("range", "enumerate")
_MOST_UNROLLED: Final = 64
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
    seen = frame.seen(node) or UNKNOWN
    if isinstance(seen, Array) or is_of_elsewhere(element_of(seen)[0]):
        return None
    return writer.of(node, frame)


def unrolled(values: Value, header: str | None) -> list[Value] | None:
    """Return the items to go through one by one: modules, classes and arrays differ, settings do not."""
    if not isinstance(values, Seq) or len(values.items) > _MOST_UNROLLED:
        return None
    differ = header is None or any(holds_modules(item) for item in values.items)
    return list(values.items) if differ else None


def holds_modules(value: Value) -> bool:
    """Whether a value holds submodules, what may be one, classes of them, or arrays."""
    if isinstance(value, Seq):
        return any(holds_modules(item) for item in value.items)
    if is_of_elsewhere(value):
        return True
    is_there = isinstance(value, (ModuleValue, FieldModule, Choice, Array, Repeated))
    return is_there or is_class(value)


def size_reader(
    name: str, value: Value, one: Running, frame: Frame
) -> Callable[[], Value | Dim | None]:
    """Return what reads the value of a running local at the end of an iteration."""

    def read() -> Value | Dim | None:
        after = frame.names.get(name)
        return after.shape.axis(_axis_of(value, one.local)) if isinstance(after, Array) else after

    return read


def _axis_of(value: Value, local: str) -> int:
    """Return the axis of an array whose size is a running local, from the end; 0 if none is."""
    dims = value.shape.dims if isinstance(value, Array) else ()
    for position, dim in enumerate(dims):
        if dim is not None and isinstance(dim.atom, Piece) and dim.atom.code == local:
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


def of_last(value: Value, last: Ended, number: int) -> Value:
    """Return what the last item of a list makes, where the loop that makes the items is over."""
    return with_sizes(value, lambda dim: _ended(dim, {} if last is None else last[1], number))


def _ended(dim: Dim | None, ends: dict[str, str], number: int) -> Dim | None:
    """Return a size as it is in the last iteration of a loop; None where that is not known."""
    if dim is None:
        return None
    values: dict[Atom, Dim] = {}
    for atom in dim.atoms():
        if not isinstance(atom, Piece):
            continue
        code = atom.code
        for name, end in ends.items():
            code = re.sub(rf"(?<![.\w]){name}\b", lambda _, end=end: end, code)  # type: ignore[misc]  # mypy infers no lambda with a default
        is_inner = inner_name("", number) in atom.code
        if inner_name("", number) in code or not (
            is_inner or number not in atom.binders or is_of_fields(code)
        ):
            return None
        values[atom] = as_dim(Piece(code, tuple(one for one in atom.binders if one != number)))
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
    kept, frame.names = frame.names, after
    same = {key: one for key, (one, read) in running.items() if read() == as_dim(one.piece)}
    frame.names = kept
    # What an iteration leaves as it is does not run.
    entries: dict[Atom, Dim] = {
        one.piece: size for one in same.values() if (size := entry_of(one, frame))
    }
    left_alone = {key for key, one in same.items() if one.piece in entries}
    names = {
        name: with_sizes(value, lambda dim: dim.replaced(entries)) for name, value in names.items()
    }
    return [one for key, one in running.items() if key not in left_alone], names


def entry_of(one: Running, frame: Frame) -> Dim | None:
    """Return the size that a local is where a loop begins; None where it is none."""
    entry = frame.recorder.slots.sizes(one.first)
    return entry[0] if entry else literal_size(one.first)


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
    if isinstance(now, Const) and type(now.value) in (int, float) and isinstance(after, Array):
        return replace(
            after, made="", of_shapes=False
        )  # `total = 0`, to which each iteration adds an array
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
