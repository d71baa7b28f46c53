"""Goes through loops that run with the call only, over lists of submodules or arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import libcst as cst

from typed_nnx_codegen.migrate.linen.lists.coded_lists import Span, coded_lists
from typed_nnx_codegen.migrate.linen.lists.open_tuples import rest_of
from typed_nnx_codegen.migrate.linen.lists.running_lists import Begun, RunningLists
from typed_nnx_codegen.migrate.linen.running.frames import Assign, Change, Frame
from typed_nnx_codegen.migrate.linen.running.iteration import (
    Ended,
    element_of,
    left,
    literal_size,
    stable,
    trial,
)
from typed_nnx_codegen.migrate.linen.running.merging import Merging, Running, is_module
from typed_nnx_codegen.migrate.linen.running.references import Grown, Headed, Repeated, Sometimes
from typed_nnx_codegen.migrate.linen.running.values import UNKNOWN, Value
from typed_nnx_codegen.migrate.linen.sizes.dims import Dim, Piece

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


class CallLoops:
    """Goes through such loops.

    Args:
        merging: Joins values.
        running_lists: Goes through lists in loops over submodules.
        assign: Binds a target to a value.
        ended: What the last iterations of loops of the constructor leave.
        spans: What they go over.
    """

    def __init__(
        self,
        merging: Merging,
        running_lists: RunningLists,
        assign: Assign,
        ended: Mapping[int, Ended],
        spans: Mapping[int, Span],
    ) -> None:
        self._merging = merging
        self._running_lists = running_lists
        self._assign = assign
        self._ended = ended
        self._spans = spans

    def run(
        self, target: cst.BaseExpression, values: Value, frame: Frame, run: Callable[[], None]
    ) -> None:
        """Go through a loop that runs with the call only, over submodules or arrays."""
        assign = self._assign
        if isinstance(values, Headed) and any(is_module(item) for item in values.head):
            for item in values.head:
                assign(target, item, None, frame)
                run()
            values = rest_of(values)
        if isinstance(values, Grown):
            if values.loop is None:
                self._parts(target, values.parts, frame, run)
            else:
                each = Repeated(UNKNOWN, values.loop)
                parts = values.parts
                self._running(
                    target,
                    each,
                    frame,
                    lambda: self._parts(target, parts, frame, run),
                    lambda: None,
                )
            return
        element, _ = element_of(values)
        self._running(target, values, frame, run, lambda: assign(target, element, None, frame))

    def _parts(
        self,
        target: cst.BaseExpression,
        parts: tuple[Value, ...],
        frame: Frame,
        run: Callable[[], None],
    ) -> None:
        """Go through such a loop for what a list consists of."""
        for part in parts:
            if isinstance(part, Sometimes):
                before = dict(frame.names)
                self._parts(target, part.parts, frame, run)
                names, frame.names = frame.names, before
                self._parts(target, part.orelse, frame, run)
                frame.names = {
                    name: self._merging.chosen(part.condition, names.get(name, value), value, frame)
                    for name, value in frame.names.items()
                } | {name: value for name, value in names.items() if name not in frame.names}
            elif isinstance(part, Repeated):
                self.run(target, part, frame, run)
            else:
                self._assign(target, part, None, frame)
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
        recorder = frame.recorder
        bind()
        lists = self._running_lists
        settled = self._settled(target, loop, [], frame, run)
        lost = lists.lost(settled.before, settled.names, settled.sizes, loop, frame)
        if lost:
            recorder.call_loops.pop()
            recorder.loops.pop()
            frame.names, recorder.locals = dict(settled.around), set(settled.locals)
            settled = self._settled(target, loop, lost, frame, run)
        before, names = settled.before, settled.names
        frame.names = dict(names)
        bind()
        run()
        recorder.call_loops.pop()
        ended = None if frame.records or loop is None else self._ended.get(loop)
        last = trial(names, frame, run) if ended is not None else {}
        span = None if loop is None else self._spans.get(loop)
        coded = coded_lists(lists, before, names, span, frame, run)
        if loop is not None:
            recorder.loops.pop()
        lists.end(settled.begun, loop, also, frame)
        names |= {name: frame.names[name] for name in settled.begun}
        before |= {name: frame.names[name] for name in settled.begun}
        self._note_changes(settled.running, loop, also, frame)
        for name, value in names.items():
            if name in before and before[name] != value:
                frame.names[name] = value
            if name in before and loop is not None and last.get(name, before[name]) != before[name]:
                frame.names[name] = left(before[name], last[name], ended, loop)
        frame.names |= coded

    def _settled(
        self,
        target: cst.BaseExpression,
        loop: int | None,
        lost: list[str],
        frame: Frame,
        run: Callable[[], None],
    ) -> _Settled:
        """Go through a loop for trial, until iterations leave what they begin with; enter it then.

        Args:
            target: Its target.
            loop: The loop that makes the submodules.
            lost: Lists of arrays whose sizes run.
            frame: Where it is.
            run: Goes through its body.
        """
        recorder = frame.recorder
        around, locals_ = dict(frame.names), set(recorder.locals)
        begun = self._running_lists.begun(lost, target, loop, frame)
        before = dict(frame.names)
        # What the items are made with can be said where they are made.
        recorder.loops += [] if loop is None else [loop]
        recorder.call_loops.append(loop or 0)
        running, names = stable(self._merging, before, frame, run)
        return _Settled(around, locals_, begun, before, running, names)

    @staticmethod
    def _note_changes(
        running: Iterable[_Sized], loop: int | None, also: tuple[int, ...], frame: Frame
    ) -> None:
        """Note how sizes change from one iteration to the next."""
        recorder = frame.recorder
        for one, after in running:
            update = after()
            entry = recorder.templates.dims_in(one.first)
            first = entry[0] if entry else literal_size(one.first)
            if isinstance(update, Dim) and first is not None and recorder.is_recording:
                recorder.changes[Piece(one.local)] = Change(first, update, loop, also)
