"""Flat states that a program uses as dicts by path, as they once were."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import children, descendants, number_of
from typed_nnx_codegen.migrate.analysis.values import Instance, Value
from typed_nnx_codegen.migrate.file import File

# Methods that dicts have and flat states have not.
_OF_DICTS: Final = frozenset(
    {"copy", "get", "items", "keys", "pop", "popitem", "setdefault", "update", "values"}
)
_BODIES: Final = (cst.FunctionDef, cst.Lambda, cst.ClassDef)
# They go through what they are given.
_LISTING: Final = frozenset(
    {"enumerate", "filter", "iter", "list", "map", "set", "sorted", "tuple", "zip"}
)
# What a flat state has instead of a method of dicts.
_ATTRIBUTES: Final = {"keys": "paths", "values": "leaves"}


class FlatStates:
    """Finds out which flat states are used as dicts.

    Args:
        file: The file.
    """

    def __init__(self, file: File) -> None:
        self._file = file
        self._dicts: set[cst.CSTNode] = set()
        self._listed: set[cst.CSTNode] = set()
        if any(_is_flat(value) for value in file.analysis.values.values()):
            self._search(file.analysis.tree)

    def as_dict(self, original: cst.Call, made: cst.BaseExpression) -> cst.BaseExpression:
        """Return a flat state as a dict where a program uses it as one.

        Args:
            original: The call that made it before.
            made: The call that makes it now.
        """
        return _dict_of(made) if original in self._dicts else made

    def may_give_paths(self, original: cst.Call) -> bool:
        """Whether a program goes through a flat state, perhaps to get its paths as of a dict.

        Args:
            original: The call that made it before.
        """
        return original in self._listed and original not in self._dicts

    def rewritten_call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression | None:
        """Return what replaces ``state.flat_state().items()``; None for any other call."""
        if not self._is_use_of_call(original.func) or not isinstance(updated.func, cst.Attribute):
            return None
        name = updated.func.attr.value
        receiver = updated.func.value
        if original.args or name not in {"items", *_ATTRIBUTES}:
            return updated.with_changes(func=updated.func.with_changes(value=_dict_of(receiver)))
        if name == "items":
            return receiver
        return updated.func.with_changes(attr=cst.Name(_ATTRIBUTES[name]))

    def rewritten_item(self, original: cst.Subscript, updated: cst.Subscript) -> cst.BaseExpression:
        """Return what replaces ``state.flat_state()[path]``."""
        if self._made_by(original.value) and _is_path(original):
            return updated.with_changes(value=_dict_of(updated.value))
        return updated

    def rewritten_test(
        self, original: cst.ComparisonTarget, updated: cst.ComparisonTarget
    ) -> cst.ComparisonTarget:
        """Return what replaces ``in state.flat_state()``: the paths."""
        is_test = isinstance(original.operator, (cst.In, cst.NotIn))
        if not is_test or not self._made_by(original.comparator):
            return updated
        return updated.with_changes(comparator=cst.Attribute(updated.comparator, cst.Name("paths")))

    # -- what is used as a dict ---------------------------------------------------------------

    def _made_by(self, node: cst.CSTNode) -> bool:
        """Whether an expression is a call that gives a flat state."""
        return isinstance(node, cst.Call) and _is_flat(self._file.value(node))

    def _is_use_of_call(self, function: cst.CSTNode) -> bool:
        return (
            isinstance(function, cst.Attribute)
            and function.attr.value in _OF_DICTS
            and self._made_by(function.value)
        )

    def _search(self, body: cst.CSTNode) -> None:
        """Look through a module or function for names of flat states that are used as dicts."""
        made: dict[str, list[cst.CSTNode]] = {}
        listed: list[cst.BaseExpression] = []
        for node in _own(body):
            if isinstance(node, _BODIES):
                self._search(node)
            elif isinstance(node, cst.Assign) and self._made_by(node.value):
                for target in node.targets:
                    if isinstance(target.target, cst.Name):
                        made.setdefault(target.target.value, []).append(node.value)
            elif (
                isinstance(node, cst.AnnAssign)
                and isinstance(node.target, cst.Name)
                and node.value is not None
                and self._made_by(node.value)
            ):
                made.setdefault(node.target.value, []).append(node.value)
            listed.extend(_gone_through(node))
        self._listed.update(node for node in listed if self._made_by(node))
        if not made:
            return
        for node in listed:
            if isinstance(node, cst.Name):
                self._listed.update(made.get(node.value, ()))
        used = {name for node in descendants(body) for name in self._uses(node)}
        self._dicts.update(call for name in used & made.keys() for call in made[name])

    def _uses(self, node: cst.CSTNode) -> Iterator[str]:
        """Yield the names that a node uses as a dict."""
        match node:
            case cst.Attribute(value=cst.Name(name), attr=cst.Name(method)):
                if method in _OF_DICTS:
                    yield name
            case cst.Subscript(value=cst.Name(name)):
                if _is_path(node):
                    yield name
            case cst.ComparisonTarget(operator=cst.In() | cst.NotIn(), comparator=cst.Name(name)):
                yield name
            case cst.StarredDictElement(value=cst.Name(name)):
                yield name
            case _:
                pass


def _gone_through(node: cst.CSTNode) -> list[cst.BaseExpression]:
    """Return what a node goes through item by item, without taking the items for pairs."""
    match node:
        case cst.For(target=cst.Name()) | cst.CompFor(target=cst.Name()):
            return [node.iter]
        case cst.Call(func=cst.Name(value=name)) if name in _LISTING:
            return [arg.value for arg in node.args if arg.keyword is None]
        case _:
            return []


def _is_flat(value: Value) -> bool:
    return isinstance(value, Instance) and value.cls == "nnx.FlatState"


def _is_path(node: cst.Subscript) -> bool:
    """Whether a subscript names a path, not a position."""
    if len(node.slice) != 1:
        return True
    index = node.slice[0].slice
    return isinstance(index, cst.Index) and number_of(index.value) is None


def _own(body: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield what is below a node, and functions and classes without what is in them."""
    stack = list(children(body))
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, _BODIES):
            stack.extend(children(node))


def _dict_of(node: cst.BaseExpression) -> cst.Call:
    return cst.Call(cst.Name("dict"), [cst.Arg(node)])
