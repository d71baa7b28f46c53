"""``in_axes`` and ``out_axes`` of `scan`: what is carried, scanned over and broadcast."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax

from typed_nnx._errors.counts import counted
from typed_nnx._transforms.places import kind_of_result
from typed_nnx._transforms.prefixes import Carry, Prefix, by_filter, is_prefix_leaf
from typed_nnx.errors import ScanAxesError


class ScanAxes:
    """The axes of `scan`, checked.

    Attributes:
        ins, outs: As they were given.
        carry_in: The position of the carry among the arguments; None if there is none.
        carry_out: Its position among the results; None if there is none, or if it is the result.
    """

    __slots__ = ("carry_in", "carry_out", "ins", "outs")

    def __init__(self, ins: Prefix, outs: Prefix) -> None:
        self.ins = ins
        self.outs = outs
        self.carry_in = _carry_position("in_axes", ins)
        self.carry_out = _carry_position("out_axes", outs)
        if self.has_carry != (self.carry_out is not None or outs is Carry):
            raise ScanAxesError(
                "If one of in_axes or out_axes has Carry, the other must also have Carry. Got "
                f"in_axes={_shown(ins)}, out_axes={_shown(outs)}",
                "in_axes=(nnx.Carry, 0), out_axes=(nnx.Carry, 0)",
            )
        for path, given in _broadcast_places(outs):
            raise ScanAxesError(
                f"Cannot broadcast output state. Got {given} at: {path}",
                "give the axis along which the results of the steps are stacked, such as 0",
            )

    @property
    def has_carry(self) -> bool:
        """Whether an argument is carried."""
        return self.carry_in is not None or self.ins is Carry

    def of_arguments(self, count: int) -> tuple[Prefix, ...]:
        """Return the axis of each argument.

        Raises:
            ScanAxesError: There is not one for each.
        """
        ins = self.ins
        if ins is Carry:
            if count != 1:
                raise ScanAxesError(
                    "When in_axes=Carry, the function must take exactly one argument, got "
                    f"{count} arguments.",
                    "in_axes=(nnx.Carry, 0), an axis for each argument",
                )
            return (Carry,)
        if type(ins) is not tuple and type(ins) is not list:
            return (ins,) * count
        if len(ins) != count:
            raise ScanAxesError(
                f"in_axes has {counted(len(ins), 'entry', 'entries')}, but the function got "
                f"{counted(count, 'argument')}",
                "give one axis for each argument",
            )
        return tuple(ins)

    def divide_result(self, result: Any) -> tuple[Any, Any, Prefix]:
        """Return the carry in a result, the rest, and the axes of the rest.

        Raises:
            ScanAxesError: The result has another length than out_axes.
        """
        outs = self.outs
        if outs is Carry:
            return result, (), ()
        if self.carry_out is None:
            return None, result, outs
        if not isinstance(result, tuple) or len(result) != len(outs):
            found = kind_of_result(result)
            raise ScanAxesError(
                f"out_axes={_shown(outs)} asks for a tuple of {len(outs)} results, the function returned "
                f"{found}",
                "return one result for each of out_axes",
            )
        rest = [own for number, own in enumerate(result) if number != self.carry_out]
        return result[self.carry_out], tuple(rest), self.of_rest()

    def of_rest(self) -> Prefix:
        """Return the axes of what is not carried in the result."""
        outs = self.outs
        if outs is Carry:
            return ()
        if self.carry_out is None:
            return outs
        return tuple([own for number, own in enumerate(outs) if number != self.carry_out])

    def whole_result(self, carry: Any, rest: Any) -> Any:
        """Undo `divide_result`."""
        if self.outs is Carry:
            return carry
        if self.carry_out is None:
            return rest
        return (*rest[: self.carry_out], carry, *rest[self.carry_out :])


def _shown(axes: Prefix) -> str:
    return repr(axes).replace(repr(Carry), "Carry")


def _carry_position(name: str, axes: Prefix) -> int | None:
    if axes is Carry or type(axes) not in (tuple, list):
        return None
    found = [number for number, axis in enumerate(axes) if axis is Carry]
    if len(found) > 1:
        raise ScanAxesError(
            f"Found multiple Carry definitions at {name}[{found[0]}] and {name}[{found[1]}]",
            "carry a tuple of what is carried",
        )
    for axis in axes:
        if axis is not Carry and by_filter(axis) is None:
            leaves = jax.tree.leaves(axis, is_leaf=is_prefix_leaf)
            if any(leaf is Carry for leaf in leaves):
                raise ScanAxesError(
                    f"Carry must be at the top-level, it cannot be nested. Found axes={_shown(axis)}",
                    "give nnx.Carry for the whole argument, or in nnx.StateAxes for a Module",
                )
    return found[0] if found else None


def _broadcast_places(axes: Prefix) -> Iterator[tuple[str, str]]:
    for path, leaf in jax.tree_util.tree_leaves_with_path(axes, is_leaf=is_prefix_leaf):
        filters = by_filter(leaf)
        values = (leaf,) if filters is None else filters.values_in_order
        if any(value is None for value in values):
            given = "out_axes=None" if leaf is None else repr(leaf)
            yield f"out_axes{jax.tree_util.keystr(path)}", given
