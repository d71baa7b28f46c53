"""The differentiable part of arguments: chosen before, put together as gradients after."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from typed_nnx._core.filters import Filter
from typed_nnx._core.nested import nested_of
from typed_nnx._core.state import State
from typed_nnx._core.variable_types import Param
from typed_nnx._graph.graphdef import GraphDef, VariableDef
from typed_nnx._graph.rebuild import rebuild
from typed_nnx._transforms.prefixes import ByFilter, DiffState, Prefix
from typed_nnx._transforms.signature import Argument, Part, Repeated


class Differentiable(ByFilter):
    """The Variables to differentiate by; what `DiffState` says, as prefixes."""

    __slots__ = ()

    @classmethod
    def of(cls, chosen: Filter) -> Differentiable:
        """Build it from a filter."""
        return cls([(chosen, True), (..., False)])


def prefix_of(argnum: int | DiffState, structural: bool) -> Prefix:
    """Return the prefix of an argument to differentiate by.

    Args:
        argnum: What the user gave.
        structural: Whether gradients are States; else they are Modules, of all Variables.
    """
    if isinstance(argnum, DiffState):
        return Differentiable.of(argnum.filter)
    return Differentiable.of(Param) if structural else True


def divide(argument: Argument | None, pure: Any) -> tuple[Any, Any]:
    """Return the differentiable values of an argument and the others, in trees that mirror it."""
    if argument is None:
        return pure, None
    chosen, others = [], []
    values = argument.treedef.flatten_up_to(pure)
    for part, value in zip(argument.parts, values, strict=True):
        if isinstance(part, Part) and part.groups is not None:
            chosen.append(value[0])
            others.append(value[1])
        else:
            chosen.append(value)
            others.append(None)
    return argument.treedef.unflatten(chosen), argument.treedef.unflatten(others)


def unite(argument: Argument | None, chosen: Any, others: Any) -> Any:
    """Undo `divide`."""
    if argument is None:
        return chosen
    values = zip(
        argument.parts,
        argument.treedef.flatten_up_to(chosen),
        argument.treedef.flatten_up_to(others),
        strict=True,
    )
    return argument.treedef.unflatten(
        [
            (own, rest) if isinstance(part, Part) and part.groups is not None else own
            for part, own, rest in values
        ]
    )


def as_tangents(argument: Argument | None, values: Any) -> Any:
    """Return what belongs to the differentiable values of an argument in the form of gradients.

    A Module becomes a State of the Variables that were chosen, or where all are, a Module.
    """
    if argument is None:
        return values
    leaves = argument.treedef.flatten_up_to(values)
    return argument.treedef.unflatten(
        [_tangent(part, leaf) for part, leaf in zip(argument.parts, leaves, strict=True)]
    )


def _tangent(part: Part | Repeated | None, values: Any) -> Any:
    if part is None:
        return values
    if isinstance(part, Repeated):
        return State({})  # it belongs to the argument that was first
    if part.groups is None:
        return rebuild(part.graphdef, list(values))
    return _state_of(part.graphdef, part.groups, values)


def _state_of(graphdef: GraphDef[Any], groups: Sequence[int], values: Sequence[Any]) -> Any:
    layout = graphdef.layout
    following = iter(values)
    found = [
        (path, _variable(item, next(following)))
        for path, item, group in zip(layout.paths, layout.items, groups, strict=True)
        if group == 0
    ]
    if type(layout.tree) is int:  # a Variable by itself
        return found[0][1] if found else State({})
    return State._of(nested_of(found))


def _variable(item: Any, value: Any) -> Any:
    return item.cls._make((value,), item.meta) if type(item) is VariableDef else value
