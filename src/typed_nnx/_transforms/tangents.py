"""Tangents and cotangents between users and jax: Modules and States, and plain values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from typed_nnx._core.leaves import describe_leaf
from typed_nnx._core.nested import flat_items
from typed_nnx._core.paths import Path, attribute_path
from typed_nnx._core.references import is_array_ref
from typed_nnx._core.state import State
from typed_nnx._core.variable import Variable
from typed_nnx._graph.graphdef import GraphDef, VariableDef
from typed_nnx._graph.rebuild import rebuild
from typed_nnx._graph.traversal import Traversal
from typed_nnx._transforms.differentiable import state_of
from typed_nnx._transforms.gather import is_object, raw_values
from typed_nnx._transforms.signature import Argument, Effects, Grown, Part, Repeated
from typed_nnx.errors import TangentStructureError


class Given:
    """Tangents that the user gave, taken apart into the values that jax expects.

    Values are found by their paths; types and metadata of the Variables around them do not count.
    One for each set of tangents: where two arguments share an object, their tangents do.

    Args:
        function: The name of the transform, for errors.
        zero: Whether None stands for zero.
    """

    __slots__ = ("_count", "_function", "_index", "_zero")

    def __init__(self, function: str, *, zero: bool = False) -> None:
        self._function = function
        self._zero = zero
        self._index: dict[int, int] = {}
        self._count = 0

    def argument(self, argument: Argument | None, given: Any, place: str) -> Any:
        """Return what was given for an argument in a tree of values that mirrors the argument.

        Raises:
            TangentStructureError: It has another structure.
        """
        if argument is None or (given is None and self._zero):
            return given
        leaves = self._leaves(argument.treedef, given, place)
        values = [
            self._part(part, leaf, place) for part, leaf in zip(argument.parts, leaves, strict=True)
        ]
        return argument.treedef.unflatten(values)

    def result(self, results: Results, given: Any, place: str) -> Any:
        """Return what was given for a result in a tree of values that mirrors the result.

        Raises:
            TangentStructureError: It has another structure.
        """
        if results.treedef is None:
            return given
        leaves = self._leaves(results.treedef, given, place)
        values = [
            leaf if grown is None else self._values(grown.graphdef, None, leaf, place)
            for grown, leaf in zip(results.grown, leaves, strict=True)
        ]
        return results.treedef.unflatten(values)

    def _leaves(self, treedef: Any, given: Any, place: str) -> list[Any]:
        try:
            return list(treedef.flatten_up_to(given))
        except (ValueError, TypeError):
            raise TangentStructureError(
                self._function, place, str(treedef), _description(given)
            ) from None

    def _part(self, part: Part | Repeated | None, given: Any, place: str) -> Any:
        if part is None or (given is None and self._zero):
            return given
        if isinstance(part, Repeated):  # its values belong to the object that was first
            self._values(_NOTHING, None, given, place)
            return part.nothing()
        chosen = None if part.groups is None else [group == 0 for group in part.groups]
        return self._values(part.graphdef, chosen, given, place)

    def _values(
        self, structure: GraphDef[Any], chosen: Sequence[bool] | None, given: Any, place: str
    ) -> list[Any]:
        paths = structure.layout.paths
        wanted = [path for number, path in enumerate(paths) if chosen is None or chosen[number]]
        found = self._found(given)
        # A Module has more than was chosen, of necessity; a State needs not.
        may_be_more = chosen is not None and not isinstance(given, State)
        if found is None or (not may_be_more and len(found) != len(wanted)):
            raise self._mismatch(structure, wanted, given, place)
        try:
            return [found[path] for path in wanted]
        except KeyError:
            raise self._mismatch(structure, wanted, given, place) from None

    def _found(self, given: Any) -> dict[Path, Any] | None:
        """Return the values that were given by their paths; None if it is no object."""
        if isinstance(given, State):
            return {path: _raw(leaf) for path, leaf in flat_items(given._mapping)}
        if not is_object(given):
            return None
        traversal: Traversal = Traversal(self._index, self._count).visit(given)
        self._count += len(traversal.items)
        values = [value[...] if is_array_ref(value) else value for value in raw_values(traversal)]
        return dict(zip(traversal.graphdef.layout.paths, values, strict=True))

    def _mismatch(
        self, structure: GraphDef[Any], wanted: Sequence[Path], given: Any, place: str
    ) -> TangentStructureError:
        root = structure.items[0]
        kind = "nothing more" if isinstance(root, int | str) else root.cls.__name__
        expected = f"{kind} with {_listed(wanted)}"
        return TangentStructureError(self._function, place, expected, _description(given))


_NOTHING: GraphDef[Any] = GraphDef((0,))
"""The structure of an object that was met before."""


class Results:
    """The structure of a result, or of a part of one, with which its tangents are built.

    Args:
        effects: What the trace found.
        number: Which entry of the result; None for all of it.

    Attributes:
        treedef: The structure with an object as a leaf; None if it holds none.
        grown: For each leaf its structure, None where it is a plain value.
    """

    __slots__ = ("grown", "treedef")

    def __init__(self, effects: Effects, number: int | None = None) -> None:
        self.treedef = effects.treedef
        self.grown: tuple[Grown | None, ...] = effects.results
        if self.treedef is not None and number is not None:
            entries = self.treedef.children()
            first = sum([entry.num_leaves for entry in entries[:number]])
            self.treedef = entries[number]
            self.grown = effects.results[first : first + self.treedef.num_leaves]

    def as_objects(self, values: Any) -> Any:
        """Return values with objects like those of the result around them."""
        made: dict[int, Any] = {}
        return self._built(values, lambda grown, own: _object(grown, own, made))

    def as_states(self, values: Any) -> Any:
        """Return values with States in the place of the objects of the result."""
        return self._built(values, _state)

    def _built(self, values: Any, build: Any) -> Any:
        if self.treedef is None:
            return values
        leaves = self.treedef.flatten_up_to(values)
        pairs = zip(self.grown, leaves, strict=True)
        return self.treedef.unflatten(
            [leaf if grown is None else build(grown, leaf) for grown, leaf in pairs]
        )


def _object(grown: Grown, values: Sequence[Any], made: dict[int, Any]) -> Any:
    # What is no value of the result, but of an argument, has no tangent here.
    leaves = [values[source] if isinstance(source, int) else None for source in grown.sources]
    return rebuild(grown.graphdef.without_outer(), leaves, made)


def _state(grown: Grown, values: Sequence[Any]) -> Any:
    chosen = [isinstance(source, int) for source in grown.sources]
    own = [values[source] for source in grown.sources if isinstance(source, int)]
    return state_of(grown.graphdef, chosen, own)


def leaf_items(items: Sequence[Any]) -> list[int]:
    """Return the positions of the leaves among the items of a structure."""
    return [
        position
        for position, item in enumerate(items)
        if type(item) is VariableDef or isinstance(item, str)
    ]


def _raw(leaf: Any) -> Any:
    value = leaf.get_raw_value() if isinstance(leaf, Variable) else leaf
    return value[...] if is_array_ref(value) else value


def _description(given: Any) -> str:
    if isinstance(given, State):
        return f"State with {_listed([path for path, _ in flat_items(given._mapping)])}"
    if is_object(given):
        paths = Traversal().visit(given).graphdef.layout.paths
        return f"{type(given).__name__} with {_listed(paths)}"
    return describe_leaf(given)


def _listed(paths: Sequence[Path]) -> str:
    names = sorted([attribute_path(path) or "its value" for path in paths])
    more = f" and {len(names) - 20} more" if len(names) > 20 else ""
    return (", ".join(names[:20]) or "no values") + more
