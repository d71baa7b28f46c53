"""The steps of a `scan` over plain values: which are scanned over, which carried, how they stack."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
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
from typed_nnx._transforms.mapped_values import check_sizes
from typed_nnx._transforms.outcomes import Flat
from typed_nnx._transforms.prefixes import Carry, Prefix, broadcast, pure_prefix
from typed_nnx._transforms.scan_axes import ScanAxes
from typed_nnx._transforms.shown import names_of, shown
from typed_nnx._transforms.signature import Effects, Grown, Part, Signature, in_groups, in_order


class Found(NamedTuple):
    """What one step found, apart from the carry.

    Attributes:
        scanned: For each part the values to be stacked.
        flat: The result, and the static effects.
    """

    scanned: tuple[list[Any], ...]
    flat: Flat


class Steps:
    """The steps over plain values: which of them are scanned over and which are carried.

    jax finds a trace again by the identity of `body`, so there is one for all calls of a kind. It
    knows what is static about them and nothing of any one call.

    Args:
        lift: The user's function.
        axes: What is scanned over, carried and stacked.
        metadata: What is done with the metadata of Variables.
        signature: What is static about the objects of a call.
        treedefs: The structure of each argument as plain values.
        prefixes: The axes of each of them.

    Attributes:
        body: The function of one step, as jax shows it: as the user's function.
    """

    def __init__(
        self,
        lift: Lift,
        axes: ScanAxes,
        metadata: AxisMetadata | None,
        signature: Signature,
        treedefs: Sequence[Any],
        prefixes: Sequence[Prefix],
    ) -> None:
        self._lift = lift
        self._axes = axes
        self._metadata = metadata
        self._prefixes = axes.of_arguments(len(treedefs))
        self._signature = signature
        self._treedefs = treedefs
        self._leaf_axes = [
            axis
            for prefix, treedef in zip(prefixes, treedefs, strict=True)
            for axis in broadcast(prefix, treedef)
        ]
        self.body: Callable[..., Any] = shown(self.step, lift.function, self._names)

    def inputs(self, call: Call) -> tuple[Any, list[Any]]:
        """Return the first carry of a call, and what is scanned over, along its first axes."""
        pairs = list(zip(jax.tree.leaves(call.args), self._leaf_axes, strict=True))
        carried = [leaf for leaf, axis in pairs if type(axis) is not int]
        slices = [_moved(leaf, axis, 0) for leaf, axis in pairs if type(axis) is int]
        return (carried, call.captured), slices

    def _axis(self, part: int, leaf: int) -> Prefix:
        return prefix_of_leaf(self._signature.parts[part], leaf)

    def _is_scanned(self, part: int, leaf: int) -> bool:
        return type(self._axis(part, leaf)) is int

    def _names(self, carry: Any, slices: Any) -> Any:
        """Return names in trees like what a step takes."""
        carried, captured = carry
        found, closed = self._names_of(self._arguments(carried, slices), captured)
        pairs = list(zip(found, self._leaf_axes, strict=True))
        names = [name for name, axis in pairs if type(axis) is not int]
        return (names, closed), [name for name, axis in pairs if type(axis) is int]

    def _names_of(self, pure: Sequence[Any], captured: Sequence[Any]) -> tuple[list[str], Any]:
        """Return names of the leaves of the arguments, and of what the function closes over."""
        args, _, closed = names_of(self._lift.parameters, self._signature, pure, {}, captured)
        return jax.tree.leaves(args), closed

    def check_sizes(self, call: Call, length: int | None) -> None:
        """Raise a better error than that of jax if slices are taken along axes of different sizes."""
        names, _ = self._names_of(call.args, call.captured)
        inputs = zip(names, self._leaf_axes, jax.tree.leaves(call.args), strict=True)
        check_sizes(self._lift.title, inputs, "length", length)

    # -- one step ---------------------------------------------------------------------------------

    def step(self, carry: Any, slices: Any) -> tuple[Any, Found]:
        """Run the user's function on one slice."""
        signature, name = self._signature, self._lift.title
        carried, captured = carry
        pure = self._arguments(carried, slices)
        inside = self._lift.enter(signature, pure, {}, captured)
        number = self._carry_number()
        carry_given = None if number is None else inside.args[number]
        result = self._run(inside)
        value, rest, rest_axes = self._axes.divide_result(result)
        plain = None
        if number is not None:
            argument = signature.arguments[number]
            plain = returned_values(name, argument, carry_given, value)
        flat = inside.leave(rest, rest_axes)
        check_structures(name, signature, flat, self._may_grow)
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
        check_types(self._lift.title, self._signature.parts, inside.given, found)
        return found

    def _carry(self, pure: Sequence[Any], plain: Any, values: Sequence[list[Any]]) -> Any:
        """Return the plain values of the next carry."""
        signature = self._signature
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
        for number, part in enumerate(self._signature.parts):
            _, axes = self._groups(effects, number)
            found.append((flat.values_of(number, part), axes))
        return found

    def _groups(self, effects: Effects, number: int) -> tuple[tuple[int, ...] | None, list[Prefix]]:
        """Return the groups and axes of the values that belong to a part: changed, then new ones."""
        part = self._signature.parts[number]
        groups = effects.groups_of(number, part)
        if groups is None:
            grown = effects.grown_of(number)
            new = 0 if grown is None else grown.count
            return None, [part.prefix] * (len(effects.changed[number]) + new)
        assert part.filters is not None
        return groups, [part.filters.values_in_order[group] for group in groups]

    def _may_grow(self, number: int, grown: Grown) -> bool:
        """Whether a part may have another structure after a step: what is carried must stay."""
        part = self._signature.parts[number]
        leaves = range(len(part.graphdef.layout.paths))
        carried = [leaf for leaf in leaves if not self._is_scanned(number, leaf)]
        if not carried and (leaves or type(part.prefix) is int):
            return True
        axes = part.filters.values_in_order if part.filters is not None else (part.prefix,)
        groups = grown.groups if grown.groups is not None else (0,) * grown.count
        if any(type(axes[group]) is not int for group in groups):
            return False  # it would have to be carried from the first step on
        # Static values may change: the next step begins with the structure that the first one had.
        return stays_in_place(number, part, carried, grown)

    # -- after the last step ----------------------------------------------------------------------

    def finish(self, call: Call, args: Sequence[Any], carry: Any, found: Found) -> Any:
        """Write the last values into the objects of a call and return the whole result.

        Args:
            call: The call.
            args: Its arguments, with objects.
            carry: The last carry.
            found: What the steps found, stacked.
        """
        effects: Effects = found.flat.static.value
        carried, captured = carry
        pure = self._last_arguments(carried)
        final = self._final_values(pure, captured)
        updates = []
        for number, stacked in enumerate(found.scanned):
            part = self._signature.parts[number]
            groups, axes = self._groups(effects, number)
            following = iter(stacked)
            changed = iter(effects.changed[number])
            values = []
            for axis in axes:
                leaf = next(changed, None)
                if type(axis) is int:
                    values.append(_moved(next(following), 0, axis))
                else:
                    assert leaf is not None
                    values.append(final[number][leaf])
            updates.append(in_groups(part.filters, groups or (), values))
        rest = self._stacked(found.flat.result)
        built = self._lift.finish(call, Flat(tuple(updates), rest, found.flat.static))
        return self._axes.whole_result(self._final_carry(pure, args), built)

    def _last_arguments(self, carried: Sequence[Any]) -> list[Any]:
        """Return the arguments after the last step as plain values, None for each slice."""
        from_carry = iter(carried)
        return self._unflattened(
            [None if type(axis) is int else next(from_carry) for axis in self._leaf_axes]
        )

    def _final_values(self, pure: Sequence[Any], captured: Sequence[Any]) -> list[list[Any]]:
        """Return the values of each part after the last step."""
        signature = self._signature
        found: list[list[Any]] = []
        for argument, own in (
            *zip(signature.arguments, pure, strict=True),
            *zip(signature.captured, captured, strict=True),
        ):
            if argument is None:
                continue
            for part, value in argument.pairs(own):
                if isinstance(part, Part):
                    found.append(in_order(part.groups, value))
        return found

    def _final_carry(self, pure: Sequence[Any], args: Sequence[Any]) -> Any:
        number = self._carry_number()
        if number is None:
            return None
        argument = self._signature.arguments[number]
        return with_objects(argument, pure[number], args[number])

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
