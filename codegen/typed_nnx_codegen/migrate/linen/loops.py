"""Goes through loops and comprehensions: sizes that change from one iteration to the next run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of
from typed_nnx_codegen.migrate.linen.dims import Atom, Dim, Piece, as_dim, chosen
from typed_nnx_codegen.migrate.linen.frames import Block, Change, Compound, Frame, Line
from typed_nnx_codegen.migrate.linen.merging import Running
from typed_nnx_codegen.migrate.linen.open_tuples import is_dropping_none, without_none
from typed_nnx_codegen.migrate.linen.passed import Passed
from typed_nnx_codegen.migrate.linen.references import (
    BoundMethod,
    Choice,
    FieldModule,
    Headed,
    ModuleValue,
    Repeated,
)
from typed_nnx_codegen.migrate.linen.values import (
    NONE,
    UNKNOWN,
    Array,
    Code,
    Const,
    Shape,
    Table,
    Value,
)
from typed_nnx_codegen.migrate.linen.values import Sequence as Items

if TYPE_CHECKING:
    from typed_nnx_codegen.migrate.linen.executor import Executor

_MOST_UNROLLED: Final = 64
_COUNTERS: Final = ("range", "enumerate")
_MOST_TRIALS: Final = 4
_Names = dict[str, Value]


class Loops:
    """Goes through loops.

    Args:
        executor: What goes through the methods.
    """

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._number = 0

    # -- statements ---------------------------------------------------------------------------

    def statement(self, node: cst.For, frame: Frame) -> None:
        """Go through a `for` statement."""
        values = self._executor.evaluate(node.iter, frame)
        header = self._header(node.iter, frame)
        items = _unrolled(values, header)

        def run() -> None:
            self._executor.statements.run(node.body, frame)

        if not frame.records and isinstance(values, Items) and items is None:
            items = list(values.items)
        if items is not None:
            for item in items:
                self._executor.statements.assign(node.target, item, None, frame)
                run()
        elif header is not None and not frame.records:
            self._closed(node, header, frame, run)
        elif header is not None:
            self._of_constructor(node.target, header, frame, run)
        else:
            self._of_call(node.target, values, frame, run)
        if node.orelse is not None:
            self._otherwise(node.orelse, frame)

    def _header(self, node: cst.BaseExpression, frame: Frame) -> str | None:
        """Return what a loop of the constructor goes over; None where only the call knows."""
        match node:
            case cst.Call(func=cst.Name(value=name), args=args) if (
                name in _COUNTERS and frame.lookup(name) is None
            ):
                codes = [self._executor.code.of(arg.value, frame) for arg in args]
                known = [code for code in codes if code is not None]
                if len(known) != len(codes) or any(arg.star for arg in args):
                    return None
                keywords = [f"{arg.keyword.value}=" if arg.keyword else "" for arg in args]
                pairs = zip(keywords, known, strict=True)
                return f"{name}({', '.join(keyword + code for keyword, code in pairs)})"
        return self._executor.code.of(node, frame)

    def _otherwise(self, node: cst.Else, frame: Frame) -> None:
        """Go through the `else` of a loop."""
        recorder = frame.recorder
        last = recorder.block[-1] if recorder.block else None
        outer = recorder.block
        orelse: Block = []
        recorder.block = orelse
        self._executor.statements.run(node.body, frame)
        recorder.block = outer
        if isinstance(last, Compound) and last.number is not None:
            last.orelse = orelse
        else:
            recorder.block += orelse

    def endless(self, node: cst.While, frame: Frame) -> None:
        """Go through a `while` statement: how often it runs is not known."""
        self._executor.evaluate(node.test, frame)
        sites = len(frame.recorder.plan.sites)
        self._of_call(
            cst.Name("_"), UNKNOWN, frame, lambda: _ran(self._executor, node.body, frame)
        )
        if len(frame.recorder.plan.sites) > sites and frame.records:
            frame.recorder.mark(node, "submodules are built in a `while` loop")

    def _of_constructor(
        self, target: cst.BaseExpression, header: str, frame: Frame, run: Callable[[], None]
    ) -> None:
        """Go through a loop that the constructor runs too."""
        recorder = frame.recorder
        self._number += 1
        number = self._number
        self._bind(target, number, frame)
        recorder.headers[number] = (code_of(target), header)
        before = dict(frame.names)
        recorder.loops.append(number)
        running, names = self._stable(before, frame, run)
        recorder.loops.pop()
        for one, _ in running:
            recorder.block.append(Line(f"{one.local} = {one.first}", one.local))
        outer = recorder.block
        body: Block = []
        recorder.block = body
        recorder.loops.append(number)
        frame.names = dict(names)
        run()
        self._update(running, frame, body)
        recorder.loops.pop()
        recorder.block = outer
        outer.append(Compound(f"for {code_of(target)} in {header}:", body, number=number))
        for name, value in names.items():
            if name in before and before[name] != value:
                frame.names[name] = value

    def _closed(
        self, node: cst.For, header: str, frame: Frame, run: Callable[[], None]
    ) -> None:
        """Go through a loop of a submodule: its last iteration says what it leaves behind."""
        recorder = frame.recorder
        self._number += 1
        number = self._number
        self._bind(node.target, number, frame)
        before = dict(frame.names)
        recorder.loops.append(number)
        _, names = self._stable(before, frame, run)
        after = self._trial(names, frame, run)
        recorder.loops.pop()
        last = _last(node.target, node.iter, header)
        for name, value in before.items():
            if name not in after or after[name] == value:
                continue
            frame.names[name] = self._left(value, after[name], last, number)
        for name, value in after.items():
            if name not in before:
                frame.names[name] = value

    @staticmethod
    def _left(
        entry: Value, after: Value, last: tuple[str, dict[str, str]] | None, number: int
    ) -> Value:
        """Return what a name stands for after a loop, from its last iteration."""
        if not isinstance(entry, Array) or not isinstance(after, Array) or last is None:
            return _without_sizes(after)
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

    def _update(
        self, running: list[tuple[Running, Callable[[], Value | Dim | None]]], frame: Frame, body: list[Line | Compound]
    ) -> None:
        codes: list[tuple[str, str]] = []
        for one, after in running:
            code = self._code_of(after(), frame)
            if code is not None and code != one.local:
                codes.append((one.local, code))
        if len(codes) > 1 and any(
            local in other for local, _ in codes for _, other in codes
        ):
            # All at once: one may be computed from what another one was.
            names = ", ".join(local for local, _ in codes)
            body.append(Line(f"{names} = {', '.join(code for _, code in codes)}", names))
            return
        body += [Line(f"{local} = {code}", local) for local, code in codes]

    def _code_of(self, value: Value | Dim | None, frame: Frame) -> str | None:
        if isinstance(value, Dim):
            if not self._executor.code.sizes_are_visible(value, frame):
                return None
            return frame.recorder.templates.token(value)
        return None if value is None else self._executor.code.of_value(value, frame)

    def _stable(
        self, before: _Names, frame: Frame, run: Callable[[], None]
    ) -> tuple[list[tuple[Running, Callable[[], Value | Dim | None]]], _Names]:
        """Return what names stand for in each iteration, and the locals that run.

        The loop is gone through for a trial, until what it is entered with stands for what it
        leaves behind, too.
        """
        names = dict(before)
        running: dict[str, tuple[Running, Callable[[], Value | Dim | None]]] = {}
        after = names
        for _ in range(_MOST_TRIALS):
            after = self._trial(names, frame, run)
            changed = False
            for name, value in list(names.items()):
                if name not in after or after[name] == value:
                    continue
                found = self._run(name, before[name], value, after[name], frame, running)
                changed = changed or found != value
                names[name] = found
            if not changed:
                break
        else:
            for name in names:
                if name in after and names[name] != before[name]:
                    names[name] = _without_sizes(names[name])
        return list(running.values()), names

    def _run(
        self,
        name: str,
        entry: Value,
        now: Value,
        after: Value,
        frame: Frame,
        running: dict[str, tuple[Running, Callable[[], Value | Dim | None]]],
    ) -> Value:
        """Return what a name stands for that an iteration leaves with another value."""
        if name in running or any(key.startswith(f"{name}/") for key in running):
            if isinstance(now, Array) and isinstance(after, Array) and _same_but_running(now, after):
                return now
            if not isinstance(now, Array):
                return now
        needed: list[Running] = []
        value = self._executor.merging.merged(name, entry if now == entry else now, after, frame, needed if frame.records else None)
        for position, one in enumerate(needed):
            reader = _reader(name, value, one, frame)
            running[f"{name}/{position}/{one.local}"] = (one, reader)
        return value

    def _trial(self, names: _Names, frame: Frame, run: Callable[[], None]) -> _Names:
        recorder = frame.recorder
        outer, recorder.block = recorder.block, []
        kept = frame.names
        results = len(frame.results)
        frame.names = dict(names)
        recorder.trials += 1
        run()
        recorder.trials -= 1
        after = frame.names
        frame.names = kept
        del frame.results[results:]
        recorder.block = outer
        return after

    def _bind(self, target: cst.BaseExpression, number: int, frame: Frame) -> None:
        for name in names_in(target):
            frame.names[name] = Code(name, f"loop{number}")
            frame.recorder.locals.add(name)

    def _of_call(
        self, target: cst.BaseExpression, values: Value, frame: Frame, run: Callable[[], None]
    ) -> None:
        """Go through a loop that runs with the call only, over submodules or arrays."""
        element, loop = _element(values)
        also = values.also if isinstance(values, Repeated) else ()
        recorder = frame.recorder
        self._executor.statements.assign(target, element, None, frame)
        before = dict(frame.names)
        # What the items are made with can be said where they are made.
        recorder.loops += [] if loop is None else [loop]
        running, names = self._stable(before, frame, run)
        frame.names = dict(names)
        self._executor.statements.assign(target, element, None, frame)
        self._number += 1
        recorder.call_loops.append(self._number)
        run()
        recorder.call_loops.pop()
        if loop is not None:
            recorder.loops.pop()
        for one, after in running:
            update = after()
            entry = recorder.templates.dims_in(one.first)
            first = entry[0] if entry else _number(one.first)
            if isinstance(update, Dim) and first is not None and recorder.is_recording:
                recorder.changes[Piece(one.local)] = Change(first, update, loop, also)
        for name, value in names.items():
            if name in before and before[name] != value:
                frame.names[name] = value

    # -- comprehensions -----------------------------------------------------------------------

    def comprehension(
        self, node: cst.ListComp | cst.GeneratorExp | cst.DictComp | cst.SetComp, frame: Frame
    ) -> Value:
        """Return what a comprehension stands for."""
        part = node.for_in
        values = self._executor.evaluate(part.iter, frame)
        header = self._header(part.iter, frame)
        kept = dict(frame.names)
        items = _unrolled(values, header)
        if is_dropping_none(node) and isinstance(values, Items | Headed):
            return without_none(values)
        if part.inner_for_in is not None or isinstance(node, (cst.DictComp, cst.SetComp)):
            value = self._general(node, header, values, frame)
        elif items is not None and not part.ifs:
            found: list[Value] = []
            for item in items:
                self._executor.statements.assign(part.target, item, None, frame)
                found.append(self._executor.evaluate(node.elt, frame))
            value = Items(tuple(found), is_list=True)
        else:
            value = self._general(node, header, values, frame)
        frame.names = kept
        return value

    def _general(
        self,
        node: cst.ListComp | cst.GeneratorExp | cst.DictComp | cst.SetComp,
        header: str | None,
        values: Value,
        frame: Frame,
    ) -> Value:
        recorder = frame.recorder
        self._number += 1
        number = self._number
        part: cst.CompFor | None = node.for_in
        outer = recorder.block
        body: Block = []
        recorder.block = body
        levels = 0
        while part is not None:
            if header is not None:
                self._bind(part.target, number, frame)
                recorder.headers[number] = (code_of(part.target), header)
            else:
                self._executor.statements.assign(part.target, _element(values)[0], None, frame)
            for condition in part.ifs:
                self._executor.evaluate(condition.test, frame)
            part = part.inner_for_in
            levels += 1
            if part is not None:
                values = self._executor.evaluate(part.iter, frame)
                header = None if header is None else self._executor.code.of(part.iter, frame)
        recorder.loops.append(number)
        if isinstance(node, cst.DictComp):
            self._executor.evaluate(node.key, frame)
            element = self._executor.evaluate(node.value, frame)
        else:
            element = self._executor.evaluate(node.elt, frame)
        recorder.loops.pop()
        recorder.block = outer
        if body:
            if header is None or levels > 1 or node.for_in.ifs:
                recorder.mark(node, "submodules are built in a comprehension that is not simple")
            line = f"for {code_of(node.for_in.target)} in {header or '()'}:"
            outer.append(Compound(line, body, number=number))
        if not isinstance(element, (ModuleValue, Array, Choice)):
            code = self._executor.code.of(node, frame)
            if code is not None:
                return Code(code)
        return Repeated(element, number)

    # -- values that are gone over ------------------------------------------------------------

    def over_values(
        self, name: str, args: Sequence[Value], keywords: Mapping[str, Value]
    ) -> Value | None:
        """Return what `zip`, `enumerate` and `reversed` make of lists with submodules; else None."""
        del keywords
        if not any(isinstance(arg, Repeated) for arg in args):
            return None
        repeated = next(arg for arg in args if isinstance(arg, Repeated))
        elements = tuple(_element(arg)[0] for arg in args)
        if name == "builtins.zip":
            return Repeated(Items(elements), repeated.loop, also=repeated.also)
        if name == "builtins.enumerate":
            items = Items((UNKNOWN, elements[0]))
            return Repeated(items, repeated.loop, also=repeated.also)
        if name in ("builtins.list", "builtins.tuple") and isinstance(repeated, Headed):
            return repeated
        if name in ("builtins.reversed", "builtins.list", "builtins.tuple", "builtins.iter"):
            return Repeated(elements[0], repeated.loop if name != "builtins.reversed" else None)
        return None

    def container_method(
        self, callee: BoundMethod, passed: Sequence[Passed], node: cst.Call, frame: Frame
    ) -> Value:
        """Return what a method of a list or dict returns; lists in local names change."""
        receiver = callee.receiver
        values = [one.value for one in passed]
        match callee.name, receiver:
            case ("append", Items(items=items)) if len(values) == 1:
                self._rebind(node, Items((*items, *values), is_list=True), frame)
                return NONE
            case ("append", Repeated(element=element)) if len(values) == 1:
                joined = self._executor.merging.joined(element, values[0], frame)
                self._rebind(node, Repeated(joined, receiver.loop), frame)
                return NONE
            case ("pop", Items(items=items)) if items and not values:
                self._rebind(node, Items(items[:-1], is_list=True), frame)
                return items[-1]
            case ("pop", Repeated(element=element)):
                return element
            case ("items", Table(items=table)):
                return Items(tuple(Items((_key(key), value)) for key, value in table.items()))
            case ("values", Table(items=table)):
                return Items(tuple(table.values()))
            case ("keys", Table(items=table)):
                return Items(tuple(_key(key) for key in table))
            case ("get", Table(items=table)) if values and isinstance(values[0], Const):
                return table.get(values[0].value, values[1] if len(values) > 1 else NONE)
            case ("items", Repeated(element=element)):
                return Repeated(Items((UNKNOWN, element)), receiver.loop)
            case ("values", Repeated()):
                return receiver
        return UNKNOWN

    @staticmethod
    def _rebind(node: cst.Call, value: Value, frame: Frame) -> None:
        match node.func:
            case cst.Attribute(value=cst.Name(value=name)) if name in frame.names:
                frame.names[name] = value


def _last(
    target: cst.BaseExpression, iterable: cst.BaseExpression, header: str
) -> tuple[str, dict[str, str]] | None:
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


def _key(key: object) -> Value:
    return Const(key)


def _ran(executor: Executor, body: cst.BaseSuite, frame: Frame) -> None:
    executor.statements.run(body, frame)


def names_in(target: cst.BaseExpression) -> list[str]:
    """Return the names that a target binds."""
    match target:
        case cst.Name(value=name):
            return [name]
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            return [name for element in elements for name in names_in(element.value)]
    return []


def _unrolled(values: Value, header: str | None) -> list[Value] | None:
    """Return the items to go through one by one: submodules and arrays differ, settings do not."""
    if isinstance(values, Items) and len(values.items) <= _MOST_UNROLLED:
        if header is None or any(_holds_modules(item) for item in values.items):
            return list(values.items)
    return None


def _holds_modules(value: Value) -> bool:
    if isinstance(value, Items):
        return any(_holds_modules(item) for item in value.items)
    return isinstance(value, (ModuleValue, FieldModule, Choice, Array, Repeated))


def _element(values: Value) -> tuple[Value, int | None]:
    """Return what an item of something stands for, and the loop that makes the items."""
    match values:
        case Repeated(element=element, loop=loop):
            return element, loop
        case Array(origin=origin) if origin:
            return UNKNOWN, None
        case Items(items=items) if items and all(item == items[0] for item in items):
            return items[0], None
    return UNKNOWN, None


def _reader(
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


def _same_but_running(now: Array, after: Array) -> bool:
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


def _without_sizes(value: Value) -> Value:
    return Array() if isinstance(value, Array) else UNKNOWN


def _number(code: str) -> Dim | None:
    return as_dim(int(code)) if code.lstrip("-").isdigit() else None
