"""Which version of `Module.split` a call is written for: the graphdef came last, then first.

``state, static = m.split()`` was the first version, ``graphdef, state = m.split()`` the second.
The names that the result is bound to, and what is done with them, tell which it is. The same goes
for ``M.init(...)``, and for the pair in ``y, (state, static) = static.apply(state)(x)``.
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
_SPLITS = frozenset({"create_abstract", "init", "split"})


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
            if vote is not None and is_method and _method_name(call) == "split":
                known.add(vote)
        # Where nothing tells: no release had a method that gave the definition first.
        self._all = known != {False}

    def states_first(self, call: cst.Call | None) -> bool:
        """Whether a call gives the graphdef last."""
        vote = self.told(call)
        return vote if vote is not None else self._all

    def told(self, call: cst.Call | None) -> bool | None:
        """Whether the names that the result of this very call is bound to say so."""
        return self._votes.get(call) if call is not None else None


def _returned(node: cst.FunctionDef) -> Iterator[cst.Call]:
    """Yield the calls whose results a function returns."""
    for below in descendants(node.body):
        source = source_of(below.value) if isinstance(below, cst.Return) else None
        if source is not None:
            yield source


def _unpacked(
    node: cst.Assign, returned: Mapping[str, Sequence[cst.Call]]
) -> Iterator[tuple[cst.Call, list[str]]]:
    """Yield the calls whose result an assignment unpacks, with the names."""
    source = source_of(node.value)
    sources = [source] if source is not None else []
    for name in _functions_in(node.value):
        sources += returned.get(name, ())
    for target in node.targets:
        for source in sources:
            elements = pair_of(target.target, source)
            if elements is not None:
                yield source, [dotted(element.value) for element in elements]


def _functions_in(value: cst.BaseExpression) -> Iterator[str]:
    """Yield the functions that a call may call: ``f()``, ``jax.vmap(f)(x)``, ``eval_shape(f)``."""
    calls = [value] if isinstance(value, cst.Call) else []
    if calls and isinstance(calls[0].func, cst.Call):
        calls.append(calls[0].func)
    for call in calls:
        yield dotted(call.func)
        if call.args:
            yield dotted(call.args[0].value)


def source_of(value: cst.BaseExpression | None) -> cst.Call | None:
    """Return the call whose definition and States an expression gives; None if none.

    That is the call itself, or the one in ``jax.eval_shape(lambda: m.split())``.
    """
    if not isinstance(value, cst.Call):
        return None
    if is_applied(value) or _method_name(value) in _SPLITS:
        return value
    is_jit = isinstance(value.func, cst.Call)
    maker = value.func if isinstance(value.func, cst.Call) else value
    name = dotted(maker.func).rpartition(".")[2]
    if name != ("jit" if is_jit else "eval_shape") or not maker.args:
        return None
    function = maker.args[0].value
    return source_of(function.body) if isinstance(function, cst.Lambda) else None


def pair_of(target: cst.BaseExpression, call: cst.Call) -> Sequence[cst.BaseElement] | None:
    """Return the part of a target that gets a definition and States from a call; None if none.

    Args:
        target: The target of an assignment.
        call: Its value.
    """
    if not isinstance(target, (cst.Tuple, cst.List)):
        return None
    if _method_name(call) in _SPLITS:
        return target.elements
    if is_applied(call) and len(target.elements) == 2:
        pair = target.elements[1].value
        return pair.elements if isinstance(pair, (cst.Tuple, cst.List)) else None
    return None


def is_applied(call: cst.Call) -> bool:
    """Whether a call is of what a method `apply` gives: ``static.apply(state)(x)``."""
    return isinstance(call.func, cst.Call) and _method_name(call.func) == "apply"


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
