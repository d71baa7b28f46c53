"""`while_loop` and `fori_loop` that carry Modules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import jax

from typed_nnx._core.tracebacks import hides_frames
from typed_nnx._core.variable import Variable
from typed_nnx._transforms.callables import Parameters, describe
from typed_nnx._transforms.carries import (
    check_structures,
    check_types,
    next_values,
    returned_values,
    with_objects,
    with_values,
)
from typed_nnx._transforms.gather import Call
from typed_nnx._transforms.inside import Inside
from typed_nnx._transforms.lift import Lift
from typed_nnx._transforms.outcomes import Flat
from typed_nnx._transforms.places import CARRY, place_name
from typed_nnx._transforms.shown import names_of, shown
from typed_nnx._transforms.signature import Effects, Part, Static
from typed_nnx.errors import ConditionChangedError

T = TypeVar("T")

# The positions of the user's functions in a loop.
_BODY, _CONDITION = 0, 1


@hides_frames
def while_loop(
    cond_fun: Callable[[T], Any],
    body_fun: Callable[[T], T],
    init_val: T,
    *,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> T:
    """Run a function as long as a condition holds, as `jax.lax.while_loop` does for arrays.

    Objects in the carry, and those that the body closes over, change from step to step; their
    structure must stay. The body returns the objects that it got, in the same places.

    >>> import jax.numpy as jnp
    >>> count = Variable(jnp.array(0))
    >>> def step(count):
    ...     count[...] += 1
    ...     return count
    >>> int(while_loop(lambda count: count < 5, step, count)[...])
    5

    Args:
        cond_fun: A function of the carry that returns a bool scalar and changes nothing.
        body_fun: A function of the carry that returns the next one.
        init_val: The first carry: a tree of objects and arrays.
        graph: False asserts that the carry is a tree, without shared references.
        graph_updates: Has no effect here: structures never change.

    Raises:
        CarryStructureError: A step changed the structure of the carry.
        CarryTypeError: A step changed the shape or dtype of a value.
        ConditionChangedError: The condition changed an object.

    Returns:
        The last carry, with the objects of the first.
    """
    loop = _Loop("while_loop", (body_fun, cond_fun), init_val, graph, graph_updates)
    condition = loop.shown(loop.condition, _CONDITION)
    final = jax.lax.while_loop(condition, loop.shown(loop.step, _BODY), loop.first)
    return loop.finish(final)  # type: ignore[no-any-return]  # a carry


@hides_frames
def fori_loop(
    lower: Any,
    upper: Any,
    body_fun: Callable[[Any, T], T],
    init_val: T,
    *,
    unroll: int | bool | None = None,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> T:
    """Run a function for each number of a range, as `jax.lax.fori_loop` does for arrays.

    See `while_loop` for what is carried.

    Args:
        lower: The first number: an int scalar, traced or not, or a Variable of one.
        upper: The number after the last.
        body_fun: A function of the number and the carry that returns the next carry.
        init_val: The first carry: a tree of objects and arrays.
        unroll: How many steps to unroll, or whether to unroll all; only for bounds that are known.
        graph: False asserts that the carry is a tree, without shared references.
        graph_updates: Has no effect here: structures never change.

    Raises:
        CarryStructureError: A step changed the structure of the carry.
        CarryTypeError: A step changed the shape or dtype of a value.

    Returns:
        The last carry, with the objects of the first.
    """
    loop = _Loop("fori_loop", (body_fun,), init_val, graph, graph_updates)
    first, last = [x.get_value() if isinstance(x, Variable) else x for x in (lower, upper)]
    step = loop.shown(lambda i, carry: loop.step(carry, i), _BODY)
    final = jax.lax.fori_loop(first, last, step, loop.first, unroll=unroll)
    return loop.finish(final)  # type: ignore[no-any-return]  # a carry


class _Loop:
    """A loop over plain values: the carry and what the functions close over."""

    def __init__(
        self,
        name: str,
        functions: tuple[Callable[..., Any], ...],
        carry: Any,
        graph: bool | None,
        graph_updates: bool | None,
    ) -> None:
        self._lift = Lift(name, functions, graph, graph_updates)
        self._call: Call = self._lift.gather((carry,), roots=(CARRY,))
        self._given = carry
        self._argument = self._call.signature.arguments[0]
        self.first = (self._call.args[0], self._call.captured)

    def shown(self, flat: Callable[..., Any], which: int) -> Callable[..., Any]:
        """Return a function of plain values that jax shows as one of the user's functions."""
        function = self._lift.function[which]

        def names(*inputs: Any) -> Any:
            *before, (value, captured) = inputs
            *roots, root = [Parameters(function)[number] for number in range(len(inputs))]
            signature = self._call.signature
            (carry,), _, closed = names_of([root], signature, (value,), {}, captured)
            return *roots[: len(before)], (carry, closed)

        return shown(flat, function, names)

    def _enter(self, carry: Any) -> Inside:
        value, captured = carry
        return self._lift.enter(self._call.signature, (value,), {}, captured)

    def condition(self, carry: Any) -> Any:
        """Return whether to go on.

        Raises:
            ConditionChangedError: The user's function changed something.
        """
        inside = self._enter(carry)
        result = inside.result(_CONDITION)
        effects: Effects = inside.leave(None).static.value
        paths = [
            place_name((*place.path, *place.structure.layout.paths[leaf]))
            for place, changed in zip(self._call.places, effects.changed, strict=True)
            for leaf in changed
        ]
        for place, grown in zip(self._call.places, effects.grown, strict=False):
            if grown is not None:
                paths.append(f"{place_name(place.path)} (its structure)")
        if paths:
            raise ConditionChangedError(describe(self._lift.function[_CONDITION]), paths)
        return result.get_value() if isinstance(result, Variable) else result

    def step(self, carry: Any, *before: Any) -> Any:
        """Return the plain values of the next carry."""
        call, name = self._call, self._lift.title
        inside = self._enter(carry)
        given = inside.args[0]
        plain = returned_values(name, self._argument, given, inside.result(_BODY, *before))
        flat = inside.leave(None)
        check_structures(name, call.signature, flat, lambda *_: False)
        parts = call.signature.parts
        values = [next_values(inside, flat, n) for n in range(len(parts))]
        check_types(name, parts, inside.given, values)
        by_part = {id(part): own for part, own in zip(parts, values, strict=True)}
        captured = [by_part.get(id(argument.parts[0]), []) for argument in call.signature.captured]
        return with_values(self._argument, plain, by_part), tuple(captured)

    def finish(self, final: Any) -> Any:
        """Write the last values into the objects and return the last carry."""
        call = self._call
        value, captured = final
        argument = self._argument
        updates = []
        if argument is not None:
            updates = [own for part, own in argument.pairs(value) if isinstance(part, Part)]
        for spec, own in zip(call.signature.captured, captured, strict=True):
            if isinstance(spec.parts[0], Part):
                updates.append(own)
        changed = tuple([tuple(range(len(place.leaves))) for place in call.places])
        effects = Effects(changed, (), tuple([0] * len(changed)), None, ())
        self._lift.finish(call, Flat(tuple(updates), None, Static(effects)))
        return with_objects(argument, value, self._given)
