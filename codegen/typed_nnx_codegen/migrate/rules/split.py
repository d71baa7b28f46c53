"""TN102: ``m.split(...)`` is ``nnx.split(m, ...)``, which gives the definition first."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from keyword import iskeyword
from typing import Literal

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import (
    Parents,
    code_of,
    dotted,
    free_name,
    names_of,
    parents_of,
    read_names,
    text_of,
)
from typed_nnx_codegen.migrate.file import File
from typed_nnx_codegen.migrate.patterns.method_calls import function_call
from typed_nnx_codegen.migrate.registry import Rule, register

Way = Literal["as it is", "targets", "names", "unsure"]
_AS_A_WHOLE = "this code takes the result as a whole, with the definition last"


@dataclass(frozen=True)
class _Use:
    """How a call is used.

    Attributes:
        way: What is to change: ``as it is`` nothing, ``targets`` the order of the targets, ``names``
            the result gets names in a statement before, ``unsure`` a person decides.
        around: The node that changes: the assignment, the line.
        why: What is to decide.
    """

    way: Way
    around: cst.CSTNode | None = None
    why: str = ""


@register
class SplitFunction(Rule):
    """A Module is split by a function, which returns the GraphDef before the States.

    The method returned the definition last, and copies of the Variables: so does `nnx.split(nnx.clone(m))`.
    If the result is unpacked at once, the targets are swapped; if it is returned or assigned to one name, the
    surrounding code still gets the older order. Other uses of the whole result get a marker.
    """

    code = "TN102"
    title = "`state, static = m.split(...)` is `graphdef, state = nnx.split(m, ...)`"
    since = (0, 9, 0)
    example = """\
- from flax.experimental import nnx
+ import typed_nnx as nnx

  model = nnx.Linear(2, 3, rngs=nnx.Rngs(0))
- state, static = model.split()
+ static, state = nnx.split(nnx.clone(model))
"""

    def __init__(self, file: File) -> None:
        super().__init__(file)
        self._uses: dict[cst.Call, _Use] = {}
        self._around: dict[cst.CSTNode, cst.Call] = {}
        self._parents: Parents = {}
        # The statements to put before a line.
        self._named: dict[cst.Call, cst.BaseStatement] = {}

    def plan(self) -> None:
        """Find the calls and how their results are used."""
        calls = [node for node in self.file.analysis.known.of(cst.Call) if self._is_split(node)]
        self._parents = parents_of(self.file.analysis.tree) if calls else {}
        for call in calls:
            use = self._uses[call] = self._use_of(call)
            if use.around is not None:
                self._around[use.around] = call

    def _is_split(self, call: cst.Call) -> bool:
        if not isinstance(call.func, cst.Attribute) or call.func.attr.value != "split":
            return False
        method = self.file.method(call)
        return method is not None and method.cls == "Module" and not method.on_class

    def _use_of(self, call: cst.Call) -> _Use:
        """Return how the result of a call is used that had the definition last."""
        states = None if any(arg.star for arg in call.args) else max(1, len(call.args))
        parent = self._parents.get(call)
        if isinstance(parent, cst.Expr):
            return _Use("as it is")
        if isinstance(parent, cst.Assign) and len(parent.targets) == 1:
            target = parent.targets[0].target
            if isinstance(target, (cst.Tuple, cst.List)):
                return _unpacked(parent, target.elements, states)
        if isinstance(parent, (cst.Return, cst.Assign, cst.AnnAssign)) and states is not None:
            line = self._parents.get(parent)
            is_alone = isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1
            if is_alone and not _is_in_class(line, self._parents):
                return _Use("names", line)
        return _Use("unsure", why=_AS_A_WHOLE)

    # -- rewriting ----------------------------------------------------------------------------

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Rewrite or mark a call."""
        use = self._uses.get(original)
        if use is None:
            return updated
        if use.way == "unsure":
            self.file.decide(
                original, f"the definition comes first today, and then the States; {use.why}"
            )
            return updated
        made = self._new_call(updated)
        return self._with_names(original, made) if use.way == "names" else made

    def _new_call(self, updated: cst.Call) -> cst.Call:
        """Return a call of ``nnx.split`` with a copy."""
        made = function_call("nnx.split", self.file, updated)
        first, *others = made.args
        clone = self.file.call("nnx.clone", first.value)
        return made.with_changes(args=[first.with_changes(value=clone), *others])

    def leave_Assign(self, original: cst.Assign, updated: cst.Assign) -> cst.Assign:
        """Put the target of the definition first."""
        if original not in self._around:
            return updated
        target = updated.targets[0]
        assert isinstance(target.target, (cst.Tuple, cst.List))
        turned = _definition_first(target.target)
        return updated.with_changes(targets=[target.with_changes(target=turned)])

    def leave_SimpleStatementLine(
        self, original: cst.SimpleStatementLine, updated: cst.SimpleStatementLine
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement]:
        """Put the statement before a line that gives the results their names."""
        call = self._around.get(original)
        before = self._named.pop(call, None) if call is not None else None
        if before is None:
            return updated
        first = before.with_changes(leading_lines=updated.leading_lines)
        return cst.FlattenSentinel([first, updated.with_changes(leading_lines=())])

    def _with_names(self, original: cst.Call, made: cst.Call) -> cst.BaseExpression:
        """Keep a call for the line before, and return its results in the older order."""
        filters = [arg.value for arg in original.args]
        around = _function_around(original, self._parents)
        used = {*names_of(around)}
        if isinstance(around, cst.Module):
            used.update(self.file.analysis.scope.seen)
        definition = free_name("graphdef", used)
        states = [free_name(name, used) for name in _names_of_states(filters)]
        targets = _tuple([definition, *states], parenthesised=False)
        assign = cst.Assign([cst.AssignTarget(targets)], made)
        self._named[original] = cst.SimpleStatementLine([assign])
        is_return = isinstance(self._parents.get(original), cst.Return)
        return _tuple([*states, definition], parenthesised=not is_return)


