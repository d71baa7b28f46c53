"""How a call is used whose result had the definition last, and what is to change around it.

The new functions give the definition first. Where the result is unpacked at once, the targets
change places. Anywhere else the code around goes on to see the older order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import libcst as cst

from typed_nnx_codegen.migrate.analysis.split_order import pair_of, source_of
from typed_nnx_codegen.migrate.analysis.syntax import (
    children,
    code_of,
    number_of,
    read_names,
)
from typed_nnx_codegen.migrate.patterns.method_calls import is_quick

Parents = Mapping[cst.CSTNode, cst.CSTNode]
Way = Literal["as it is", "targets", "index", "names", "reversed", "unsure"]
# What may not run, or runs more than once.
_SOMETIMES: Final = (
    cst.BaseComp,
    cst.BooleanOperation,
    cst.Comparison,
    cst.IfExp,
    cst.Lambda,
    cst.NamedExpr,
)
_VALUES: Final = (cst.Return, cst.Assign, cst.AnnAssign, cst.Expr)


@dataclass(frozen=True)
class Use:
    """How a call is used.

    Attributes:
        way: What is to change: ``as it is`` nothing, ``targets`` the order of the targets,
            ``index`` the index or slice, ``names`` the result gets names in a statement before,
            ``reversed`` the result is turned around in place, ``unsure`` a person decides.
        around: The node that changes: the assignment, the subscript, the line.
        why: What is to decide.
    """

    way: Way
    around: cst.CSTNode | None = None
    why: str = ""


def parents_of(tree: cst.CSTNode) -> Parents:
    """Return the node above each node that holds code."""
    found: dict[cst.CSTNode, cst.CSTNode] = {}
    stack = [tree]
    while stack:
        node = stack.pop()
        for child in children(node):
            found[child] = node
            stack.append(child)
    return found


def use_of(call: cst.Call, states: int | None, parents: Parents) -> Use:
    """Return how the result of a call is used that had the definition last.

    Args:
        call: The call.
        states: How many States it gives; None where that is not known.
        parents: The node above each node.
    """
    assign = _assignment_of(call, parents)
    if assign is not None and len(assign.targets) == 1:
        elements = pair_of(assign.targets[0].target, call)
        if elements is not None:
            return _unpacked(assign, elements, states)
    parent = parents.get(call)
    if isinstance(parent, cst.Subscript) and _takes_known(parent, call, states):
        return Use("index", parent)
    if isinstance(parent, cst.Expr):
        return Use("as it is")
    line = _line_of(call, parents)
    if line is not None and states is not None:
        return Use("names", line)
    if states == 1:
        return Use("reversed")
    return Use("unsure", why="this code takes the result as a whole, with the definition last")


def _assignment_of(call: cst.Call, parents: Parents) -> cst.Assign | None:
    """Return the assignment whose value is what a call gives."""
    node: cst.CSTNode | None = call
    while node is not None and not isinstance(node, (cst.BaseSmallStatement, cst.BaseComp)):
        node = parents.get(node)
    return node if isinstance(node, cst.Assign) and source_of(node.value) is call else None


def _takes_known(subscript: cst.Subscript, call: cst.Call, states: int | None) -> bool:
    return subscript.value is call and new_slice(subscript, states) is not None


def _unpacked(parent: cst.Assign, elements: Sequence[cst.BaseElement], states: int | None) -> Use:
    starred = any(isinstance(element, cst.StarredElement) for element in elements)
    if isinstance(elements[-1], cst.StarredElement):
        return Use("unsure", why="the name with a star has the definition among the States here")
    if states is not None and not starred and len(elements) != states + 1:
        return Use("unsure", why=f"it gives {states + 1} results and {len(elements)} are unpacked")
    names = {code_of(each.value) for each in elements if isinstance(each.value, cst.Name)}
    for element in elements:
        if not isinstance(element.value, cst.Name) and names & set(read_names(element.value)):
            return Use("unsure", why="the targets depend on each other, and their order changes")
    return Use("targets", parent)


def definition_first(target: cst.Tuple | cst.List) -> cst.Tuple | cst.List:
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


def new_slice(subscript: cst.Subscript, states: int | None) -> cst.BaseSlice | None:
    """Return what takes the same from a result with the definition first; None if not sure."""
    if len(subscript.slice) != 1:
        return None
    part = subscript.slice[0].slice
    if isinstance(part, cst.Index):
        index = number_of(part.value)
        at = _new_index(index, states) if isinstance(index, int) else None
        return cst.Index(cst.Integer(str(at))) if at is not None else None
    if isinstance(part, cst.Slice) and part.step is None and part.lower is None:
        # All States: `[:-1]`.
        end = number_of(part.upper) if part.upper is not None else None
        if end == -1 or (states is not None and end == states):
            return cst.Slice(lower=cst.Integer("1"), upper=None)
    return None


def _new_index(index: int, states: int | None) -> int | None:
    if index == -1 or (states is not None and index == states):
        return 0
    if index == 0:
        return 1
    if states is None:
        return None
    at = index if index >= 0 else index + states + 1
    return at + 1 if 0 <= at < states else None


def _line_of(call: cst.Call, parents: Parents) -> cst.SimpleStatementLine | None:
    """Return the line before which a call may as well run; None where it may not."""
    node: cst.CSTNode = call
    while True:
        above = parents.get(node)
        if above is None or isinstance(above, _SOMETIMES):
            return None
        if isinstance(above, cst.BaseSmallStatement):
            line = parents.get(above)
            is_alone = isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1
            if not is_alone or not isinstance(above, _VALUES) or _is_in_class(line, parents):
                return None
            return line if isinstance(line, cst.SimpleStatementLine) else None
        for sibling in children(above):
            if sibling is node:
                break
            if not is_quick(sibling):
                return None
        node = above


def _is_in_class(node: cst.CSTNode | None, parents: Parents) -> bool:
    while node is not None and not isinstance(node, cst.FunctionDef):
        if isinstance(node, cst.ClassDef):
            return True
        node = parents.get(node)
    return False
