"""Places in lists that `setup` makes longer on branches: where an item is depends on the fields."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.linen.names.site_names import computed_in
from typed_nnx_codegen.migrate.linen.plan import Site
from typed_nnx_codegen.migrate.linen.running.frames import Recorder
from typed_nnx_codegen.migrate.linen.running.references import Choice, ModuleValue
from typed_nnx_codegen.migrate.linen.running.values import Value

_MOST_CONDITIONS: Final = 4
# Whether each condition holds.
Truth = Mapping[str, bool]


def places_in(items: Sequence[Value], letter: str, recorder: Recorder) -> list[str]:
    """Return the places of the items of a list, `{i}` for one that depends on the fields.

    Args:
        items: The items, with those of all branches.
        letter: What stands for a number.
        recorder: What was seen of the module.
    """
    fixed = [str(place) for place in range(len(items))]
    for place, item in enumerate(items):
        found = {count for _, count in _counted(items, item, recorder)}
        if found:
            fixed[place] = str(found.pop()) if len(found) == 1 else f"{{{letter}}}"
    return fixed


def is_named_by_place(site: Site, items: Sequence[Value], recorder: Recorder) -> bool:
    """Whether the number in the name of a submodule is always its place in a list."""
    number = computed_in(cst.parse_expression(site.name_code)) if site.name_code else ""
    counted = list(_counted(items, ModuleValue(site), recorder))
    return bool(counted) and all(
        _number(number, truth, recorder) == place for truth, place in counted
    )


def _counted(
    items: Sequence[Value], item: Value, recorder: Recorder
) -> Iterator[tuple[Truth, int]]:
    """Yield the place of an item for each outcome of the conditions with which it is there."""
    if not all(isinstance(one, ModuleValue | Choice) for one in items):
        return
    codes = sorted({code for one in items for code, _ in _conditions(one, recorder)})
    if not codes or len(codes) > _MOST_CONDITIONS:
        return
    for outcome in product((True, False), repeat=len(codes)):
        truth = dict(zip(codes, outcome, strict=True))
        there = [
            one
            for one in items
            if all(truth[code] is side for code, side in _conditions(one, recorder))
        ]
        if item in there:
            yield truth, there.index(item)


def _conditions(item: Value, recorder: Recorder) -> list[tuple[str, bool]]:
    """Return when an item of a list is there; one of several submodules always is."""
    around = item.site.conditions if isinstance(item, ModuleValue) else ()
    return [(recorder.branch_codes.get(one.number, ""), one.side) for one in around]


def _number(code: str, truth: Truth, recorder: Recorder) -> int | None:
    """Return the number that a local is on one outcome of the conditions; None if that is not seen."""
    while code in recorder.chosen_locals:
        condition, first, second = recorder.chosen_locals[code]
        if condition not in truth:
            return None
        code = first if truth[condition] else second
    return int(code) if re.fullmatch(r"\d+", code) else None
