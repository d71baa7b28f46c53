"""Lists in local names that a loop of the constructor appends submodules to."""

from __future__ import annotations

from dataclasses import replace

from typed_nnx_codegen.migrate.linen.frames import Recorder
from typed_nnx_codegen.migrate.linen.open_tuples import rest_of
from typed_nnx_codegen.migrate.linen.references import (
    Choice,
    Grown,
    Headed,
    ModuleValue,
    Repeated,
)
from typed_nnx_codegen.migrate.linen.site_names import sites_in
from typed_nnx_codegen.migrate.linen.values import UNKNOWN, Sequence, Value


def counting(value: Value) -> Value:
    """Return a list as it begins an iteration that notes what it appends.

    Args:
        value: What it stands for in any iteration.
    """
    is_list = isinstance(value, Repeated) and (sites_in(value) or isinstance(value, Grown))
    return Grown(value.element) if is_list and isinstance(value, Repeated) else value


def grown(before: Value, stable: Value, after: Value, number: int, recorder: Recorder) -> Value:
    """Return what a name stands for after a loop of the constructor.

    Args:
        before: What it stands for before the loop.
        stable: What it stands for in any iteration.
        after: What the last iteration leaves; the submodules in it are those that count.
        number: The loop.
        recorder: What is written down.
    """
    if isinstance(after, Grown):
        added = _of_iteration(after, number, recorder)
        if added is not None:
            return _continued(before, added)
        after = Repeated(after.element)
        if isinstance(stable, Headed):
            after = Headed(after.element, head=stable.head)
    sites = sites_in(rest_of(after) if isinstance(after, Headed) else after)
    return after if isinstance(after, Repeated) and sites else stable


def _of_iteration(after: Grown, number: int, recorder: Recorder) -> Repeated | None:
    """Return what a loop adds to a list; None where iterations differ."""
    depth = len(recorder.conditions)
    for part in after.parts:
        for site in sites_in(part):
            if number not in site.loops or len(site.conditions) != depth:
                return None
    match after.parts:
        case ():
            return None
        case [ModuleValue() as one] if one.site.loops[-1:] == (number,):
            return Repeated(one, number)
    return Grown(_any_of(after.parts), number, parts=after.parts)


def _continued(before: Value, added: Repeated) -> Value:
    """Return a list with what a loop adds to it."""
    match before:
        case Grown(loop=None):
            return with_part(before, added)
        case Sequence(items=()):
            return added
        case Sequence(items=items) if isinstance(added.element, ModuleValue):
            return Headed(_any_of((*items, added)), added.loop, head=items)
        case Sequence(items=items):
            return Grown(_any_of((*items, added)), parts=(*items, added))
        case Repeated():
            return Grown(_any_of((before, added)), parts=(before, added))
    return UNKNOWN


def with_part(value: Grown, *parts: Value) -> Grown:
    """Return a list with more at its end."""
    every = (*value.parts, *parts)
    return replace(value, element=_any_of((Repeated(value.element), *parts)), parts=every)


def _any_of(parts: tuple[Value, ...]) -> Value:
    """Return what any item stands for, of a list with these parts."""
    found: list[Value] = []
    for part in parts:
        item = part.element if isinstance(part, Repeated) else part
        for one in item.options if isinstance(item, Choice) else (item,):
            if one not in found and one != UNKNOWN:
                found.append(one)
    return found[0] if len(found) == 1 else Choice(tuple(found)) if found else UNKNOWN


def only_built(value: Value, recorder: Recorder) -> Value:
    """Return a list without the submodules that only trials of a loop built."""
    if not isinstance(value, Repeated) or not isinstance(value.element, Choice):
        return value
    built = {site for site in recorder.plan.sites}
    nodes = {site.node for site in built}
    kept = tuple(
        one
        for one in value.element.options
        if not isinstance(one, ModuleValue) or one.site in built or one.site.node not in nodes
    )
    if not kept or len(kept) == len(value.element.options):
        return value
    return replace(value, element=kept[0] if len(kept) == 1 else Choice(kept))
