"""``model = M.partial_init(state)(...)``: a Module is made under jit and gets a State."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import dotted, read_names
from typed_nnx_codegen.migrate.file import File, with_commas
from typed_nnx_codegen.migrate.patterns.deferred import deferred
from typed_nnx_codegen.migrate.patterns.method_calls import is_quick

Line = cst.SimpleStatementLine
_TO_WRITE = "make it with `nnx.jit(lambda: M(...))()`, then `nnx.update(model, state)`"


class PartialInit:
    """Rewrites the lines of a file with ``partial_init``.

    Args:
        file: The file.
        is_surely: Whether a call is of the method of a class of Modules.
    """

    def __init__(self, file: File, is_surely: Callable[[cst.Call], bool]) -> None:
        self._file = file
        self._is_surely = is_surely
        self._lines: dict[cst.CSTNode, cst.Call] = {}
        self._calls: set[cst.Call] = set()

    def plan(self) -> None:
        """Find the calls, and the lines that have such a call alone."""
        self._calls = {
            node
            for node in self._file.analysis.known.of(cst.Call)
            if type(node.func) is cst.Call and self._is_surely(node.func)
        }
        if not self._calls:
            return
        for node in self._file.analysis.nodes.of(Line):
            if len(node.body) == 1:
                call = _value_of(node.body[0])
                if call in self._calls and self._can_follow(node.body[0], call):
                    self._lines[node] = call

    def _can_follow(self, statement: cst.BaseSmallStatement, call: cst.Call) -> bool:
        """Whether the States can be read after the Module was bound to its name."""
        assert isinstance(call.func, cst.Call)
        states = call.func.args
        if not states or not all(is_quick(arg.value) for arg in states):
            return False
        if isinstance(statement, cst.Return):
            return "model" not in set(read_names(call))
        name = _target(statement)
        read = {each for arg in states for each in read_names(arg.value)}
        return name is not None and dotted(name).partition(".")[0] not in read

    def mark(self, call: cst.Call) -> None:
        """Leave a call to a person that is none of a line alone."""
        if call in self._calls and call not in self._lines.values():
            self._file.decide(call, _TO_WRITE)

    def line(self, original: Line, updated: Line) -> Line | cst.FlattenSentinel[Line]:
        """Rewrite a line."""
        call = self._lines.get(original)
        after = _value_of(updated.body[0]) if call is not None else None
        if call is None or after is None or not isinstance(after.func, cst.Call):
            return updated
        function = after.func.func
        assert isinstance(function, cst.Attribute)
        later = deferred(self._file, call, after.with_changes(func=function.value))
        if later is None:
            self._file.decide(call, _TO_WRITE)
            return updated
        made = cst.Call(self._file.call("nnx.jit", later.function), later.given)
        return self._lines_for(updated, made, after.func.args)

    def _lines_for(
        self, updated: Line, made: cst.Call, states: Sequence[cst.Arg]
    ) -> cst.FlattenSentinel[Line]:
        statement = updated.body[0]
        target = _target(statement) or cst.Name("model")
        update = self._file.call("nnx.update", *with_commas([cst.Arg(target), *states]))
        second = cst.SimpleStatementLine([cst.Expr(update)])
        if isinstance(statement, cst.Return):
            bind = cst.Assign([cst.AssignTarget(target)], made)
            first = cst.SimpleStatementLine([bind], leading_lines=updated.leading_lines)
            given_back = statement.with_changes(value=target)
            last = updated.with_changes(body=[given_back], leading_lines=())
            return cst.FlattenSentinel([first, second, last])
        first = updated.with_changes(body=[statement.with_changes(value=made)])
        return cst.FlattenSentinel([first, second])


def _value_of(statement: cst.BaseSmallStatement) -> cst.Call | None:
    if isinstance(statement, (cst.Assign, cst.AnnAssign, cst.Return)):
        return statement.value if isinstance(statement.value, cst.Call) else None
    return None


def _target(statement: cst.BaseSmallStatement) -> cst.Name | cst.Attribute | None:
    """Return the one name or attribute that a statement binds; None where it is none."""
    target: cst.BaseExpression | None = None
    if isinstance(statement, cst.AnnAssign):
        target = statement.target
    elif isinstance(statement, cst.Assign) and len(statement.targets) == 1:
        target = statement.targets[0].target
    if isinstance(target, (cst.Name, cst.Attribute)) and dotted(target):
        return target
    return None