def _unpacked(parent: cst.Assign, elements: Sequence[cst.BaseElement], states: int | None) -> _Use:
    starred = any(isinstance(element, cst.StarredElement) for element in elements)
    if isinstance(elements[-1], cst.StarredElement):
        return _Use("unsure", why="the name with a star has the definition among the States here")
    if states is not None and not starred and len(elements) != states + 1:
        return _Use("unsure", why=f"it gives {states + 1} results and {len(elements)} are unpacked")
    names = {code_of(each.value) for each in elements if isinstance(each.value, cst.Name)}
    for element in elements:
        if not isinstance(element.value, cst.Name) and names & set(read_names(element.value)):
            return _Use("unsure", why="the targets depend on each other, and their order changes")
    return _Use("targets", parent)


def _definition_first(target: cst.Tuple | cst.List) -> cst.Tuple | cst.List:
    """Return targets in the order of today: the last one comes first, comments go along."""
    elements = target.elements
    moved = [elements[-1], *elements[:-1]]
    commas = [element.comma for element in elements]
    end = target.rbracket if isinstance(target, cst.List) else next(iter(target.rpar), None)
    spaces = [comma.whitespace_after for comma in commas[:-1] if isinstance(comma, cst.Comma)]
    lines = [_first_line(space) for space in (*spaces, end.whitespace_before if end else None)]
    if end is not None and None not in lines:
        # Each target has a line of its own.
        *turned, last = [
            space.with_changes(first_line=line)
            for space, line in zip(
                (*spaces, end.whitespace_before), (lines[-1], *lines[:-1]), strict=True
            )
        ]
        commas = [*(cst.Comma(whitespace_after=space) for space in turned), commas[-1]]
        closed = end.with_changes(whitespace_before=last)
        if isinstance(target, cst.List):
            target = target.with_changes(rbracket=closed)
        else:
            target = target.with_changes(rpar=[closed, *target.rpar[1:]])
    return target.with_changes(
        elements=[
            element.with_changes(comma=comma) for element, comma in zip(moved, commas, strict=True)
        ]
    )


def _first_line(space: cst.CSTNode | None) -> cst.TrailingWhitespace | None:
    return space.first_line if isinstance(space, cst.ParenthesizedWhitespace) else None


def _is_in_class(node: cst.CSTNode | None, parents: Parents) -> bool:
    while node is not None and not isinstance(node, cst.FunctionDef):
        if isinstance(node, cst.ClassDef):
            return True
        node = parents.get(node)
    return False


def _tuple(names: Sequence[str], *, parenthesised: bool) -> cst.Tuple:
    elements = [cst.Element(cst.Name(name)) for name in names]
    if parenthesised:
        return cst.Tuple(elements)
    return cst.Tuple(elements, lpar=(), rpar=())


# -- new names --------------------------------------------------------------------------------------


_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def _function_around(node: cst.CSTNode, parents: Parents) -> cst.CSTNode:
    """Return the function that a node is in, or the module."""
    while node in parents and not isinstance(node, cst.FunctionDef):
        node = parents[node]
    return node


def _names_of_states(filters: Sequence[cst.BaseExpression]) -> list[str]:
    """Return names for the States of some filters: ``params`` for ``nnx.Param``."""
    if not filters:
        return ["state"]
    return [_name_of(each) for each in filters]


def _name_of(node: cst.BaseExpression) -> str:
    if isinstance(node, cst.Ellipsis):
        return "rest"
    text = text_of(node)
    if text is not None:
        return text if text.isidentifier() and not iskeyword(text) else "state"
    last = dotted(node).rpartition(".")[2]
    if not last or not last[:1].isupper():
        return "state"
    words = _HUMP.sub("_", last).lower()
    return words if words.endswith("s") else f"{words}s"
