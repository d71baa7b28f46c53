"""Evaluates loops: sizes that change from one iteration to the next run along."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import children, code_of, descendants
from typed_nnx_codegen.migrate.linen.domain.class_plan import CALL, Build
from typed_nnx_codegen.migrate.linen.domain.dims import OF_CALL, Atom, Dim, LoopEnd, Piece, as_dim
from typed_nnx_codegen.migrate.linen.domain.frames import (
    Assign,
    Block,
    Change,
    Compound,
    Evaluate,
    Frame,
    Line,
    Pass,
)
from typed_nnx_codegen.migrate.linen.domain.names import names_in
from typed_nnx_codegen.migrate.linen.domain.references import Repeated, SizedList
from typed_nnx_codegen.migrate.linen.domain.values import (
    UNKNOWN,
    Array,
    Code,
    Made,
    Position,
    Seq,
    Unknown,
    Value,
    made_by,
    with_binders,
    with_sizes,
)
from typed_nnx_codegen.migrate.linen.evaluate.conditions import condition_of
from typed_nnx_codegen.migrate.linen.evaluate.lists import (
    count_of,
    counting,
    element_of,
    grown,
    is_counted,
    is_regular,
    made_within,
    rest_of,
)
from typed_nnx_codegen.migrate.linen.evaluate.merging import (
    Ended,
    Merging,
    Running,
    entry_of,
    header_of,
    inner_name,
    is_module,
    last_iteration,
    left,
    stable,
    trial,
    unrolled,
    without_sizes,
)
from typed_nnx_codegen.migrate.linen.evaluate.sized_lists import (
    Begun,
    SizedLists,
    Span,
    changes_list,
    local_for,
    with_last,
)
from typed_nnx_codegen.migrate.linen.write.constructor_code import ConstructorCode

_Sized = tuple[Running, Callable[[], Value | Dim | None]]


@dataclass(frozen=True)
class _Settled:
    """What is known of a loop before it counts.

    Attributes:
        around: What names stand for where it stands.
        locals: The names that the constructor binds there.
        begun: The lists whose sizes run.
        before: What names stand for where it begins.
        running: The sizes that run, and what reads them.
        names: What names stand for in any iteration.
    """

    around: dict[str, Value]
    locals: set[str]
    begun: dict[str, Begun]
    before: dict[str, Value]
    running: list[_Sized]
    names: dict[str, Value]

    @property
    def sizes(self) -> set[str]:
        """The locals of the sizes that run."""
        return {one.local for one, _ in self.running}


@dataclass(frozen=True, eq=False)
class CallLoops:
    """Goes through such loops."""

    merging: Merging
    sized_lists: SizedLists
    assign: Assign
    ended: Mapping[int, Ended]
    spans: Mapping[int, Span]

    def run(
        self, target: cst.BaseExpression, values: Value, frame: Frame, run: Callable[[], None]
    ) -> None:
        """Go through a loop that runs with the call only, over submodules or arrays."""
        assign = self.assign
        if isinstance(values, Repeated) and any(is_module(item) for item in values.head):
            for item in values.head:
                assign(target, item, None, frame)
                run()
            values = rest_of(values)
        match values:
            case Repeated(loop=None, parts=tuple() as parts):
                self._parts(target, parts, frame, run)
            case Repeated(loop=loop, parts=tuple() as parts):
                each = Repeated(UNKNOWN, loop)

                def run_parts() -> None:
                    self._parts(target, parts, frame, run)

                self._running(target, each, frame, run_parts, lambda: None)
            case _:
                element, _ = element_of(values)

                def bind() -> None:
                    assign(target, element, None, frame)

                self._running(target, values, frame, run, bind)

    def _parts(
        self,
        target: cst.BaseExpression,
        parts: tuple[Value, ...],
        frame: Frame,
        run: Callable[[], None],
    ) -> None:
        """Go through such a loop for what a list consists of."""
        for part in parts:
            match part:
                case Repeated(condition=Piece() as condition, parts=tuple() as there):
                    before = dict(frame.names)
                    self._parts(target, there, frame, run)
                    names, frame.names = frame.names, before
                    self._parts(target, part.orelse, frame, run)
                    chosen = self.merging.chosen
                    new = {name: one for name, one in names.items() if name not in frame.names}
                    frame.names = {
                        name: chosen(condition, names.get(name, value), value, frame)
                        for name, value in frame.names.items()
                    } | new
                case Repeated():
                    self.run(target, part, frame, run)
                case _:
                    self.assign(target, part, None, frame)
                    run()

    def _running(
        self,
        target: cst.BaseExpression,
        values: Value,
        frame: Frame,
        run: Callable[[], None],
        bind: Callable[[], None],
    ) -> None:
        """Go through the iterations of such a loop."""
        loop = element_of(values)[1]
        also = values.also if isinstance(values, Repeated) else ()
        without_last = isinstance(values, Repeated) and values.without_last
        recorder = frame.recorder
        bind()
        lists = self.sized_lists
        settled = self._settled(target, loop, also, [], frame, run)
        lost = lists.lost(settled.before, settled.names, settled.sizes, loop, frame)
        if lost:
            recorder.call_loops.pop()
            recorder.loops.pop()
            frame.names, recorder.locals = dict(settled.around), set(settled.locals)
            settled = self._settled(target, loop, also, lost, frame, run)
        before, names = settled.before, settled.names
        frame.names = dict(names)
        bind()
        sites = len(recorder.log.of(Build))
        run()
        also = recorder.call_loops.pop()[1:]
        for one in recorder.log.of(Build)[sites:] if loop is None and frame.records else ():
            why = "it is built in a loop, and only the call knows how often"
            recorder.mark(one.site.node, why, CALL)
        ended = None if frame.records or loop is None else self.ended.get(loop)
        last = trial(names, frame, run) if ended is not None else {}
        span = None if loop is None else self.spans.get(loop)
        coded = lists.after_loop(before, names, span, frame, run)
        if loop is not None:
            recorder.loops.pop()
        lists.end(settled.begun, loop, also, frame)
        names |= {name: frame.names[name] for name in settled.begun}
        before |= {name: frame.names[name] for name in settled.begun}
        self._note_changes(settled.running, loop, also, frame)
        for name, value in names.items():
            if name not in before:
                continue
            if before[name] != value:
                frame.names[name] = (
                    after_loop(value, settled.running, loop)
                    if loop is None or without_last is False
                    else before_end(value, (loop, *also), is_before_last=bool(without_last))
                )
            if loop is not None and last.get(name, before[name]) != before[name]:
                is_known = without_last is False
                frame.names[name] = (
                    left(before[name], last[name], ended, loop)
                    if is_known
                    else without_sizes(last[name])
                )
        frame.names |= coded

    def _settled(
        self,
        target: cst.BaseExpression,
        loop: int | None,
        also: tuple[int, ...],
        lost: list[str],
        frame: Frame,
        run: Callable[[], None],
    ) -> _Settled:
        """Go through a loop for trial, until iterations leave what they begin with; enter it then.

        Args:
            target: Its target.
            loop: The loop that makes the submodules.
            also: The loops that make them in other branches, or others in step with them.
            lost: Lists of arrays whose sizes run.
            frame: Where it is.
            run: Goes through its body.
        """
        recorder = frame.recorder
        around, locals_ = dict(frame.names), set(recorder.locals)
        begun = self.sized_lists.begun(lost, target, loop, frame)
        before = dict(frame.names)
        # What the items are made with can be said where they are made.
        recorder.loops += [] if loop is None else [loop]
        recorder.call_loops.append(() if loop is None else (loop, *also))
        running, names = stable(self.merging, before, frame, run)
        return _Settled(around, locals_, begun, before, running, names)

    @staticmethod
    def _note_changes(
        running: Iterable[_Sized], loop: int | None, also: tuple[int, ...], frame: Frame
    ) -> None:
        """Note how sizes change from one iteration to the next."""
        recorder = frame.recorder
        for one, after in running:
            update = after()
            first = entry_of(one, frame)
            if isinstance(update, Dim) and first is not None:
                recorder.log.append(Change(one.piece, first, update, loop, also))


class Loops:
    """Goes through loops.

    Args:
        code: Writes expressions for the constructor.
        merging: Joins values.
        sized_lists: Goes through lists of arrays whose sizes are known.
        evaluate: Goes through an expression.
        run: Goes through statements; says whether they end.
        assign: Binds a target to a value.
    """

    def __init__(
        self,
        code: ConstructorCode,
        merging: Merging,
        sized_lists: SizedLists,
        evaluate: Evaluate,
        run: Callable[[cst.BaseSuite, Frame], bool],
        assign: Assign,
    ) -> None:
        self._code = code
        self._merging = merging
        self._sized_lists = sized_lists
        self._evaluate = evaluate
        self._run = run
        self._assign = assign
        self._number = 0
        self.ended: dict[int, Ended] = {}
        self.spans: dict[int, Span] = {}
        self._call_loops = CallLoops(merging, sized_lists, assign, self.ended, self.spans)

    def number_of(self, node: cst.CSTNode, frame: Frame) -> int:
        """Return the number of a loop: the same for all trials of it, so that they can be compared."""
        recorder = frame.recorder
        key = (*recorder.loops, node)
        passed = (len(recorder.log.about(Pass, key)), *key)
        recorder.log.append(Pass(key))
        if passed not in recorder.loop_numbers:
            self._number += 1
            recorder.loop_numbers[passed] = self._number
        return recorder.loop_numbers[passed]

    # -- statements ---------------------------------------------------------------------------

    def statement(self, node: cst.For, frame: Frame) -> None:
        """Go through a `for` statement."""
        leaving = list(_breaks(node.body))
        before = dict(frame.names)

        def run() -> None:
            self._run(node.body, frame)

        is_open = bool(leaving) and self._changes_sizes(node, frame, run)
        self._iterate(node, frame, run, is_left=bool(leaving))
        if node.orelse is not None:
            self._otherwise(node.orelse, frame)
        for one in leaving if is_open else ():
            frame.mark(one, "the size of an array depends on where the loop is left")
        if is_open and not frame.records:
            frame.names = {
                name: value if value == before.get(name) else without_sizes(value)
                for name, value in frame.names.items()
            }

    def _iterate(
        self, node: cst.For, frame: Frame, run: Callable[[], None], *, is_left: bool
    ) -> None:
        """Go through the iterations of a `for` statement."""
        values = self._evaluate(node.iter, frame)
        header = header_of(node.iter, self._code, frame)
        items = unrolled(values, header)
        if items is None and not (frame.records or is_left) and isinstance(values, Seq):
            items = list(values.items)
        if items is not None:
            for item in items:
                self._assign(node.target, item, None, frame)
                run()
        elif header is not None and not frame.records:
            self._closed(node, header, frame, run)
        elif header is not None:
            places = self._places(node, header, frame, run)
            if places is not None:
                self._call_loops.run(node.target, places, frame, run)
            else:
                item = Unknown(made=made_within(values))
                self._of_constructor(node, header, item, frame, run)
        elif (header := self._sized_lists.header(node.iter, frame)) is not None:
            self._of_constructor(node, header, element_of(values)[0], frame, run)
        else:
            self._call_loops.run(node.target, values, frame, run)

    def _places(
        self, node: cst.For, header: str, frame: Frame, run: Callable[[], None]
    ) -> Repeated | None:
        """Return the places of a loop over places of submodules: `self.blocks[i]`.

        None for other loops, and where sizes stay as they are.
        """
        recorder = frame.recorder
        numbers: list[int] = []
        for below in descendants(node.body):
            match node.target, below:
                case (
                    cst.Name(value=name),
                    cst.Subscript(
                        value=cst.Attribute() as owner,
                        slice=[cst.SubscriptElement(slice=cst.Index(value=cst.Name(value=place)))],
                    ),
                ) if place == name and not frame.verbatim:
                    values = self._evaluate(owner, frame)
                    if isinstance(values, Repeated) and values.loop is not None:
                        numbers += [values.loop, *values.also] if is_regular(values) else [0]
        if not numbers or not self._changes_sizes(node, frame, run):
            return None
        headers = {recorder.headers.get(number, ("", "")) for number in numbers}
        count = count_of(header, recorder)
        (_, made), *others = headers
        most = count_of(made, recorder)
        is_cut = count == f"{most} - 1"
        if others or not count or not (is_cut or count == most):
            return Repeated(UNKNOWN)  # a size of this loop is none of those that make the lists
        loop, *also = dict.fromkeys(numbers)
        at = Position("", loop, tuple(also))
        return Repeated(at, loop, tuple(also), without_last=is_cut)

    def _changes_sizes(self, node: cst.For, frame: Frame, run: Callable[[], None]) -> bool:
        """Whether arrays have other sizes after an iteration."""
        recorder = frame.recorder
        names = dict(frame.names)
        with recorder.trial():
            number = self.number_of(node.target, frame)
            self.bind(node.target, number, frame)
            recorder.loops.append(number)
            running, after = stable(self._merging, dict(frame.names), frame, run)
            recorder.loops.pop()
        frame.names = names
        sizes = [(_last(value), _last(after.get(name))) for name, value in names.items()]
        return bool(running) or any(one and not other for one, other in sizes)

    def of_call(
        self, target: cst.BaseExpression, values: Value, frame: Frame, run: Callable[[], None]
    ) -> None:
        """Go through a loop that only runs with the call."""
        self._call_loops.run(target, values, frame, run)

    def _otherwise(self, node: cst.Else, frame: Frame) -> None:
        """Go through the `else` of a loop as through what follows it."""
        sites = len(frame.recorder.log.of(Build))
        self._run(node.body, frame)
        if len(frame.recorder.log.of(Build)) > sites and frame.records:
            frame.recorder.mark(node, "submodules are built in the `else` of a loop")

    def endless(self, node: cst.While, frame: Frame) -> None:
        """Go through a `while` statement: how often it runs is not known."""
        self._evaluate(node.test, frame)

        def run() -> None:
            self._run(node.body, frame)

        self._call_loops.run(cst.Name("_"), UNKNOWN, frame, run)

    def _of_constructor(
        self,
        node: cst.For,
        header: str,
        item: Value,
        frame: Frame,
        run: Callable[[], None],
    ) -> None:
        """Go through a loop that the constructor runs too.

        Args:
            node: The loop.
            header: What the constructor goes over: sizes, where the method goes over arrays.
            item: What it finds there, as far as that is arrays or may be modules.
            frame: Where it is.
            run: Goes through its body.
        """
        recorder = frame.recorder
        number = self.number_of(node.target, frame)
        target = self._bind_items(node.target, item, number, frame)
        self.note_end(node.target, node.iter, header, number, frame)
        recorder.headers[number] = (target, header)
        self._size_lists(node, number, frame, run)
        before = dict(frame.names)
        recorder.loops.append(number)
        running, names = stable(self._merging, before, frame, run)
        recorder.loops.pop()
        for one, _ in running:
            recorder.block.append(Line(f"{one.local} = {one.first}", one.local))
        outer = recorder.block
        body: Block = []
        recorder.block = body
        recorder.loops.append(number)
        frame.names = {
            name: value if value == before.get(name) else counting(value)
            for name, value in names.items()
        }
        recorder.breaks |= {*_breaks(node.body)}
        run()
        self._update(running, frame, body)
        recorder.loops.pop()
        recorder.block = outer
        outer.append(Compound(f"for {target} in {header}:", body, number=number))
        for name, value in names.items():
            if name in before and before[name] != value:
                after = frame.names[name]
                value = after_loop(value, running, number)
                frame.names[name] = grown(before[name], value, after, number, recorder)

    def _size_lists(
        self, node: cst.For, number: int, frame: Frame, run: Callable[[], None]
    ) -> None:
        """Let the constructor keep the sizes of arrays in lists that a loop changes."""
        recorder, lists = frame.recorder, self._sized_lists
        names = [one for one in lists.candidates(frame) if changes_list(node.body, one)]
        if not names:
            return
        recorder.loops.append(number)
        after = trial(dict(frame.names), frame, run)
        recorder.loops.pop()
        for name in names:
            if name in after and after[name] != frame.names[name]:
                found = lists.sized(name, after[name], node, frame)
                frame.names[name] = frame.names[name] if found is None else found

    def _closed(self, node: cst.For, header: str, frame: Frame, run: Callable[[], None]) -> None:
        """Go through a loop of a submodule: its last iteration says what it leaves behind."""
        recorder = frame.recorder
        number = self.number_of(node.target, frame)
        self.bind_inner(node.target, number, frame)
        before = dict(frame.names)
        recorder.loops.append(number)
        _, names = stable(self._merging, before, frame, run)
        counted = {
            name: value if value == before.get(name) else counting(value)
            for name, value in names.items()
        }
        after = trial(counted, frame, run)
        recorder.loops.pop()
        last = self.note_end(node.target, node.iter, header, number, frame)
        span = self.spans.get(number)
        coded = self._sized_lists.after_loop(before, names, span, frame, run)
        for name, value in before.items():
            if name not in after or after[name] == value:
                continue
            if name in coded:
                frame.names[name] = coded[name]
            elif is_counted(after[name]):
                frame.names[name] = grown(value, names[name], after[name], number, recorder)
            else:
                frame.names[name] = left(value, after[name], last, number)
        for name, value in after.items():
            if name not in before:
                is_array = isinstance(value, Array)
                frame.names[name] = left(value, value, last, number) if is_array else value

    def note_end(
        self,
        target: cst.BaseExpression,
        iterable: cst.BaseExpression,
        header: str,
        number: int,
        frame: Frame,
    ) -> Ended:
        """Note what a loop of a submodule goes over, and return what its last iteration is.

        Args:
            target: Its target.
            iterable: What it goes over, as it is written.
            header: What it goes over.
            number: The loop.
            frame: Where it is.
        """
        spelled = condition_of(header, frame.recorder)
        last = last_iteration(target, iterable, spelled.code) if spelled else None
        if last is not None and not frame.records:
            last = last[0], {inner_name(name, number): end for name, end in last[1].items()}
        self.ended[number] = last
        if spelled is not None and not frame.records:
            self.spans[number] = Span.of(target, spelled, number)
        return last

    def _update(
        self,
        running: list[tuple[Running, Callable[[], Value | Dim | None]]],
        frame: Frame,
        body: list[Line | Compound],
    ) -> None:
        codes: list[tuple[str, str]] = []
        for one, after in running:
            value = after()
            code = self._code_of(value, frame)
            if isinstance(value, Value) and code is None:
                place = frame.recorder.plan.cls if frame.method is None else frame.method
                message = f"the code does not tell what `{one.local}` is after an iteration"
                frame.recorder.mark(place.node, message)
            if code is not None and code != one.local:
                codes.append((one.local, code))
        if len(codes) > 1 and any(local in other for local, _ in codes for _, other in codes):
            # All at once: one may be computed from what another one was.
            names = ", ".join(local for local, _ in codes)
            text = f"{names} = {', '.join(code for _, code in codes)}"
            body.append(Line(text, names, is_update=True))
            return
        body += [Line(f"{local} = {code}", local, is_update=True) for local, code in codes]

    def _code_of(self, value: Value | Dim | None, frame: Frame) -> str | None:
        if isinstance(value, Dim):
            if not self._code.sizes_are_visible(value, frame):
                return None
            return frame.recorder.slots.name(value)
        if isinstance(value, SizedList):
            return None if value.is_running else value.sizes
        return None if value is None else self._code.of_value(value, frame)

    def _bind_items(
        self, target: cst.BaseExpression, item: Value, number: int, frame: Frame
    ) -> str:
        """Bind the target of a loop; return that of the constructor, which has sizes of arrays."""
        match target, item:
            case cst.Name(value=name), Array():
                local = local_for(name, "features", target, frame)
                frame.names[name] = with_last(item, local, (number,))
                return local
            case cst.Tuple(elements=elements), Seq(items=items) if len(items) == len(elements):
                pairs = zip(elements, items, strict=True)
                parts = [self._bind_items(one.value, each, number, frame) for one, each in pairs]
                return f"({', '.join(parts)})" if target.lpar else ", ".join(parts)
        self.bind(target, number, frame, made_by(item))
        return code_of(target)

    def bind(
        self, target: cst.BaseExpression, number: int, frame: Frame, made: Made | None = None
    ) -> None:
        """Bind the target of a loop of the constructor, of what something made."""
        for name in names_in(target):
            frame.names[name] = Code(name, (number,), made=made)
            frame.recorder.locals.add(name)

    @staticmethod
    def bind_inner(target: cst.BaseExpression, number: int, frame: Frame) -> None:
        """Bind the target of a loop of a submodule."""
        for name in names_in(target):
            frame.names[name] = Code(inner_name(name, number), (number,))


def _breaks(body: cst.CSTNode) -> Iterator[cst.Break]:
    """Yield what leaves a loop, given its body."""
    for below in children(body):
        match below:
            case cst.Break():
                yield below
            case cst.For(orelse=cst.Else() as after) | cst.While(orelse=cst.Else() as after):
                yield from _breaks(after)
            case cst.For() | cst.While() | cst.FunctionDef() | cst.ClassDef():
                pass
            case _:
                yield from _breaks(below)


def after_loop(value: Value, running: Iterable[_Sized], loop: int | None) -> Value:
    """Return a value with the sizes that the last iteration leaves in the locals of a loop.

    Args:
        value: It in any iteration.
        running: The locals.
        loop: The loop of the constructor; None for one that only the call runs.
    """
    ends: dict[Atom, Dim] = {
        one.piece: as_dim(Piece(one.local) if loop is None else LoopEnd(one.local, loop=loop))
        for one, _ in running
    }
    return with_sizes(value, lambda dim: dim.replaced(ends))


def before_end(value: Value, loops: Iterable[int], *, is_before_last: bool) -> Value:
    """Return a value as it is where a loop ends before the items of a list do.

    Args:
        value: It in any iteration.
        loops: The loops of the constructor that make the items.
        is_before_last: Whether one item is left: only what that one is called with has sizes of
            an iteration.
    """
    return with_binders(value, {one: ~one if is_before_last else OF_CALL for one in loops})


def at_last(value: Value, loops: Iterable[int]) -> Value:
    """Return a value that the last item of a list is called with, after a loop over the others."""
    return with_binders(value, {~one: one for one in loops})


def _last(value: Value | None) -> Dim | None:
    """Return the last size of an array; None for other values."""
    return value.shape.axis(-1) if isinstance(value, Array) else None
