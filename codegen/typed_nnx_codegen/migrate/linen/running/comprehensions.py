"""Goes through comprehensions."""

from __future__ import annotations

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of
from typed_nnx_codegen.migrate.linen.lists.open_tuples import is_dropping_none, without_none
from typed_nnx_codegen.migrate.linen.lists.size_lists import any_item
from typed_nnx_codegen.migrate.linen.running.frames import Assign, Block, Compound, Evaluate, Frame
from typed_nnx_codegen.migrate.linen.running.iteration import element_of, header_of, unrolled
from typed_nnx_codegen.migrate.linen.running.loops import Loops
from typed_nnx_codegen.migrate.linen.running.references import (
    Choice,
    Headed,
    ModuleValue,
    Repeated,
)
from typed_nnx_codegen.migrate.linen.running.values import (
    UNKNOWN,
    Array,
    Code,
    CodeList,
    OfShapes,
    Seq,
    Unknown,
    Value,
)
from typed_nnx_codegen.migrate.linen.shapes.operands import dim_of
from typed_nnx_codegen.migrate.linen.sizes.dims import Dim
from typed_nnx_codegen.migrate.linen.writing.constructor_code import ConstructorCode


class Comprehensions:
    """Goes through comprehensions.

    Args:
        code: Writes expressions for the constructor.
        evaluate: Goes through an expression.
        assign: Binds a target to a value.
        loops: What goes through loops.
    """

    def __init__(
        self, code: ConstructorCode, evaluate: Evaluate, assign: Assign, loops: Loops
    ) -> None:
        self._code = code
        self._evaluate = evaluate
        self._assign = assign
        self._loops = loops

    def comprehension(
        self, node: cst.ListComp | cst.GeneratorExp | cst.DictComp | cst.SetComp, frame: Frame
    ) -> Value:
        """Return what a comprehension stands for."""
        part = node.for_in
        values = self._evaluate(part.iter, frame)
        header = header_of(part.iter, self._code, frame)
        kept = dict(frame.names)
        items = unrolled(values, header)
        if items is None and not frame.records and isinstance(values, Seq):
            items = list(values.items)  # a submodule: nothing is written about it
        if is_dropping_none(node) and isinstance(values, Seq | Headed):
            return without_none(values)
        if part.inner_for_in is not None or isinstance(node, (cst.DictComp, cst.SetComp)):
            value = self._general(node, header, values, frame)
        elif items is not None and not part.ifs:
            found: list[Value] = []
            for item in items:
                self._assign(part.target, item, None, frame)
                found.append(self._evaluate(node.elt, frame))
            value = Seq(tuple(found), is_list=True)
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
        number = self._loops.number_of(node, frame)
        part: cst.CompFor | None = node.for_in
        outer = recorder.block
        body: Block = []
        recorder.block = body
        levels = 0
        while part is not None:
            if header is not None and not frame.records and levels == 0:
                self._loops.bind_inner(part.target, number, frame)
                self._loops.note_end(part.target, part.iter, header, number, frame)
            elif header is not None:
                self._loops.bind(part.target, number, frame)
            if header is not None:
                recorder.headers[number] = (code_of(part.target), header)
            else:
                element = any_item(element_of(values)[0], values)
                self._assign(part.target, element, None, frame)
            for condition in part.ifs:
                self._evaluate(condition.test, frame)
            part = part.inner_for_in
            levels += 1
            if part is not None:
                values = self._evaluate(part.iter, frame)
                header = None if header is None else self._code.of(part.iter, frame)
        recorder.loops.append(number)
        if isinstance(node, cst.DictComp):
            self._evaluate(node.key, frame)
            element = self._evaluate(node.value, frame)
        else:
            element = self._evaluate(node.elt, frame)
        recorder.loops.pop()
        recorder.block = outer
        if body:
            if header is None or levels > 1 or node.for_in.ifs:
                recorder.mark(node, "submodules are built in a comprehension that is not simple")
            line = f"for {code_of(node.for_in.target)} in {header or '()'}:"
            outer.append(Compound(line, body, number=number))
        if not isinstance(element, (ModuleValue, Array, Choice)):
            whole = node
            if isinstance(node, cst.GeneratorExp) and not node.lpar:
                whole = node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
            found = self._code.or_code(UNKNOWN, whole, frame)
            count = self._count(node, frame)
            if isinstance(found, Code) and count is not None:
                return CodeList(found.code, found.home, count=count)
            if not isinstance(found, Unknown) or isinstance(found, OfShapes):
                return found
        return Repeated(element, number)

    def _count(
        self, node: cst.ListComp | cst.GeneratorExp | cst.DictComp | cst.SetComp, frame: Frame
    ) -> Dim | None:
        """Return how many items a list over a range has; None where that is not known."""
        match node:
            case cst.ListComp(
                for_in=cst.CompFor(
                    iter=cst.Call(func=cst.Name(value="range"), args=args),
                    ifs=[],
                    inner_for_in=None,
                )
            ) if frame.lookup("range") is None and not any(arg.star for arg in args):
                ends = [dim_of(frame.seen(arg.value) or UNKNOWN) for arg in args]
                known = [one for one in ends if one is not None]
                if len(known) == len(ends) and len(known) in (1, 2):
                    return known[-1] - (known[0] if len(known) == 2 else 0)
        return None
