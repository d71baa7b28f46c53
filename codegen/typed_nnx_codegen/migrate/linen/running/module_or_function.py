"""Attributes and names that some objects have a submodule in, and others a function."""

from __future__ import annotations

from collections.abc import Iterable

from typed_nnx_codegen.migrate.linen.layers import find_layer
from typed_nnx_codegen.migrate.linen.plan import Condition
from typed_nnx_codegen.migrate.linen.running.frames import FunctionRef
from typed_nnx_codegen.migrate.linen.running.references import Choice, FieldModule, ModuleValue, Ref
from typed_nnx_codegen.migrate.linen.running.values import NONE, Value


def is_submodule(value: Value) -> bool:
    """Whether a value is a submodule, or one of several."""
    if isinstance(value, Choice):
        return all(map(is_submodule, value.options))
    return isinstance(value, ModuleValue | FieldModule)


def stands_for_one(value: Value) -> bool:
    """Whether a value is what objects without a submodule have in its place."""
    return value == NONE or _is_function(value)


def _is_function(value: Value) -> bool:
    if isinstance(value, Ref):
        return find_layer(value.name) is None
    return isinstance(value, FunctionRef)


def module_or_function(one: Value, other: Value) -> Choice | None:
    """Return what stands for either of a submodule and a function; None for other values."""
    for first, second in ((one, other), (other, one)):
        if is_submodule(first) and isinstance(second, FunctionRef):
            options = first.options if isinstance(first, Choice) else (first,)
            return Choice((*options, second))
    return None


def takes_place(
    before: Value,
    first: Iterable[Condition],
    after: Value,
    then: Iterable[Condition],
) -> bool:
    """Whether an attribute that held a submodule is assigned a function, or the other way round.

    Args:
        before: What it held.
        first: The branches around that assignment.
        after: What it is assigned.
        then: The branches around this assignment.
    """
    pairs = ((before, after), (after, before))
    if not any(is_submodule(one) and _is_function(other) for one, other in pairs):
        return False
    sides = {one.number: one.side for one in first}
    return all(sides.get(one.number, one.side) is one.side for one in then)
