"""The cotangents of changed arguments that `bwd` of `custom_vjp` gets."""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import Any

from typed_nnx._core.state import State
from typed_nnx._graph.graphdef import VariableDef
from typed_nnx._graph.rebuild import rebuild
from typed_nnx._transforms.differentiable import state_of
from typed_nnx._transforms.outcomes import Flat
from typed_nnx._transforms.signature import (
    Argument,
    Effects,
    Part,
    Repeated,
    Signature,
)
from typed_nnx._transforms.tangents import leaf_items


class InputCotangents:
    """Puts the cotangents of the values of arguments at the end of a call into States.

    Args:
        signature: What is static about the call.
        cotangent: The cotangents of what the trace returned.
    """

    __slots__ = ("_by_number", "_effects", "_offsets", "_values")

    def __init__(self, signature: Signature, cotangent: Flat) -> None:
        effects: Effects = cotangent.static.value
        self._effects = effects
        self._values: list[list[Any]] = []  # of each part: the changed leaves, then the new ones
        self._by_number: dict[int, Any] = {}  # by number among the items of all parts
        self._offsets = {part.offset: number for number, part in enumerate(signature.parts)}
        for number, part in enumerate(signature.parts):
            values = cotangent.values_of(number, part)
            self._values.append(values)
            positions = part.leaf_positions()
            for leaf, value in zip(effects.changed[number], values, strict=False):
                self._by_number[positions[leaf] + part.offset] = value

    def of(self, arguments: Iterable[Argument | None]) -> tuple[Any, ...]:
        """Return States in the form of arguments; None for an argument without objects."""
        return tuple([self._argument(argument) for argument in arguments])

    def as_objects(
        self, arguments: Iterable[Argument | None], changed: Set[tuple[int, int]]
    ) -> tuple[Any, ...]:
        """Return objects in the form of arguments, with None for all that did not change.

        Args:
            arguments: The arguments.
            changed: The number of the part and of the leaf of what changed.
        """
        return tuple(
            [
                None
                if argument is None
                else argument.treedef.unflatten([self._object(p, changed) for p in argument.parts])
                for argument in arguments
            ]
        )

    def _object(self, part: Part | Repeated | None, changed: Set[tuple[int, int]]) -> Any:
        if part is None or isinstance(part, Repeated):
            return None
        number = self._offsets[part.offset]
        leaves: list[Any] = [None] * len(part.graphdef.layout.items)
        for leaf, value in zip(self._effects.changed[number], self._values[number], strict=False):
            item = part.graphdef.layout.items[leaf]
            if (number, leaf) in changed:
                if isinstance(item, VariableDef):
                    kind: Any = item.cls
                    value = kind._make(value, item.meta)
                leaves[leaf] = value
        return rebuild(part.graphdef, leaves, recreate_variables=False)

    def _argument(self, argument: Argument | None) -> Any:
        if argument is None:
            return None
        return argument.treedef.unflatten([self._part(part) for part in argument.parts])

    def _part(self, part: Part | Repeated | None) -> Any:
        if part is None:
            return None
        if isinstance(part, Repeated):  # it belongs to the argument that was first
            return State({})
        number = self._offsets[part.offset]
        values = self._values[number]
        grown = self._effects.grown_of(number)
        if grown is None:
            return state_of(part.graphdef, [True] * len(values), values)
        new = values[len(self._effects.changed[number]) :]
        structure = grown.graphdef
        outer = structure.outer or ()
        found: list[Any] = []
        for position, source in zip(leaf_items(structure.items), grown.sources, strict=True):
            if isinstance(source, int):
                found.append(new[source])
            else:
                found.append(self._by_number.get(outer[position] or 0, _MISSING))
        chosen = [value is not _MISSING for value in found]
        return state_of(structure, chosen, [v for v in found if v is not _MISSING])


_MISSING: Any = object()
