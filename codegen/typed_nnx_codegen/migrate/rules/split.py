"""TN102: ``m.split(...)`` is ``nnx.split(m, ...)``, which gives the definition first."""

from __future__ import annotations

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of, parents_of, read_names
from typed_nnx_codegen.migrate.file import File
from typed_nnx_codegen.migrate.patterns.method_calls import function_call
from typed_nnx_codegen.migrate.registry import Rule, register


@register
class SplitFunction(Rule):
    """A Module is split by a function, which returns the GraphDef before the States.

    The method returned the definition last, and copies of the Variables: so does `nnx.split(nnx.clone(m))`.
    If the result is unpacked at once, the targets are swapped. Any other code gets the older order: reversed
    with `[::-1]`, or with several States by a function.
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
        # The calls, with the assignment whose targets are to be swapped.
        self._calls: dict[cst.CSTNode, cst.Assign | None] = {}

    def plan(self) -> None:
        """Find the calls and how their results are used."""
        calls = [node for node in self.file.analysis.known.of(cst.Call) if self._is_split(node)]
        parents = parents_of(self.file.analysis.tree) if calls else {}
        for call in calls:
            parent = parents.get(call)
            is_swapped = isinstance(parent, cst.Assign) and _can_be_swapped(parent, call)
            self._calls[call] = parent if is_swapped and isinstance(parent, cst.Assign) else None

    def _is_split(self, call: cst.Call) -> bool:
        if not isinstance(call.func, cst.Attribute) or call.func.attr.value != "split":
            return False
        method = self.file.method(call)
        return method is not None and method.cls == "Module" and not method.on_class

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Rewrite a call."""
        if original not in self._calls:
            return updated
        made = function_call("nnx.split", self.file, updated)
        first, *others = made.args
        clone = self.file.call("nnx.clone", first.value)
        made = made.with_changes(args=[first.with_changes(value=clone), *others])
        if self._calls[original] is not None:
            return made
        if len(original.args) < 2 and not any(arg.star for arg in original.args):
            backwards = cst.Slice(None, None, cst.parse_expression("-1"), cst.Colon(), cst.Colon())
            return cst.Subscript(made, [cst.SubscriptElement(backwards)])
        older = cst.parse_expression("(lambda graphdef, *states: (*states, graphdef))")
        return cst.Call(older, [cst.Arg(made, star="*")])

    def leave_Assign(self, original: cst.Assign, updated: cst.Assign) -> cst.Assign:
        """Put the target of the definition first."""
        if self._calls.get(original.value) is not original:
            return updated
        target = updated.targets[0]
        assert isinstance(target.target, (cst.Tuple, cst.List))
        turned = _definition_first(target.target)
        return updated.with_changes(targets=[target.with_changes(target=turned)])


def _can_be_swapped(node: cst.Assign, call: cst.Call) -> bool:
    """Whether the last of the targets surely is the definition, and none depends on another."""
    target = node.targets[0].target
    if len(node.targets) > 1 or not isinstance(target, (cst.Tuple, cst.List)):
        return False
    starred = [isinstance(element, cst.StarredElement) for element in target.elements]
    is_counted = not any(starred) and not any(arg.star for arg in call.args)
    if starred[-1] or (is_counted and len(starred) != max(1, len(call.args)) + 1):
        return False
    names = {code_of(each.value) for each in target.elements if isinstance(each.value, cst.Name)}
    return not any(
        names & set(read_names(element.value))
        for element in target.elements
        if not isinstance(element.value, cst.Name)
    )


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
