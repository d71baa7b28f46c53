"""Goes through loops that run with the call only, over lists of submodules or arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import libcst as cst

from typed_nnx_codegen.migrate.linen.coded_lists import coded_lists
from typed_nnx_codegen.migrate.linen.dims import Dim, Piece
from typed_nnx_codegen.migrate.linen.frames import Change, Frame
from typed_nnx_codegen.migrate.linen.iteration import element_of, left, literal_size
from typed_nnx_codegen.migrate.linen.merging import is_module
from typed_nnx_codegen.migrate.linen.open_tuples import rest_of
from typed_nnx_codegen.migrate.linen.references import Grown, Headed, Repeated, Sometimes
from typed_nnx_codegen.migrate.linen.values import UNKNOWN, Value

if TYPE_CHECKING:
    from typed_nnx_codegen.migrate.linen.executor import Executor
    from typed_nnx_codegen.migrate.linen.loops import Loops


class CallLoops:
    """Goes through such loops.

    Args:
        executor: What goes through the methods.
        loops: What goes through all loops.
    """

    def __init__(self, executor: Executor, loops: Loops) -> None:
        self._executor = executor
        self._loops = loops

    def run(
        self, target: cst.BaseExpression, values: Value, frame: Frame, run: Callable[[], None]
    ) -> None:
        """Go through a loop that runs with the call only, over submodules or arrays."""
        assign = self._executor.statements.assign
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
                    name: self._executor.merging.chosen(
                        part.condition, names.get(name, value), value, frame
                    )
                    for name, value in frame.names.items()
                } | {name: value for name, value in names.items() if name not in frame.names}
            elif isinstance(part, Repeated):
                self.run(target, part, frame, run)
            else:
                self._executor.statements.assign(target, part, None, frame)
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
        lists = self._executor.running_lists
        lost: list[str] = []
        while True:
            around, locals_ = dict(frame.names), set(recorder.locals)
            begun = lists.begun(lost, target, loop, frame)
            before = dict(frame.names)
            # What the items are made with can be said where they are made.
            recorder.loops += [] if loop is None else [loop]
            recorder.call_loops.append(loop or 0)
            running, names = self._loops.stable(before, frame, run)
            sizes = {one.local for one, _ in running}
            more = [] if lost else lists.lost(before, names, sizes, loop, frame)
            if not more:
                break
            lost = more
            recorder.call_loops.pop()
            recorder.loops.pop()
            frame.names, recorder.locals = around, locals_
        frame.names = dict(names)
        bind()
        run()
        recorder.call_loops.pop()
        ended = None if frame.records or loop is None else self._loops.ended.get(loop)
        last = self._loops.trial(names, frame, run) if ended is not None else {}
        span = None if loop is None else self._loops.spans.get(loop)
        coded = coded_lists(self._executor, before, names, span, frame, run)
        if loop is not None:
            recorder.loops.pop()
        lists.end(begun, loop, also, frame)
        names |= {name: frame.names[name] for name in begun}
        before |= {name: frame.names[name] for name in begun}
        for one, after in running:
            update = after()
            entry = recorder.templates.dims_in(one.first)
            first = entry[0] if entry else literal_size(one.first)
            if isinstance(update, Dim) and first is not None and recorder.is_recording:
                recorder.changes[Piece(one.local)] = Change(first, update, loop, also)
        for name, value in names.items():
            if name in before and before[name] != value:
                frame.names[name] = value
            if name in before and loop is not None and last.get(name, before[name]) != before[name]:
                frame.names[name] = left(before[name], last[name], ended, loop)
        frame.names |= coded
