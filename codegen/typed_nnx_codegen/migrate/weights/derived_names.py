"""Names that Linen counts by a class which derives from the one that the map names.

The map has ``params/Features_0`` for what a field of type ``type[Features]`` builds. Where the
field holds a class that derives from it, Linen's name is ``WideFeatures_0``: the object in that
place tells.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Final

from typed_nnx_codegen.migrate.weight_map import ClassMap
from typed_nnx_codegen.migrate.weights.class_maps import ClassMaps
from typed_nnx_codegen.migrate.weights.models import (
    NowhereError,
    Slot,
    is_library_layer,
    is_module,
    resolve,
)

_AUTOMATIC: Final = re.compile(r"(\w+)_(\d+)")


def derived_slots(
    names: Collection[str], slot: Slot, entries: Sequence[ClassMap], maps: ClassMaps
) -> dict[str, Slot]:
    """Return the objects by their Linen names, where their classes are not those of the map.

    Args:
        names: The names that there are in Linen. Those of classes under transforms are not those
            of the objects, and are in the map.
        slot: The object that has them.
        entries: The entries for its class.
        maps: The maps that count.
    """
    found: dict[str, Slot] = {}
    groups = _groups(slot, entries)
    for base, objects in groups.items():
        held_in_order = [held for _, held in sorted(objects.items())]
        classes = [maps.old_name(type(held.content).__name__) for held in held_in_order]
        others = groups.keys() - {base}
        if set(classes) == {base} or others & set(classes):
            continue  # with another group the order of execution is not known
        # Linen counts each class by itself, in the order of execution.
        counted = [f"{one}_{classes[:place].count(one)}" for place, one in enumerate(classes)]
        if any(one in names for one in counted if not one.startswith(f"{base}_")):
            found |= dict(zip(counted, held_in_order, strict=True))
    return found


def _groups(slot: Slot, entries: Sequence[ClassMap]) -> dict[str, dict[int, Slot]]:
    """Return the objects that entries with automatic names lead to, by class name and number."""
    found: dict[str, dict[int, Slot]] = defaultdict(dict)
    for each in entries:
        for text, target in each.variables.items():
            _, _, path = text.partition("/")
            name = _AUTOMATIC.fullmatch(path.partition("/")[0])
            held = _first_module(slot, target.to) if name and target is not None else None
            if name is not None and held is not None:
                found[name[1]].setdefault(int(name[2]), held)
    return found


def _first_module(slot: Slot, path: str) -> Slot | None:
    """Return the first module of the project on an attribute path; None where there is none."""
    parts = path.split(".")
    for count in range(1, len(parts) + 1):
        try:
            held = resolve(slot, tuple(parts[:count]))
        except NowhereError:
            return None
        if is_module(held.content) and not is_library_layer(type(held.content)):
            return held
    return None
