"""Objects with shapes, shardings and the like in the place of values, as a user knows them.

jax describes what goes in and comes out of a program by lists. What is described here is put into
objects of the same structure as those that a call takes and returns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from typed_nnx._core.nested import nested_of
from typed_nnx._core.state import State
from typed_nnx._graph.graphdef import GraphDef, VariableDef
from typed_nnx._graph.rebuild import rebuild
from typed_nnx._transforms.outcomes import Flat
from typed_nnx._transforms.signature import (
    Argument,
    Effects,
    Part,
    Repeated,
    Signature,
    in_order,
)
from typed_nnx._transforms.write_back import built_result


class StandIn:
    """Stands for one object among the arguments.

    Attributes:
        values: What was given for the values of its leaves.
    """

    __slots__ = ("_base", "_made", "values")

    def __init__(self, made: Mapping[int, Any], base: int, values: list[Any]) -> None:
        self._made = made
        self._base = base
        self.values = values

    def object_at(self, position: int) -> Any:
        """Return the object at a position, counted from the root."""
        return self._made[position + self._base]


class StandIns:
    """Objects in the place of those of one call.

    Args:
        signature: What is static about the call.
        flat: What the call returned, if values that it changed are to be seen.
    """

    __slots__ = ("_flat", "_made", "_places", "_signature")

    def __init__(self, signature: Signature, flat: Flat | None = None) -> None:
        self._signature = signature
        self._flat = flat
        self._made: dict[int, Any] = {}
        self._places: list[StandIn] = []

    def arguments(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], captured: Sequence[Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments with objects in them."""
        signature = self._signature
        positional = tuple(map(self._argument, signature.arguments, args))
        named = {
            name: self._argument(signature.keywords.get(name), value)
            for name, value in kwargs.items()
        }
        for argument, value in zip(signature.captured, captured, strict=True):
            self._argument(argument, value)
        return positional, named

    def result(self, flat: Flat) -> Any:
        """Return the result of the call, with the objects of `arguments` where they came out."""
        return built_result(self._signature.parts, self._places, flat)

    def _argument(self, argument: Argument | None, pure: Any) -> Any:
        return pure if argument is None else argument.map(self._object, pure)

    def _object(self, part: Part | Repeated, pure: Any) -> Any:
        if isinstance(part, Repeated):
            return self._made[part.number]
        given = in_order(part.groups, pure)
        shared = part.graphdef.base > 0
        made: dict[int, Any] = self._made if shared else {}
        root = rebuild(part.graphdef, self._leaves(part, given), made)
        if not shared:
            self._made.update({place + part.offset: found for place, found in made.items()})
        self._places.append(StandIn(self._made, part.offset, given))
        return root

    def _leaves(self, part: Part, given: list[Any]) -> list[Any]:
        values = list(given)
        if self._flat is not None:
            number = len(self._places)
            effects: Effects = self._flat.static.value
            changed = effects.changed[number]
            new = self._flat.values_of(number, part)
            for leaf, value in zip(changed, new, strict=False):
                values[leaf] = value
        return [_leaf(item, value) for item, value in zip(_items(part), values, strict=True)]


def changes(signature: Signature, flat: Flat, arguments: Sequence[Argument | None]) -> Any:
    """Return what a call changed: for each argument a State in the place of each object.

    Args:
        signature: What is static about the call.
        flat: What the call returned.
        arguments: The arguments of which to return it.
    """
    effects: Effects = flat.static.value
    numbers = {id(part): number for number, part in enumerate(signature.parts)}

    def state(part: Part | Repeated | None) -> Any:
        if not isinstance(part, Part):
            return None if part is None else State({})
        number = numbers[id(part)]
        values = flat.values_of(number, part)
        return State._of(nested_of(_changed(part, effects, number, values)))

    return tuple(
        [
            None if argument is None else argument.treedef.unflatten(map(state, argument.parts))
            for argument in arguments
        ]
    )


def _changed(part: Part, effects: Effects, number: int, values: list[Any]) -> list[Any]:
    """Return path and description of each leaf that was changed or added."""
    changed = effects.changed[number]
    paths, items = part.graphdef.layout.paths, list(_items(part))
    found = {paths[leaf]: _leaf(items[leaf], value) for leaf, value in zip(changed, values)}  # noqa: B905 -- new ones follow
    grown = effects.grown_of(number)
    if grown is not None:
        layout = grown.graphdef.layout
        new = values[len(changed) :]
        for path, item, source in zip(layout.paths, layout.items, grown.sources, strict=True):
            if isinstance(source, int):
                found[path] = _leaf(item, new[source])
    return list(found.items())


def _items(part: Part) -> Sequence[Any]:
    graphdef: GraphDef[Any] = part.graphdef
    return graphdef.layout.items


def _leaf(item: Any, value: Any) -> Any:
    """Return a leaf; a Variable is made here, since what is no value cannot become a reference."""
    return item.cls._make(value, item.meta) if type(item) is VariableDef else value
