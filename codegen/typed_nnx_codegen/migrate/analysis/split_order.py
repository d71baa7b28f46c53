"""Which version of `Module.split` a call is written for: the graphdef came last, then first.

``state, static = m.split()`` was the first version, ``graphdef, state = m.split()`` the second.
The names that the result is bound to, and what is done with them, tell which it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import libcst as cst

from typed_nnx_codegen.migrate.analysis.node_index import NodeIndex
from typed_nnx_codegen.migrate.analysis.syntax import descendants, dotted

_DEFINITION = re.compile(
    r"(^|_)(static|graph_?def|module_?def|graph|gd|gdef|mdef|def|defn?|definition)_?\d*$"
)
_STATE = re.compile(
    r"(^|_)(st|state|states|params?|rest|counts?|batch_stats?|variables|updates)_?\d*$"
)


class SplitOrders:
    """The versions of the calls of ``.split`` in a module.

    Args:
        nodes: The nodes of the module.

    Attributes:
        unpacked: The names that results are unpacked into; empty for what has none.
    """

    def __init__(self, nodes: NodeIndex) -> None:
        self.unpacked: dict[cst.Call, list[str]] = {}
        self._votes: dict[cst.Call, bool | None] = {}
        merged: set[str] = set()
        imported: set[str] = set()
        returned = {node.name.value: list(_returned(node)) for node in nodes.of(cst.FunctionDef)}
        for alias in nodes.of(cst.ImportAlias):
            imported.add((alias.evaluated_alias or alias.evaluated_name).partition(".")[0])
        for made in nodes.of(cst.Call):
            if _method_name(made) == "merge":
                merged.add(dotted(made.func).rpartition(".")[0])
        for node in nodes.of(cst.Assign):
            self.unpacked.update(_unpacked(node, returned))
        known: set[bool] = set()
        for call, targets in self.unpacked.items():
            vote = self._votes[call] = _vote(targets, merged - {""})
            # Functions, `nnx.split(m)` and `jnp.split(x)`, are no methods of models.
            is_method = dotted(call.func).partition(".")[0] not in imported
            if vote is not None and is_method:
                known.add(vote)
        # Where nothing tells: no release had a method that gave the definition first.
        self._all = known != {False}

    def states_first(self, call: cst.Call | None) -> bool:
        """Whether a call gives the graphdef last."""
        vote = self._votes.get(call) if call is not None else None
        return vote if vote is not None else self._all


def _returned(node: cst.FunctionDef) -> Iterator[cst.Call]:
    """Yield the calls of ``.split`` whose results a function returns."""
    for below in descendants(node.body):
        if isinstance(below, cst.Return) and _is_split(below.value):
            assert isinstance(below.value, cst.Call)
            yield below.value


def _unpacked(
    node: cst.Assign, returned: Mapping[str, Sequence[cst.Call]]
) -> Iterator[tuple[cst.Call, list[str]]]:
    """Yield the calls whose result an assignment unpacks, with the names."""
    sources = [node.value] if isinstance(node.value, cst.Call) and _is_split(node.value) else []
    for name in _functions_in(node.value):
        sources += returned.get(name, ())
    for target in node.targets:
        if isinstance(target.target, (cst.Tuple, cst.List)):
            for source in sources:
                yield source, [dotted(element.value) for element in target.target.elements]


def _functions_in(value: cst.BaseExpression) -> Iterator[str]:
    """Yield the functions that a call may call: ``f()``, ``jax.vmap(f)(x)``, ``eval_shape(f)``."""
    calls = [value] if isinstance(value, cst.Call) else []
    if calls and isinstance(calls[0].func, cst.Call):
        calls.append(calls[0].func)
    for call in calls:
        yield dotted(call.func)
        if call.args:
            yield dotted(call.args[0].value)


def _is_split(node: cst.BaseExpression | None) -> bool:
    return isinstance(node, cst.Call) and _method_name(node) == "split"


def _method_name(call: cst.Call) -> str:
    return call.func.attr.value if isinstance(call.func, cst.Attribute) else ""


def _vote(targets: list[str], merged: set[str]) -> bool | None:
    """Whether the definition is last among the targets; None where neither end looks like it."""
    if len(targets) < 2:
        return None
    first, last = targets[0], targets[-1]
    at_first, at_last = first in merged, last in merged
    if at_first != at_last:
        return at_last
    first, last = first.rpartition(".")[2], last.rpartition(".")[2]
    at_first, at_last = bool(_DEFINITION.search(first)), bool(_DEFINITION.search(last))
    if at_first != at_last:
        return at_last
    # One of the two is the definition: the one that is called like no State.
    at_first, at_last = bool(_STATE.search(first)), bool(_STATE.search(last))
    return at_first if at_first != at_last else None
