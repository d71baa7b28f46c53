"""States that a program keeps while the model goes on: they once had values of their own.

``best = nnx.state(model)`` gave copies of the Variables, as did ``static.merge(state)``. Today the
State and the model have the same ones. It shows where the model is used after that, and the State is
read again later.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import (
    children,
    descendants,
    dotted,
    has_star,
    parameters_of,
    parents_of,
    targets_of,
)
from typed_nnx_codegen.migrate.analysis.values import NNX
from typed_nnx_codegen.migrate.file import File
from typed_nnx_codegen.migrate.patterns.definition_names import is_called_definition

Event = tuple[str, cst.CSTNode, str]
# Names that flax 0.11 had no more.
_GONE: Final = frozenset(
    {"Empty", "ForkStates", "GraphNode", "TreeNode", "VariableState"}
    | {"fork", "register_variable_name_type_pair"}
)
_LOOPS: Final = (cst.For, cst.While)
_BODIES: Final = (cst.FunctionDef, cst.Lambda, cst.ClassDef)
# They leave a model that they get as it is.
_HARMLESS: Final = frozenset(
    {
        *("builtins.isinstance", "builtins.len", "builtins.print", "builtins.type", "nnx.clone"),
        *("nnx.display", "nnx.graphdef", "nnx.iter_modules", "nnx.merge", "nnx.split", "nnx.state"),
        *("nnx.Optimizer", "nnx.TrainState"),
    }
)
_PUTTING_AWAY: Final = frozenset({"add", "append", "appendleft", "insert", "put"})
_HARMLESS_METHODS: Final = frozenset({"clone", "extract", "get_state", "merge", "split"})


def is_of_first_versions(file: File) -> bool:
    """Whether a file is older than flax 0.11, so that functions gave copies too.

    That show imports of `flax.experimental.nnx`, the class `VariableState` and what went with it,
    and an Optimizer that is not told what it updates.
    """
    experimental = any(
        binding.full.startswith("flax.experimental")
        for scope in (file.analysis.scope, *file.analysis.scopes.values())
        for binding in scope.imports.values()
    )
    return experimental or any(_is_older(file, node) for node in file.analysis.values)


def _is_older(file: File, node: cst.CSTNode) -> bool:
    match node:
        case cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name)) if name in _GONE:
            assert isinstance(node, (cst.Name, cst.Attribute))
            return file.name(node) == f"{NNX}.{name}"
        case cst.Call(args=[cst.Arg(keyword=None), cst.Arg(keyword=None)]):
            return file.name(node.func) == f"{NNX}.Optimizer" and not has_star(node)
        case _:
            return False


class KeptStates:
    """Knows which calls give a State or a model that needs Variables of its own.

    Args:
        file: The file.
    """

    def __init__(self, file: File) -> None:
        self._file = file
        self._parents: Mapping[cst.CSTNode, cst.CSTNode] | None = None

    def is_kept(self, call: cst.Call, model: cst.BaseExpression) -> bool:
        """Whether a State is read after the model that it is of was used.

        Args:
            call: The call that gives the State, of the tree before.
            model: The model.
        """
        of = dotted(model)
        if of and self._is_put_away(call):
            return True
        targets = self._targets(call)
        kept = [name for name in targets if not is_called_definition(name)]
        if not of or not kept:
            return False
        if any("." in name for name in kept) and (kept == targets or self._is_held(call, of)):
            return True  # other functions may read it
        return any(self._follows(call, of, [name], reads_itself=False) for name in kept)

    def is_merged_again(self, call: cst.Call, states: list[cst.BaseExpression]) -> bool:
        """Whether States are read after the model that they became was used.

        Args:
            call: The call that makes the model, of the tree before.
            states: The States.
        """
        names = [dotted(each) for each in states if dotted(each)]
        targets = self._targets(call)
        if not names or len(targets) > 1:
            return False
        return self._follows(call, targets[0] if targets else "", names, reads_itself=True)

    # -- where the call stands ----------------------------------------------------------------

    def _above(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        if self._parents is None:
            self._parents = parents_of(self._file.analysis.tree)
        found = self._parents.get(node)
        while found is not None:
            yield found
            found = self._parents.get(found)

    def _statement(self, call: cst.Call) -> cst.CSTNode | None:
        return next((each for each in self._above(call) if isinstance(each, cst.Assign)), None)

    def _targets(self, call: cst.Call) -> list[str]:
        """Return the names that a statement gives to what a call gives."""
        above = self._above(call)
        parent = next(above, None)
        place = None
        if isinstance(parent, cst.Element):
            whole = next(above, None)
            parent = next(above, None)
            if isinstance(whole, cst.Tuple) and isinstance(parent, cst.Assign):
                place = [element.value for element in whole.elements].index(call)
        if not isinstance(parent, cst.Assign) or (parent.value is not call and place is None):
            return []
        found: list[cst.BaseExpression] = []
        for target in parent.targets:
            if place is None:
                found += targets_of(target.target)
            elif isinstance(target.target, (cst.Tuple, cst.List)):
                found += [each.value for each in target.target.elements[place : place + 1]]
        return [name for name in map(dotted, found) if name]

    def _is_put_away(self, call: cst.Call) -> bool:
        """Whether what a call gives is put into a list or a dict."""
        above = self._above(call)
        parent, around = next(above, None), next(above, None)
        if isinstance(parent, cst.Assign):
            return any(isinstance(each.target, cst.Subscript) for each in parent.targets)
        return (
            isinstance(parent, cst.Arg)
            and isinstance(around, cst.Call)
            and isinstance(around.func, cst.Attribute)
            and around.func.attr.value in _PUTTING_AWAY
        )

    def _is_held(self, call: cst.Call, model: str) -> bool:
        """Whether an object has the model as an attribute."""
        if "." in model:
            return True
        body = next((node for node in self._above(call) if isinstance(node, _BODIES)), None)
        return body is not None and any(
            isinstance(node, cst.Assign)
            and dotted(node.value) == model
            and any(isinstance(each.target, cst.Attribute) for each in node.targets)
            for node in descendants(body)
        )

    # -- what happens after it ----------------------------------------------------------------

    def _follows(
        self, call: cst.Call, model: str, states: list[str], *, reads_itself: bool
    ) -> bool:
        """Whether a State is read after the model was used."""
        is_used = not model and isinstance(next(self._above(call), None), cst.Call)
        left = set(states)
        own = self._statement(call)
        always = not any(isinstance(node, cst.If) for node in self._above(call))
        for kind, node, name in self._after(call):
            if node is call and not (reads_itself and kind == "read"):
                continue
            if kind == "bind" and node is own and not reads_itself:
                is_used = is_used and not always  # a new one, around the loop
            elif kind == "bind":
                left.discard(name)
                model = "" if name == model else model
            elif kind == "touch":
                is_used = is_used or (bool(model) and _is_part(name, model))
            elif is_used and any(_is_part(name, each) for each in left):
                return True
        return False

    def _after(self, call: cst.Call) -> list[Event]:
        """Return what happens after a call in its function; once more around the loops it is in."""
        inside: list[cst.CSTNode] = []
        body: cst.CSTNode = self._file.analysis.tree
        for node in self._above(call):
            if isinstance(node, _BODIES):
                body = node
                break
            if isinstance(node, _LOOPS):
                inside.append(node)
        found = list(self._events(body.body if isinstance(body, _BODIES) else body))
        mine = [place for place, event in enumerate(found) if event[1] is call]
        if not mine:
            return []
        later = _without_first_binds(found[mine[-1] + 1 :], self._statement(call))
        if not inside:
            return later
        loop = list(self._events(inside[-1]))
        within = {event[1] for event in loop}
        rest = next((i for i, event in enumerate(later) if event[1] not in within), len(later))
        return [*later[:rest], *loop, *later[rest:]]

    def _events(self, node: cst.CSTNode, hidden: frozenset[str] = frozenset()) -> Iterator[Event]:
        """Yield what code does with names, in the order in which it runs."""
        if isinstance(node, _BODIES):
            own = _bound_in(node)
            for child in children(node):
                yield from (
                    event
                    for event in self._events(child, hidden | own)
                    if event[2].partition(".")[0] not in own and event[0] != "bind"
                )
            return
        if isinstance(node, (cst.Assign, cst.AnnAssign, cst.AugAssign)):
            yield from self._assignment(node, hidden)
            return
        if isinstance(node, (cst.Name, cst.Attribute)) and dotted(node):
            yield ("read", node, dotted(node))
            return
        for child in children(node):
            yield from self._events(child, hidden)
        if isinstance(node, cst.Call):
            # The place of the call itself.
            yield ("read", node, "")
            for arg in node.args:
                yield ("read", node, dotted(arg.value))
            for name in self._touched(node):
                yield ("touch", node, name)

    def _assignment(
        self, node: cst.Assign | cst.AnnAssign | cst.AugAssign, hidden: frozenset[str]
    ) -> Iterator[Event]:
        if node.value is not None:
            yield from self._events(node.value, hidden)
        targets = (
            [each.target for each in node.targets]
            if isinstance(node, cst.Assign)
            else [node.target]
        )
        for target in (each for one in targets for each in targets_of(one)):
            name = dotted(target)
            if name:
                yield ("bind", node, name)
            inner: cst.BaseExpression = target
            while isinstance(inner, (cst.Attribute, cst.Subscript)):
                inner = inner.value
                if dotted(inner):
                    yield ("touch", node, dotted(inner))

    def _touched(self, call: cst.Call) -> Iterator[str]:
        """Yield what a call may change: what it is called on, and its arguments."""
        name = self._file.name(call.func)
        if name in _HARMLESS or name.startswith(("jax.tree", "jax.numpy", "numpy")):
            return
        if isinstance(call.func, cst.Attribute) and call.func.attr.value in _HARMLESS_METHODS:
            return
        if dotted(call.func):
            yield dotted(call.func)
        for arg in call.args:
            if dotted(arg.value):
                yield dotted(arg.value)


def _without_first_binds(events: list[Event], statement: cst.CSTNode | None) -> list[Event]:
    """Return events without those of the assignment of the call itself."""
    first = next((i for i, event in enumerate(events) if event[1] is statement), len(events))
    last = first
    while last < len(events) and events[last][1] is statement:
        last += 1
    return [*events[:first], *events[last:]]


def _is_part(name: str, whole: str) -> bool:
    """Whether a name is another one, or of it: ``model.layer`` of ``model``."""
    return name == whole or name.startswith(f"{whole}.")


def _bound_in(node: cst.FunctionDef | cst.Lambda | cst.ClassDef) -> frozenset[str]:
    if isinstance(node, cst.ClassDef):
        return frozenset({"self"})
    names = {each.name.value for each in parameters_of(node.params)}
    stack: list[cst.CSTNode] = [node.body]
    while stack:
        below = stack.pop()
        if isinstance(below, cst.Assign):
            found = (each for target in below.targets for each in targets_of(target.target))
            names.update(each.value for each in found if isinstance(each, cst.Name))
        if not isinstance(below, _BODIES):
            stack.extend(children(below))
    return frozenset(names)
