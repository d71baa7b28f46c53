"""What rules have in common that rewrite calls whose result had the definition last."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from keyword import iskeyword

import libcst as cst

from typed_nnx_codegen.migrate.analysis.split_order import pair_of
from typed_nnx_codegen.migrate.analysis.syntax import children, dotted, text_of
from typed_nnx_codegen.migrate.file import File
from typed_nnx_codegen.migrate.patterns.result_order import (
    Parents,
    Use,
    definition_first,
    new_slice,
    parents_of,
    use_of,
)
from typed_nnx_codegen.migrate.registry import Rule


@dataclass(frozen=True)
class Result:
    """What a call gives.

    Attributes:
        filters: The filters of its States; None where they are not known.
        states_first: Whether the definition comes last; None where that is not known.
        is_pair: Whether the whole result is the pair, and not something beside it.
    """

    filters: Sequence[cst.BaseExpression] | None
    states_first: bool | None
    is_pair: bool = True

    @property
    def states(self) -> int | None:
        """How many States it gives."""
        return max(1, len(self.filters)) if self.filters is not None else None


class DefinitionFirst(Rule):
    """Rewrites calls, and the code around them that expects the definition at the end."""

    def __init__(self, file: File) -> None:
        super().__init__(file)
        self._results: dict[cst.Call, Result] = {}
        self._uses: dict[cst.Call, Use] = {}
        self._around: dict[cst.CSTNode, cst.Call] = {}
        self._parents: Parents = {}
        # The statements to put before a line, and what they need.
        self._named: dict[cst.Call, cst.BaseStatement] = {}

    # -- what a rule says ---------------------------------------------------------------------

    def result_of(self, call: cst.Call) -> Result | None:
        """Return what a call of the rule gives; None for any other call."""
        raise NotImplementedError

    def new_call(self, original: cst.Call, updated: cst.Call) -> cst.Call:
        """Return the call that gives the same, with the definition first."""
        raise NotImplementedError

    def spare(self, call: cst.Call) -> None:
        """Change nothing around a call that stays."""
        self._around = {node: other for node, other in self._around.items() if other is not call}

    # -- the plan -----------------------------------------------------------------------------

    def plan(self) -> None:
        """Find the calls, and how their results are used."""
        for node in self.file.analysis.known.of(cst.Call):
            result = self.result_of(node)
            if result is not None:
                self._results[node] = result
        self._learn_order()
        if any(result.states_first for result in self._results.values()):
            self._parents = parents_of(self.file.analysis.tree)
        for call, result in self._results.items():
            self._plan_use(call, result)

    def _learn_order(self) -> None:
        """Read the order of calls of which nothing tells it from the others of the file."""
        told = self.file.analysis.split_orders.told
        orders = {told(call) for call in self._results} - {None}
        if len(orders) == 1:
            order = orders.pop()
            for call, result in self._results.items():
                if result.states_first is None and result.is_pair:
                    self._results[call] = replace(result, states_first=order)

    def _plan_use(self, call: cst.Call, result: Result) -> None:
        if result.states_first is None:
            why = "nothing here tells whether this code expects it first or last"
            self._uses[call] = Use("unsure", why=why)
        elif not result.states_first:
            self._uses[call] = Use("as it is")
        else:
            use = use_of(call, result.states, self._parents)
            if not result.is_pair and use.way not in {"targets", "as it is"}:
                use = Use("unsure", why="the pair within the result is to be turned around")
            self._uses[call] = use
            if use.around is not None:
                self._around[use.around] = call

    # -- rewriting ----------------------------------------------------------------------------

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Rewrite a call."""
        use = self._uses.get(original)
        if use is None:
            return updated
        if use.way == "unsure":
            self.file.decide(
                original,
                f"the definition comes first today, and then the States; {use.why}",
            )
            return updated
        made = self.new_call(original, updated)
        if use.way == "reversed":
            step = cst.Slice(lower=None, upper=None, step=_MINUS_ONE, second_colon=cst.Colon())
            return cst.Subscript(made, [cst.SubscriptElement(step)])
        return self._with_names(original, made) if use.way == "names" else made

    def leave_Assign(self, original: cst.Assign, updated: cst.Assign) -> cst.Assign:
        """Put the target of the definition first."""
        call = self._around.get(original)
        if call is None or len(updated.targets) != 1:
            return updated
        target = updated.targets[0]
        pair = pair_of(original.targets[0].target, call)
        whole = target.target
        if pair is None or not isinstance(whole, (cst.Tuple, cst.List)):
            return updated
        if self._results[call].is_pair:
            turned: cst.BaseExpression = definition_first(whole)
        else:
            first, second = whole.elements
            inner = second.value
            assert isinstance(inner, (cst.Tuple, cst.List))
            turned = whole.with_changes(
                elements=[first, second.with_changes(value=definition_first(inner))]
            )
        return updated.with_changes(targets=[target.with_changes(target=turned)])

    def leave_Subscript(self, original: cst.Subscript, updated: cst.Subscript) -> cst.Subscript:
        """Change an index into a result."""
        call = self._around.get(original)
        if call is None:
            return updated
        index = new_slice(original, self._results[call].states)
        assert index is not None
        return updated.with_changes(slice=[updated.slice[0].with_changes(slice=index)])

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
        filters = self._results[original].filters or ()
        around = function_around(original, self._parents)
        used = names_used(around)
        if isinstance(around, cst.Module):
            used.update(self.file.analysis.scope.seen)
        definition = free_name("graphdef", used)
        states = [free_name(name, used) for name in names_of_states(filters)]
        targets = _tuple([definition, *states], parenthesised=False)
        assign = cst.Assign([cst.AssignTarget(targets)], made)
        self._named[original] = cst.SimpleStatementLine([assign])
        is_return = isinstance(self._parents.get(original), cst.Return)
        return _tuple([*states, definition], parenthesised=not is_return)


_MINUS_ONE = cst.UnaryOperation(cst.Minus(), cst.Integer("1"))


def _tuple(names: Sequence[str], *, parenthesised: bool) -> cst.Tuple:
    elements = [cst.Element(cst.Name(name)) for name in names]
    if parenthesised:
        return cst.Tuple(elements)
    return cst.Tuple(elements, lpar=(), rpar=())


# -- new names --------------------------------------------------------------------------------------


_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def function_around(node: cst.CSTNode, parents: Parents) -> cst.CSTNode:
    """Return the function that a node is in, or the module."""
    while node in parents and not isinstance(node, cst.FunctionDef):
        node = parents[node]
    return node


def free_name(name: str, used: set[str]) -> str:
    """Return a name that nothing uses, and note that it is used now."""
    found, number = name, 2
    while found in used:
        found, number = f"{name}_{number}", number + 1
    used.add(found)
    return found


def names_used(node: cst.CSTNode) -> set[str]:
    """Return the names that code in a node reads or binds; not those of attributes and keywords."""
    found: set[str] = set()
    stack = [node]
    while stack:
        current = stack.pop()
        if isinstance(current, cst.Name):
            found.add(current.value)
        elif isinstance(current, (cst.Attribute, cst.Arg)):
            stack.append(current.value)
        else:
            stack.extend(children(current))
    return found


def names_of_states(filters: Sequence[cst.BaseExpression]) -> list[str]:
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
