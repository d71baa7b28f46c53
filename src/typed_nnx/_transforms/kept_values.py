"""Values that were kept, and so returned whether they changed or not: which of them are written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from typed_nnx._transforms.gather import Call
from typed_nnx._transforms.outcomes import Flat
from typed_nnx._transforms.signature import Effects, in_groups

#: Says of a value, by part and leaf, whether it is to be written.
Wanted = Callable[[int, int, Any], bool]


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
        values = found.values_of(number, part)
        for entry, leaf in enumerate(effects.changed[number]):
            if not is_wanted(number, leaf, values[entry]):
                values[entry] = place.values[leaf]
        updates[number] = in_groups(part.filters, effects.groups_of(number, part) or (), values)
    return found._replace(updates=tuple(updates))
