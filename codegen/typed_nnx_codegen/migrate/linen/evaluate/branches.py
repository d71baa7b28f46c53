"""Evaluates branches: those that the constructor can decide, and those on what is called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import descendants
from typed_nnx_codegen.migrate.linen.domain.class_plan import NAME, Build, Condition
from typed_nnx_codegen.migrate.linen.domain.code import operand
from typed_nnx_codegen.migrate.linen.domain.dims import OF_CALL, STRIDES, Dim, Piece, as_dim
from typed_nnx_codegen.migrate.linen.domain.frames import (
    Block,
    Compound,
    Evaluate,
    Frame,
    Line,
    Take,
)
from typed_nnx_codegen.migrate.linen.domain.references import Choice
from typed_nnx_codegen.migrate.linen.domain.values import (
    UNKNOWN,
    Array,
    Code,
    Size,
    Unknown,
    Value,
    is_text,
)
from typed_nnx_codegen.migrate.linen.evaluate.conditions import (
    condition_of,
    forget,
    take_told,
    there_if,
    truth_of,
)
from typed_nnx_codegen.migrate.linen.evaluate.lifts import optional_transform
from typed_nnx_codegen.migrate.linen.evaluate.lists import either_tuple, in_uneven, sometimes
from typed_nnx_codegen.migrate.linen.evaluate.merging import (
    Merging,
    Running,
    class_if,
    is_function,
    is_module,
)
from typed_nnx_codegen.migrate.linen.write.constructor_code import ConstructorCode

_Statements = list[cst.BaseStatement | cst.BaseSmallStatement]


class Choices:
    """Goes through branches.

    Args:
        code: Writes expressions for the constructor.
        merging: Joins values.
        evaluate: Goes through an expression.
        run_all: Goes through statements; says whether they end.
    """

    def __init__(
        self,
        code: ConstructorCode,
        merging: Merging,
        evaluate: Evaluate,
        run_all: Callable[[_Statements, Frame], bool],
    ) -> None:
        self._code = code
        self._merging = merging
        self._evaluate = evaluate
        self._run_all = run_all
        self._number = 0

    def statement(self, node: cst.If, rest: _Statements, frame: Frame) -> bool:
        """Go through a branch and what follows it; return whether that ends the function."""
        run_all = self._run_all
        test = self._evaluate(node.test, frame)
        truth = truth_of(test)
        orelse = _orelse(node)
        frame.log(Take(node, frozenset({True, False} if truth is None else {truth})))
        if truth is not None:
            chosen = list(node.body.body) if truth else orelse
            return run_all([*chosen, *rest], frame)
        if _raises(node.body.body) and not orelse:
            if frame.verbatim:
                frame.recorder.block.append(Line("", statement=node))
            take_told(node.test, outcome=False, frame=frame)
            return run_all(rest, frame)
        code = self._code.of(node.test, frame) or self._of_last_sizes(node.test, frame)
        if code is None:
            asked = self._on_shapes(node.test, frame)
            return self._on_call(list(node.body.body), orelse, rest, frame, asked, node.test)
        body: _Statements = list(node.body.body)
        if _is_refusal(body) is not _is_refusal(orelse):
            # What follows does not depend on the branch: on its other side there is none.
            return self._on_fields(code, body, orelse, [], frame) or run_all(rest, frame)
        return self._on_fields(code, body, orelse, rest, frame)

    def _on_fields(
        self, code: str, body: _Statements, orelse: _Statements, rest: _Statements, frame: Frame
    ) -> bool:
        """Go through a branch that the constructor decides."""
        recorder = frame.recorder
        outer = recorder.block
        before = dict(frame.names)
        run_all = self._run_all
        self._number += 1
        number = self._number
        recorder.branch_codes[number] = code
        recorder.block = first = _block()
        recorder.conditions.append(Condition(number, side=True, is_of_call=False))
        frame.ended_by = ""
        returned = len(frame.results)
        ends = run_all(body, frame)
        first_results = frame.results[returned:]
        ended_by = frame.ended_by
        names = frame.names
        frame.names = dict(before)
        recorder.block = second = _block()
        recorder.conditions[-1] = Condition(number, side=False, is_of_call=False)
        other_ends = run_all(orelse, frame)
        other_names = frame.names
        done = ends and other_ends
        if ends and not other_ends:
            goes_on = ended_by in ("continue", "break")
            done = run_all(rest, frame)
            if goes_on and not done:
                # The next iteration begins, or the loop ends, with what either side leaves.
                frame.names = self._merged(names, frame.names, frame, first, second)
        elif other_ends and not ends:
            recorder.block, frame.names = first, names
            recorder.conditions[-1] = Condition(number, side=True, is_of_call=False)
            done = run_all(rest, frame)
        recorder.conditions.pop()
        recorder.block = outer
        if ends and done and ended_by == "return":
            self._returned(code, returned, first_results, frame)
        if not ends and not other_ends:
            frame.names = self._merged(names, other_names, frame, first, second, code)
        if frame.records or first or second:
            outer.append(Compound(f"if {code}:", first, second))
        if not ends and not other_ends:
            return run_all(rest, frame)
        return done

    def _returned(self, code: str, start: int, first: list[Value], frame: Frame) -> None:
        """Note what a function that ends on both sides of a branch returns: arrays, or a class.

        Args:
            code: The condition.
            start: How many results there were before the branch.
            first: The results where the condition holds.
            frame: The function.
        """
        sides = [first, frame.results[start + len(first) :]]
        if all(len(side) == 1 for side in sides):
            chosen = class_if(sides[0][0], sides[1][0], code)
            if chosen is not None:
                frame.results[start:] = [chosen]
                return
        condition = condition_of(code, frame.recorder)
        if frame.records or condition is None or not all(sides):
            return
        join = self._merging.joined
        one, other = (reduce(lambda a, b: join(a, b, frame), side) for side in sides)
        frame.results[start:] = [self._merging.chosen(condition, one, other, frame)]

    def _on_shapes(self, test: cst.BaseExpression, frame: Frame) -> str:
        """Return the code of a question about shapes of arguments; empty where it is another."""
        if not frame.records:
            return ""
        with self._code.with_shapes():
            return self._code.of(test, frame) or ""

    def _of_last_sizes(self, test: cst.BaseExpression, frame: Frame) -> str | None:
        """Return the question whether two shapes differ, of which all but the last size are equal.

        Then the constructor decides it: `if residual.shape != x.shape` before a projection.
        """
        match test:
            case cst.Comparison(
                left=cst.Attribute(value=left, attr=cst.Name(value="shape")),
                comparisons=[
                    cst.ComparisonTarget(
                        operator=(cst.Equal() | cst.NotEqual()) as operator,
                        comparator=cst.Attribute(value=right, attr=cst.Name(value="shape")),
                    )
                ],
            ):
                found = _differing(frame.seen(left), frame.seen(right))
                if found.steps and frame.recorder.loops:
                    return None  # a size of 1 stays: items of a list would be counted wrongly
                codes = [self._code.of_value(Size(one), frame) for one in found.last]
                steps = {self._step(one, frame): one for one in found.steps}
                if found and None not in (*codes, *steps):
                    parts = [f"{codes[0]} != {codes[1]}"] if codes else []
                    parts += [
                        f"{code} not in (None, 1, {(1,) * found.steps[one]})"
                        if STRIDES in one.binders
                        else f"{code} != 1"
                        for code, one in steps.items()
                    ]
                    whole = " or ".join(parts)
                    return f"not ({whole})" if isinstance(operator, cst.Equal) else f"({whole})"
        return None

    def _step(self, piece: Piece, frame: Frame) -> str | None:
        """Return the code of a stride in the constructor; None where it has none there."""
        binders = piece.binders
        if STRIDES in binders:
            binders = tuple(one for one in binders if one not in (OF_CALL, STRIDES))
        return self._code.of_value(Size(as_dim(replace(piece, binders=binders))), frame)

    def _on_call(
        self,
        body: _Statements,
        orelse: _Statements,
        rest: _Statements,
        frame: Frame,
        asked: str = "",
        test: cst.BaseExpression | None = None,
    ) -> bool:
        """Go through a branch on what the method is called with: both sides are built.

        Sizes that differ are told apart where the constructor can ask the same.
        """
        recorder = frame.recorder
        run_all = self._run_all
        before = dict(frame.names)
        self._number += 1
        number = self._number
        self._enter(number, frame)
        told = take_told(test, outcome=True, frame=frame, body=body)
        ends = run_all(body, frame)
        forget(told, frame)
        names = frame.names
        frame.names = dict(before)
        self._other_side(number, frame)
        told = take_told(test, outcome=False, frame=frame)
        other_ends = run_all(orelse, frame)
        if not ends:
            forget(told, frame)
        self._leave(frame)
        if ends and other_ends:
            return True
        if other_ends:
            frame.names = names
        elif not ends and asked:
            first: Block = []
            second: Block = []
            frame.names = self._merged(names, frame.names, frame, first, second)
            recorder.block.append(Compound(f"if {asked}:", first, second))
        elif not ends:
            frame.names = self._merged(names, frame.names, frame, None, None)
        return run_all(rest, frame) or False

    def match(self, node: cst.Match, frame: Frame) -> bool:
        """Go through a `match` on literals as through the branches that it stands for."""
        chain: cst.Else | cst.If | None = None
        for case in reversed(node.cases):
            test = _test(node.subject, case)
            if test is None and case.guard is None and _matches_all(case.pattern):
                chain = cst.Else(case.body)
            elif test is None:
                sites = len(frame.recorder.log.of(Build))
                for one in node.cases:
                    self._run_all(list(one.body.body), frame)
                if len(frame.recorder.log.of(Build)) > sites:
                    frame.recorder.mark(node, "submodules are built under a pattern of `match`")
                return False
            else:
                chain = cst.If(test, case.body, orelse=chain)
        if isinstance(chain, cst.If):
            return self.statement(chain, [], frame)
        return self._run_all(list(chain.body.body), frame) if chain is not None else False

    @staticmethod
    def _enter(number: int, frame: Frame) -> None:
        """Enter a branch on what the method is called with."""
        frame.recorder.branch_path.append(number)
        frame.recorder.conditions.append(Condition(number, side=True, is_of_call=True))

    @staticmethod
    def _other_side(number: int, frame: Frame) -> None:
        frame.recorder.branch_path[-1] = -number
        frame.recorder.conditions[-1] = Condition(number, side=False, is_of_call=True)

    @staticmethod
    def _leave(frame: Frame) -> None:
        frame.recorder.branch_path.pop()
        frame.recorder.conditions.pop()

    def _merged(
        self,
        names: Mapping[str, Value],
        others: Mapping[str, Value],
        frame: Frame,
        first: Block | None,
        second: Block | None,
        code: str = "",
    ) -> dict[str, Value]:
        found: dict[str, Value] = {}
        for name in [*names, *(name for name in others if name not in names)]:
            running: list[Running] | None = [] if first is not None and frame.records else None
            optional: Value | None = None
            if name in names and name in others and code:
                optional = optional_transform(names[name], others[name], code)
                optional = optional or class_if(names[name], others[name], code)
                optional = optional or sometimes(names[name], others[name], code, frame.recorder)
                optional = optional or self._chosen(names[name], others[name], code, frame)
                uneven = [] if optional else in_uneven(names[name], others[name])
                for site in uneven:
                    message = "a branch decides which submodules are in a list with this one"
                    frame.mark(site.node, message, NAME)
            if optional is not None:
                value = optional
            elif name in names and name in others:
                value = self._either(name, names[name], others[name], frame, running)
                if code and isinstance(value, Array | Choice):
                    value = there_if(value, names[name], others[name], code)
            else:
                value = names[name] if name in names else others[name]
                side, where = (first, code) if name in names else (second, f"not ({code})")
                if code and isinstance(value, Code) and _binds(side or (), value.code):
                    frame.recorder.partial_locals[value.code] = where
            for one in running or ():
                assert first is not None
                assert second is not None
                partial = frame.recorder.partial_locals
                a, b = partial.get(one.first), partial.get(one.second)
                _assign(one.local, one.first, a, first)
                _assign(one.local, one.second, b, second)
                if a and b:
                    partial[one.local] = f"({a} if {code} else {b})"
                elif a or b:
                    partial[one.local] = (
                        f"({operand(code)} or {b})" if b else f"({a} or not {operand(code)})"
                    )
                frame.recorder.chosen_locals[one.local] = (code, one.first, one.second)
            found[name] = value
        return found

    def _either(
        self, name: str, one: Value, other: Value, frame: Frame, running: list[Running] | None
    ) -> Value:
        """Return what a name stands for behind a branch."""
        if running is not None:
            settings = self._merging.settings(name, one, other, frame)
            if settings is not None:
                running.append(settings)
                return Code(settings.local)
        return self._merging.merged(name, one, other, frame, running)

    def _chosen(self, one: Value, other: Value, code: str, frame: Frame) -> Value | None:
        """Return an array of a submodule whose sizes depend on a branch; None for other values."""
        condition = None if frame.records else condition_of(code, frame.recorder)
        if one == other or condition is None:
            return None
        if isinstance(one, Array) and isinstance(other, Array):
            return self._merging.chosen(condition, one, other, frame)
        return None

    def expression(self, node: cst.IfExp, test: Value, frame: Frame) -> Value:
        """Return what a conditional expression stands for."""
        del test
        recorder = frame.recorder
        code = self._code.of(node.test, frame) or self._of_last_sizes(node.test, frame)
        if code is None:
            self._number += 1
            number = self._number
            self._enter(number, frame)
            one = self._evaluate(node.body, frame)
            self._other_side(number, frame)
            other = self._evaluate(node.orelse, frame)
            self._leave(frame)
            return self._merging.joined(one, other, frame)
        outer = recorder.block
        self._number += 1
        number = self._number
        recorder.branch_codes[number] = code
        recorder.conditions.append(Condition(number, side=True, is_of_call=False))
        recorder.block = first = _block()
        one = self._evaluate(node.body, frame)
        recorder.conditions[-1] = Condition(number, side=False, is_of_call=False)
        recorder.block = second = _block()
        other = self._evaluate(node.orelse, frame)
        recorder.conditions.pop()
        recorder.block = outer
        if first or second:
            outer.append(Compound(f"if {code}:", first, second))
        if one == other:
            return one
        optional = optional_transform(one, other, code) or class_if(one, other, code)
        if optional is not None:
            return optional
        if not is_module(one) and not is_module(other):
            found = self._code.or_code(UNKNOWN, node, frame)
            if isinstance(found, Code):
                if is_text(one) and is_text(other):
                    return replace(found, holds="text")
                return either_tuple(found, condition_of(code, recorder), one, other)
            if not isinstance(found, Unknown):
                return found
        if is_function(one) and is_function(other):
            value = self._merging.joined(one, other, frame)
            text = self._code.of(node, frame)
            if isinstance(value, Choice) and text is not None:
                return replace(value, code=operand(text))
        running: list[Running] = []
        value = self._merging.merged("value", one, other, frame, running)
        value = there_if(value, one, other, code)
        if running:
            chosen = Compound(f"if {code}:")
            for each in running:
                chosen.body.append(Line(f"{each.local} = {each.first}", each.local))
                chosen.orelse.append(Line(f"{each.local} = {each.second}", each.local))
            outer.append(chosen)
        return self._code.or_code(value, node, frame)


def _binds(block: Sequence[Line | Compound], local: str) -> bool:
    """Whether lines of the constructor assign a local."""
    return any(
        _binds([*one.body, *one.orelse], local) if isinstance(one, Compound) else one.local == local
        for one in block
    )


def _assign(local: str, code: str, where: str | None, block: Block) -> None:
    """Append the assignment of a local, under the condition that there is its value."""
    line = Line(f"{local} = {code}", local)
    block.append(line if where is None else Compound(f"if {where}:", [line]))


@dataclass(frozen=True)
class _Differing:
    """What tells whether two shapes differ.

    Attributes:
        last: Their last sizes, where these are not the same.
        steps: The strides that one of them had more, and along how many axes; with strides of 1 the
            other sizes are the same.
    """

    last: tuple[Dim, ...] = ()
    steps: Mapping[Piece, int] = field(default_factory=dict)

    def __bool__(self) -> bool:
        """Whether anything tells it."""
        return bool(self.last or self.steps)


def _differing(one: Value | None, other: Value | None) -> _Differing:
    """Return what tells whether two arrays have different shapes; nothing where that is not known."""
    if not isinstance(one, Array) or not isinstance(other, Array):
        return _Differing()
    rank = other.shape.rank if one.shape.rank is None else one.shape.rank
    count = max(len(one.shape.dims), len(other.shape.dims), 1)
    first, second = (
        shape.expanded(count) if rank is None else shape.with_rank(rank)
        for shape in (one.shape, other.shape)
    )
    if first is None or second is None or None in (*first.dims, *second.dims[-1:]):
        return _Differing()
    if first.lead != second.lead or (first.lead is not None and not first.lead.argument):
        return _Differing()
    steps: Counter[Piece] = Counter()
    for before, after in zip(first.dims[:-1], second.dims[:-1], strict=True):
        found = _steps_between(before, after)
        if found is None:
            return _Differing()
        steps.update(found)
    last = tuple(size for size in (first.dims[-1], second.dims[-1]) if size is not None)
    return _Differing(() if last[0] == last[1] else last, steps)


def _steps_between(one: Dim | None, other: Dim | None) -> Iterable[Piece] | None:
    """Return the strides without which two sizes would be the same; None where nothing tells that."""
    if one is None or other is None:
        return None
    for before, after in ((one, other), (other, one)):
        known = {*before.pieces()}
        steps = [*dict.fromkeys(one for one in after.pieces() if one not in known)]
        if after.replaced(dict.fromkeys(steps, as_dim(1))) == before:
            return steps
    return None


def _block() -> Block:
    return []


def _matches_all(pattern: cst.MatchPattern) -> bool:
    return isinstance(pattern, cst.MatchAs) and pattern.pattern is None


def _test(subject: cst.BaseExpression, case: cst.MatchCase) -> cst.BaseExpression | None:
    """Return the condition of a case whose patterns are literals; None for other patterns."""
    pattern = case.pattern
    patterns = (
        [one.pattern for one in pattern.patterns] if isinstance(pattern, cst.MatchOr) else [pattern]
    )
    values: list[cst.BaseExpression] = []
    for one in patterns:
        if isinstance(one, (cst.MatchValue, cst.MatchSingleton)):
            values.append(one.value)
        else:
            return None
    if case.guard is not None:
        return None
    if len(values) == 1:
        operator: cst.BaseCompOp = cst.Equal()
        other: cst.BaseExpression = values[0]
    else:
        operator, other = cst.In(), cst.Tuple([cst.Element(value) for value in values])
    return cst.Comparison(subject, [cst.ComparisonTarget(operator, other)])


def _orelse(node: cst.If) -> _Statements:
    match node.orelse:
        case cst.Else(body=body):
            return list(body.body)
        case cst.If() as other:
            return [other]
    return []


def _is_refusal(body: _Statements) -> bool:
    """Whether statements end with `raise` whatever happens."""
    returns = (cst.Return, cst.Break, cst.Continue)
    return _raises(body) and not any(
        isinstance(node, returns) for one in body for node in descendants(one)
    )


def _raises(body: Sequence[cst.CSTNode]) -> bool:
    """Whether a body ends with `raise`."""
    match body[-1:]:
        case [cst.SimpleStatementLine(body=[*_, cst.Raise()]) | cst.Raise()]:
            return True
    return False
