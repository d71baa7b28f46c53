"""The inner side of a call: objects made of tracers for the user's function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import jax

from typed_nnx._graph.graphdef import VariableDef
from typed_nnx._graph.rebuild import rebuild
from typed_nnx._graph.record import Record, adopt
from typed_nnx._graph.traversal import Traversal
from typed_nnx._transforms.captures import Captures
from typed_nnx._transforms.guests import Guests
from typed_nnx._transforms.leaving import Leaving
from typed_nnx._transforms.outcomes import Flat
from typed_nnx._transforms.places import place_name
from typed_nnx._transforms.prefixes import Prefix
from typed_nnx._transforms.result_checks import NO_PREFIX
from typed_nnx._transforms.signature import Part, Repeated, Signature, in_order
from typed_nnx._transforms.structure_changes import places


class Inside:
    """One execution of the user's function on objects of its own.

    Args:
        name: The name of the transform, for errors.
        function: The user's function.
        captures: What it closes over.
        signature: What is static about the call.

    Attributes:
        args, kwargs: The arguments with objects made of tracers.
        given: The raw values of the leaves of each part.
        captured: What the function closes over, likewise.
    """

    __slots__ = (
        "_captures", "_function", "_name", "_objects", "_records", "_roots", "_variables", "args", "captured",
        "given", "kwargs", "signature",
    )  # fmt: skip

    def __init__(self, name: str, function: Any, captures: Captures, signature: Signature) -> None:
        self._name = name
        self._function = function
        self._captures = captures
        self.signature: Signature = signature
        self._objects: dict[int, Any] = {}  # by their number among the items of all parts
        self._roots: list[Any] = []
        self._records: list[Record | None] = []
        self.given: list[list[Any]] = []
        self._variables: list[list[Any]] = []

    # -- in ---------------------------------------------------------------------------------------

    def enter(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], captured: Sequence[Any]
    ) -> Self:
        """Make the objects from their plain values."""
        signature = self.signature
        self.args: list[Any] = [
            value if spec is None else spec.map(self._object, value)
            for spec, value in zip(signature.arguments, args, strict=True)
        ]
        self.kwargs: dict[str, Any] = dict(kwargs)
        for name, argument in signature.keywords.items():
            self.kwargs[name] = argument.map(self._object, kwargs[name])
        self.captured: list[Any] = [
            argument.map(self._object, value)
            for argument, value in zip(signature.captured, captured, strict=True)
        ]
        return self

    def result(self, number: int | None = None, *before: Any) -> Any:
        """Run the user's function and return its result.

        Args:
            number: Which function to run, where there are several.
            *before: Arguments that come first.

        Raises:
            ForeignModuleError: The function changed a Module of flax.nnx.
        """
        function = self._captures.exchanged(self._function, self.captured)
        if number is not None:
            function = function[number]
        guests = Guests(self.args, self.kwargs)
        found = function(*before, *self.args, **self.kwargs)
        guests.check(self._name, function)
        return found

    def _object(self, part: Part | Repeated, pure: Any) -> Any:
        if isinstance(part, Repeated):
            return self._objects[part.number]
        values = in_order(part.groups, pure)
        shared = part.graphdef.base > 0
        made: dict[int, Any] = self._objects if shared else {}
        root = rebuild(part.graphdef, values, made)
        if not shared:
            for position, found in made.items():
                self._objects[position + part.offset] = found
        self._roots.append(root)
        self._records.append(None if shared else adopt(root, part.graphdef, made))
        # What is not an array may be changed in place, so what it holds is kept apart.
        self.given.append(
            [value if isinstance(value, jax.Array) else _copied(value) for value in values]
        )
        self._variables.append(_variables(part, made))
        return root

    def known(self) -> set[int]:
        """Return the ids of the objects that came in, and of those that belong to them now."""
        found = {id(node) for node in self._objects.values()}
        for root in self._roots:
            found.update(Traversal().visit(root).index)
        return found

    def place_of(self, node: Any) -> str:
        """Return where an object came in, in words."""
        for part in self.signature.parts:
            for position, (path, _) in enumerate(places(part.graphdef, with_statics=False)):
                if self._objects.get(position + part.offset) is node:
                    return place_name((*part.path, *path))
        return "what an argument holds now"

    # -- out --------------------------------------------------------------------------------------

    def leave(self, result: Any, prefix: Prefix = NO_PREFIX) -> Flat:
        """Take the objects apart again: what changed, what came out, and the static `Effects`."""
        leaving = Leaving(self._name, self.signature, self._objects, self.given, self._variables)
        return leaving.flat(self._roots, result, prefix, self._records)


def _variables(part: Part, made: dict[int, Any]) -> list[Any]:
    """Return the Variable of each leaf, None for bare arrays."""
    items, base = part.graphdef.items, part.graphdef.base
    return [
        made[position + base] if type(items[position]) is VariableDef else None
        for position in part.leaf_positions()
    ]


def _copied(value: Any) -> Any:
    return jax.tree.map(lambda leaf: leaf, value)
