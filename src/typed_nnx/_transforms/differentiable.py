"""The differentiable part of arguments: chosen before, put together as gradients after."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, SupportsIndex

from typed_nnx._core.filters import Filter
from typed_nnx._core.nested import nested_of
from typed_nnx._core.paths import Path
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

    def group_of(self, function: str, path: Path, leaf: Any) -> int:
        """Return 0 for a Variable to differentiate by; one that was given by itself always is."""
        return super().group_of(function, path, leaf) if path else 0


def prefix_of(argnum: SupportsIndex | DiffState, structural: bool) -> Prefix:
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
    for part, value in argument.pairs(pure):
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


class Tangents:
    """Puts what belongs to the differentiable values of arguments into the form of gradients.

    A Module becomes a State of the Variables that were chosen, or where all are, a Module. One for
    each set of gradients: what two arguments share, their gradients share.
    """

    __slots__ = ("_made",)

    def __init__(self) -> None:
        self._made: dict[int, Any] = {}  # by their number among the items of all parts

    def __call__(self, argument: Argument | None, values: Any) -> Any:
        """Return the gradient by an argument."""
        return values if argument is None else argument.map(self._tangent, values)

    def _tangent(self, part: Part | Repeated, values: Any) -> Any:
        if isinstance(part, Repeated):
            # A State belongs to the argument that was first; Modules are shared.
            return self._made.get(part.number, State({}))
        if part.groups is None:
            shared = part.graphdef.base > 0
            made: dict[int, Any] = self._made if shared else {}
            found = rebuild(part.graphdef, list(values), made)
            if not shared:
                for position, node in made.items():
                    self._made[position + part.offset] = node
            return found
        return state_of(part.graphdef, [(group == 0) for group in part.groups], values)


def state_of(graphdef: GraphDef[Any], chosen: Sequence[bool], values: Sequence[Any]) -> Any:
    """Return a State of some leaves of a structure, or the Variable if it is one by itself.

    Args:
        graphdef: The structure.
        chosen: Whether the State has a leaf, for each.
        values: The values of those that it has.
    """
    layout = graphdef.layout
    following = iter(values)
    found = [
        (path, _variable(item, next(following)))
        for path, item, is_chosen in zip(layout.paths, layout.items, chosen, strict=True)
        if is_chosen
    ]
    if type(layout.tree) is int:  # a Variable by itself
        return found[0][1] if found else State({})
    return State._of(nested_of(found))


def _variable(item: Any, value: Any) -> Any:
    return item.cls._make(value, item.meta) if type(item) is VariableDef else value
