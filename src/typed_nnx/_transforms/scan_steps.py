"""The steps of a `scan` over plain values: which are scanned over, which carried, how they stack."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from typed_nnx._transforms.axis_metadata import AxisMetadata
from typed_nnx._transforms.carries import (
    check_structures,
    check_types,
    next_values,
    returned_values,
    stays_in_place,
    with_objects,
    with_values,
)
from typed_nnx._transforms.gather import Call, prefix_of_leaf
from typed_nnx._transforms.inside import Inside
from typed_nnx._transforms.lift import Lift
from typed_nnx._transforms.outcomes import Flat
from typed_nnx._transforms.prefixes import Carry, Prefix, broadcast, pure_prefix
from typed_nnx._transforms.scan_axes import ScanAxes
from typed_nnx._transforms.signature import Effects, Grown, Part, in_groups, in_order


class Found(NamedTuple):
    """What one step found, apart from the carry.

    Attributes:
        scanned: For each part the values to be stacked.
        flat: The result, and the static effects.
    """

    scanned: tuple[list[Any], ...]
    flat: Flat


class Steps:
    """The steps over plain values: which of them are scanned over and which are carried."""

    def __init__(
        self, lift: Lift, axes: ScanAxes, metadata: AxisMetadata | None, args: tuple[Any, ...]
    ) -> None:
        self._lift = lift
        self._axes = axes
        self._metadata = metadata
        self._given = args
        self._prefixes = axes.of_arguments(len(args))
        # What the function closes over changes from step to step like a carry.
        self._call: Call = lift.gather(args, None, self._prefixes, capture_prefix=Carry)
        self._treedefs: list[Any] = [jax.tree.structure(arg) for arg in self._call.args]
        self._leaf_axes = [
            axis
            for prefix, treedef in zip(self._call.prefixes, self._treedefs, strict=True)
            for axis in broadcast(prefix, treedef)
        ]
        leaves = jax.tree.leaves(self._call.args)
        pairs = list(zip(leaves, self._leaf_axes, strict=True))
        self.slices = [_moved(leaf, axis, 0) for leaf, axis in pairs if type(axis) is int]
        self.first = ([leaf for leaf, axis in pairs if type(axis) is not int], self._call.captured)

    def _axis(self, part: int, leaf: int) -> Prefix:
        return prefix_of_leaf(self._call.signature.parts[part], self._call.places[part], leaf)

    def _is_scanned(self, part: int, leaf: int) -> bool:
        return type(self._axis(part, leaf)) is int

    # -- one step ---------------------------------------------------------------------------------

    def step(self, carry: Any, slices: Any) -> tuple[Any, Found]:
        """Run the user's function on one slice."""
        call, name = self._call, self._lift.title
        carried, captured = carry
        pure = self._arguments(carried, slices)
        inside = self._lift.enter(call.signature, pure, {}, captured)
        number = self._carry_number()
        carry_given = None if number is None else inside.args[number]
        result = self._run(inside)
        value, rest, rest_axes = self._axes.divide_result(result)
        plain = None
        if number is not None:
            argument = call.signature.arguments[number]
            plain = returned_values(name, argument, carry_given, value)
        flat = inside.leave(rest, rest_axes)
        check_structures(name, call.signature, flat, self._may_grow)
        values = self._next_values(inside, flat)
        return self._carry(pure, plain, values), self._found(flat)

    def _run(self, inside: Inside) -> Any:
        if self._metadata is None:
            return inside.result()
        known = self._metadata.enter(inside.args, self._prefixes)
        result = inside.result()
        _, rest, rest_axes = self._axes.divide_result(result)
        self._metadata.leave(known, inside.args, self._prefixes, rest, rest_axes)
        return result

    def _carry_number(self) -> int | None:
        return 0 if self._axes.ins is Carry else self._axes.carry_in

    def _arguments(self, carried: Sequence[Any], slices: Sequence[Any]) -> list[Any]:
        """Return the arguments of one step as plain values."""
        from_carry, from_slices = iter(carried), iter(slices)
        return self._unflattened(
            [next(from_slices if type(axis) is int else from_carry) for axis in self._leaf_axes]
        )

    def _unflattened(self, leaves: Iterable[Any]) -> list[Any]:
        """Return the arguments with these leaves."""
        following = iter(leaves)
        return [
            treedef.unflatten([next(following) for _ in range(treedef.num_leaves)])
            for treedef in self._treedefs
        ]

    def _next_values(self, inside: Inside, flat: Flat) -> list[list[Any]]:
        """Return the values of each part for the next step; slices are as they were."""
        found = []
        for number, given in enumerate(inside.given):
            values = next_values(inside, flat, number)
            for leaf, old in enumerate(given):
                if self._is_scanned(number, leaf):
                    values[leaf] = old
            found.append(values)
        check_types(self._lift.title, self._call, inside.given, found)
        return found

    def _carry(self, pure: Sequence[Any], plain: Any, values: Sequence[list[Any]]) -> Any:
        """Return the plain values of the next carry."""
        signature = self._call.signature
        by_part = {
            id(part): in_groups(part.filters, part.groups or (), own)
            for part, own in zip(signature.parts, values, strict=True)
        }
        carried = []
        axes = iter(self._leaf_axes)
        for number, (argument, own) in enumerate(zip(signature.arguments, pure, strict=True)):
            source = plain if number == self._carry_number() else own
            made = with_values(argument, source, by_part)
            carried.extend([leaf for leaf in jax.tree.leaves(made) if type(next(axes)) is not int])
        captured = [by_part.get(id(argument.parts[0]), []) for argument in signature.captured]
        return carried, tuple(captured)

    def _found(self, flat: Flat) -> Found:
        scanned = [
            [value for value, axis in zip(values, axes, strict=True) if type(axis) is int]
            for values, axes in self._returned(flat)
        ]
        return Found(tuple(scanned), flat._replace(updates=()))

    def _returned(self, flat: Flat) -> list[tuple[list[Any], list[Prefix]]]:
        """Return for each part the values that a step returned and their axes."""
        effects: Effects = flat.static.value
        found = []
        for number, part in enumerate(self._call.signature.parts):
            _, axes = self._groups(effects, number)
            found.append((flat.values_of(number, part), axes))
        return found

    def _groups(self, effects: Effects, number: int) -> tuple[tuple[int, ...] | None, list[Prefix]]:
        """Return the groups and axes of the values that belong to a part: changed, then new ones."""
        part = self._call.signature.parts[number]
        prefix = self._call.places[number].prefix
        groups = effects.groups_of(number, part)
        if groups is None:
            grown = effects.grown_of(number)
            new = 0 if grown is None else grown.count
            return None, [prefix] * (len(effects.changed[number]) + new)
        assert part.filters is not None
        return groups, [part.filters.values_in_order[group] for group in groups]

    def _may_grow(self, number: int, grown: Grown) -> bool:
        """Whether a part may have another structure after a step: what is carried must stay."""
        part, place = self._call.signature.parts[number], self._call.places[number]
        carried = [leaf for leaf in range(len(place.leaves)) if not self._is_scanned(number, leaf)]
        if not carried:
            return True
        axes = part.filters.values_in_order if part.filters is not None else (place.prefix,)
        groups = grown.groups if grown.groups is not None else (0,) * grown.count
        if any(type(axes[group]) is not int for group in groups):
            return False  # it would have to be carried from the first step on
        # Static values may change: the next step begins with the structure that the first one had.
        return stays_in_place(number, part, carried, grown)

    # -- after the last step ----------------------------------------------------------------------

    def finish(self, carry: Any, found: Found) -> Any:
        """Write the last values into the objects and return the whole result."""
        call = self._call
        effects: Effects = found.flat.static.value
        final = self._final_values(carry)
        updates = []
        for number, stacked in enumerate(found.scanned):
            part = call.signature.parts[number]
            groups, axes = self._groups(effects, number)
            following = iter(stacked)
            carried = iter(effects.changed[number])
            values = []
            for axis in axes:
                leaf = next(carried, None)
                if type(axis) is int:
                    values.append(_moved(next(following), 0, axis))
                else:
                    assert leaf is not None
                    values.append(final[number][leaf])
            updates.append(in_groups(part.filters, groups or (), values))
        rest = self._stacked(found.flat.result)
        built = self._lift.finish(call, Flat(tuple(updates), rest, found.flat.static))
        return self._axes.whole_result(self._final_carry(), built)

    def _final_values(self, carry: Any) -> list[list[Any]]:
        """Return the values of each part after the last step; slices as they were given."""
        carried, captured = carry
        call = self._call
        from_carry = iter(carried)
        pure = self._last = self._unflattened(
            [None if type(axis) is int else next(from_carry) for axis in self._leaf_axes]
        )
        found: list[list[Any]] = []
        for argument, own in (
            *zip(call.signature.arguments, pure, strict=True),
            *zip(call.signature.captured, captured, strict=True),
        ):
            if argument is None:
                continue
            for part, value in argument.pairs(own):
                if isinstance(part, Part):
                    found.append(in_order(part.groups, value))
        return found

    def _final_carry(self) -> Any:
        number = self._carry_number()
        if number is None:
            return None
        argument = self._call.signature.arguments[number]
        return with_objects(argument, self._last[number], self._given[number])

    def _stacked(self, result: Any) -> Any:
        """Return the stacked results with the new axis where ``out_axes`` wants it."""
        axes = self._axes.of_rest()
        treedef: Any
        leaves, treedef = jax.tree.flatten(result)
        wanted = broadcast(pure_prefix(axes), treedef)
        return treedef.unflatten(
            [_moved(leaf, 0, axis) for leaf, axis in zip(leaves, wanted, strict=True)]
        )


def _moved(value: Any, source: int, target: int) -> Any:
    if source == target:
        return value
    return jax.tree.map(lambda leaf: jnp.moveaxis(leaf, source, target), value)
