"""Values that were kept, and so returned whether they changed or not: which of them are written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from typed_nnx._transforms.gather import Call
from typed_nnx._transforms.outcomes import Flat
from typed_nnx._transforms.signature import Effects, Groups, Part, in_groups, in_order

#: Says of a value, by part and leaf, whether it is to be written.
Wanted = Callable[[int, int, Any], bool]


def groups_of(effects: Effects, number: int, part: Part) -> Groups:
    """Return the group of each value that the trace returned for a part."""
    if part.groups is None:
        return None
    groups: Sequence[int] = [part.groups[leaf] for leaf in effects.changed[number]]
    grown = effects.grown[number] if effects.grown else None
    return (*groups, *((grown.groups or ()) if grown is not None else ()))


def only_wanted(call: Call, found: Flat, is_wanted: Wanted) -> Flat:
    """Return the same with the old value, which is not written, in the place of what is not wanted.

    Args:
        call: The call.
        found: What the trace returned.
        is_wanted: Which values to write.
    """
    effects: Effects = found.static.value
    updates = list(found.updates)
    pairs = zip(call.signature.parts, call.places, strict=True)
    for number, (part, place) in enumerate(pairs):
        if not part.kept:
            continue
        groups = groups_of(effects, number, part)
        values = in_order(groups, updates[number])
        for entry, leaf in enumerate(effects.changed[number]):
            if not is_wanted(number, leaf, values[entry]):
                values[entry] = place.values[leaf]
        updates[number] = in_groups(part.filters, groups or (), values)
    return found._replace(updates=tuple(updates))
