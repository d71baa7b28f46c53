"""Which version of `Module.split` a call is written for: the graphdef came last, then first.

``state, static = m.split()`` was the first version, ``graphdef, state = m.split()`` the second.
The names that the result is bound to, and what is done with them, tell which it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import descendants, dotted

_DEFINITION = re.compile(
    r"(^|_)(static|graph_?def|module_?def|graph|gdef|mdef|def|defn?|definition)_?\d*$"
)
_STATE = re.compile(r"(^|_)(state|states|params?|rest|counts?|batch_stats?|variables)_?\d*$")


class SplitOrders:
    """The versions of the calls of ``.split`` in a module.

    Args:
        tree: The module.
    """

    def __init__(self, tree: cst.Module) -> None:
        self._votes: dict[cst.Call, bool | None] = {}
        merged = {
            dotted(node.func.value)
            for node in descendants(tree)
            if isinstance(node, cst.Call)
            and isinstance(node.func, cst.Attribute)
            and node.func.attr.value == "merge"
        }
        for targets, call in _unpacked(tree):
            self._votes[call] = _vote(targets, merged)
        known = {vote for vote in self._votes.values() if vote is not None}
        self._all = known.pop() if len(known) == 1 else None

    def states_first(self, call: cst.Call | None) -> bool | None:
        """Whether a call gives the graphdef last; None where nothing tells."""
        vote = self._votes.get(call) if call is not None else None
        return vote if vote is not None else self._all


def _unpacked(tree: cst.Module) -> Iterator[tuple[list[str], cst.Call]]:
    for node in descendants(tree):
        if not isinstance(node, cst.Assign) or not _is_split(node.value):
            continue
        for target in node.targets:
            if isinstance(target.target, (cst.Tuple, cst.List)):
                names = [dotted(element.value) for element in target.target.elements]
                assert isinstance(node.value, cst.Call)
                yield names, node.value


def _is_split(node: cst.BaseExpression) -> bool:
    return (
        isinstance(node, cst.Call)
        and isinstance(node.func, cst.Attribute)
        and node.func.attr.value == "split"
    )


def _vote(targets: list[str], merged: set[str]) -> bool | None:
    """Whether the definition is last among the targets; None where neither end looks like it."""
    if len(targets) < 2:
        return None
    first, last = targets[0], targets[-1]
    for is_definition in (merged.__contains__, _DEFINITION.search):
        at_first, at_last = bool(first and is_definition(first)), bool(last and is_definition(last))
        if at_first != at_last:
            return at_last
    if last == "_" and _STATE.search(first):
        return True
    if first == "_" and _STATE.search(last):
        return False
    return None
