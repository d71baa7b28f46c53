"""The names of mapped axes in the sharding metadata of Variables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

import jax

from typed_nnx._core.jax_runtime import where
from typed_nnx._core.variable import AnyVariable, Variable
from typed_nnx._graph.traversal import Traversal
from typed_nnx._transforms.engine.call import is_object
from typed_nnx._transforms.engine.prefixes import Node, Prefix, Tree, Value, broadcast, by_filter
from typed_nnx.errors import ShardingError

NO_METADATA: Mapping[str, Any] = {}

PARTITION_NAME = "partition_name"
"""The key of ``transform_metadata`` whose value is the name of the mapped axis."""


Known: TypeAlias = dict[int, tuple[AnyVariable, int]]
"""Variables, which are kept so that no other gets their id, with their axes."""


class AxisMetadata:
    """Takes the name of a mapped axis out of the metadata of Variables, and puts it back.

    Args:
        function: The name of the transform, for errors.
        metadata: The name of the axis in ``out_sharding`` under `PARTITION_NAME`; under other keys
            names for other items, which count where such an item is a tuple.
    """

    __slots__ = ("_function", "_name", "_others")

    def __init__(self, function: str, metadata: Mapping[Any, Tree]) -> None:
        self._function = function
        self._name: str | None = metadata[PARTITION_NAME]
        self._others = {key: name for key, name in metadata.items() if key != PARTITION_NAME}

    def enter(self, args: Sequence[Value], prefixes: Sequence[Prefix]) -> Known:
        """Take the name out of the Variables of arguments; return each with its axis by id."""
        axes: Known = {}
        for variable, axis in variables_with_axes(self._function, args, prefixes):
            if id(variable) not in axes:
                axes[id(variable)] = variable, axis
                self.remove_from(variable, axis)
        return axes

    def leave(
        self,
        axes: Known,
        args: Sequence[Value],
        prefixes: Sequence[Prefix],
        result: Tree,
        out_prefix: Prefix,
    ) -> None:
        """Put the name back into the Variables of arguments, and into those of the result."""
        done: dict[int, Node] = {}
        everything = (*args, result)
        for variable, axis in variables_with_axes(
            self._function, everything, (*prefixes, out_prefix)
        ):
            if id(variable) not in done:
                done[id(variable)] = variable
                self.add_to(variable, axes.get(id(variable), (variable, axis))[1])
        for variable, axis in axes.values():
            if id(variable) not in done:  # the function took it out of the arguments
                self.add_to(variable, axis)

    def remove_from(self, variable: AnyVariable, axis: int) -> None:
        """Take the names out of the metadata of one Variable."""
        for item, name, names in self._items(variable):
            left = list(names)
            number = _from_the_start(variable, axis, len(left))
            if not 0 <= number < len(left) or left[number] != name:
                place = where(variable) or type(variable).__name__
                raise ShardingError(
                    self._function,
                    f"Expected to remove {name!r} at index {axis} from {tuple(names)!r}, the "
                    f"out_sharding of {place}.",
                    "give the Variable an out_sharding with a name for each axis of its value, "
                    f"{name!r} at index {axis}, or change transform_metadata",
                )
            del left[number]
            variable.set_metadata(item, tuple(left))
        variable.remove_axis(axis, self._name)

    def add_to(self, variable: AnyVariable, axis: int) -> None:
        """Put the names into the metadata of one Variable."""
        for item, name, names in self._items(variable):
            wider = list(names)
            number = _from_the_start(variable, axis, len(wider) + 1)
            wider.extend([None] * (number - len(wider)))
            wider.insert(number, name)
            variable.set_metadata(item, tuple(wider))
        variable.add_axis(axis, self._name)

    def _items(self, variable: AnyVariable) -> Iterator[tuple[str, str | None, Tree]]:
        """Yield the items of metadata that name axes, with the name of this one and all names."""
        names = variable._meta.get("out_sharding")
        if names is not None:
            yield "out_sharding", self._name, names
        for item, name in self._others.items():
            if isinstance(names := variable._meta.get(item), tuple) and names:
                yield item, name, names


def _from_the_start(variable: AnyVariable, axis: int, names: int) -> int:
    """Return an axis counted from the first; the value of the Variable lacks the axis."""
    if axis >= 0:
        return axis
    # There may be fewer names than axes.
    count = getattr(variable.get_raw_value(), "ndim", names - 1) + 1
    return axis + max(count, names)


def named_axis(function: str, metadata: Mapping[str, Tree]) -> AxisMetadata | None:
    """Return what ``transform_metadata`` asks for; None if it names no axis."""
    return AxisMetadata(function, metadata) if PARTITION_NAME in metadata else None


def variables_with_axes(
    function: str, args: Sequence[Value], prefixes: Sequence[Prefix]
) -> Iterator[tuple[AnyVariable, int]]:
    """Yield each Variable of objects in arguments with its axis, if that is a number."""
    for arg, prefix in zip(args, prefixes, strict=True):
        leaves, treedef = jax.tree.flatten(arg, is_leaf=is_object)
        if not any(map(is_object, leaves)):
            continue
        for leaf, own in zip(leaves, broadcast(prefix, treedef), strict=True):
            if is_object(leaf):
                yield from _in_object(function, leaf, own)


def _in_object(function: str, node: Tree, prefix: Prefix) -> Iterator[tuple[AnyVariable, int]]:
    filters = by_filter(prefix)
    traversal: Traversal = Traversal().visit(node)
    for path, leaf in zip(traversal.graphdef.layout.paths, traversal.leaves, strict=True):
        if isinstance(leaf, Variable):
            axis = prefix
            if filters is not None:
                axis = filters.values_in_order[filters.group_of(function, path, leaf)]
            if type(axis) is int:
                yield leaf, axis


A = TypeVar("A")


def add_axis(tree: A, index: int, transform_metadata: Mapping[Any, Any]) -> A:
    """Put the name of a new axis into the ``out_sharding`` of each Variable of a tree.

    Args:
        tree: A pytree, such as a State or a Module; its Variables are changed.
        index: Where the axis was added; a negative one counts from the end.
        transform_metadata: The name, ``{nnx.PARTITION_NAME: name}``.

    Returns:
        The tree.

    Raises:
        ShardingError: There is no name.
    """
    axes = _named("add_axis", transform_metadata)
    for variable, names in _variables(tree):
        axes.add_to(variable, index + names + 1 if index < 0 else index)
    return tree


def remove_axis(tree: A, index: int, transform_metadata: Mapping[Any, Any]) -> A:
    """Take the name of an axis out of the ``out_sharding`` of each Variable of a tree.

    Args:
        tree: A pytree, such as a State or a Module; its Variables are changed.
        index: Where the axis was; a negative one counts from the end.
        transform_metadata: The name, ``{nnx.PARTITION_NAME: name}``.

    Returns:
        The tree.

    Raises:
        ShardingError: There is no name, or a Variable has another name, or none, at the axis.
    """
    axes = _named("remove_axis", transform_metadata)
    for variable, names in _variables(tree):
        axes.remove_from(variable, index + names if index < 0 else index)
    return tree


def _named(function: str, transform_metadata: Mapping[Any, Any]) -> AxisMetadata:
    if PARTITION_NAME not in transform_metadata:
        raise ShardingError(
            function,
            '"partition_name" is not specified in transform_metadata, which has the names '
            f"{list(transform_metadata)!r}; expected the name of the axis (or None) under it.",
            f"{function}(tree, index, {{nnx.PARTITION_NAME: 'layers'}})",
        )
    return AxisMetadata(function, transform_metadata)


def _variables(tree: Tree) -> Iterator[tuple[AnyVariable, int]]:
    """Yield each Variable of a tree once, with the number of names in its sharding."""
    found = jax.tree.leaves(tree, is_leaf=lambda leaf: isinstance(leaf, Variable))
    for variable in {id(leaf): leaf for leaf in found if isinstance(leaf, Variable)}.values():
        names: Tree = variable._meta.get("out_sharding")
        yield variable, 0 if names is None else len(names)
