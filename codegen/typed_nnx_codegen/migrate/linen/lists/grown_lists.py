"""Lists in local names that a loop of the constructor appends submodules to."""

from __future__ import annotations

import keyword
import re
from dataclasses import replace
from typing import Final

from typed_nnx_codegen.migrate.linen.lists.open_tuples import rest_of
from typed_nnx_codegen.migrate.linen.names.site_names import sites_in
from typed_nnx_codegen.migrate.linen.running.frames import Recorder
from typed_nnx_codegen.migrate.linen.running.merging import is_rebuilt
from typed_nnx_codegen.migrate.linen.running.references import (
    Choice,
    Grown,
    Headed,
    ModuleValue,
    Repeated,
    Sometimes,
)
from typed_nnx_codegen.migrate.linen.running.values import UNKNOWN, Seq, Value
from typed_nnx_codegen.migrate.linen.sizes.dims import Piece

# Code that has names for what is spelled later.
_TEMPLATE: Final = re.compile(r"__[a-z]+\d+__")
_NAME: Final = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
# What is the same in every iteration of a loop.
_EVERYWHERE: Final = frozenset({"self", "len", "isinstance", "int", "bool", *keyword.kwlist})


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
    if not all(_is_built(part, number, len(recorder.conditions)) for part in after.parts):
        return None
    match after.parts:
        case ():
            return None
        case [ModuleValue() as one] if one.site.loops[-1:] == (number,):
            return Repeated(one, number)
        case [Choice() as one] if all(site.loops[-1:] == (number,) for site in sites_in(one)):
            return Repeated(one, number)
    return Grown(_any_of(after.parts), number, parts=after.parts)


def _is_built(part: Value, number: int, depth: int) -> bool:
    """Whether an iteration of a loop builds what it appends, under so many conditions."""
    if isinstance(part, Sometimes):
        return all(_is_built(one, number, depth + 1) for one in (*part.parts, *part.orelse))
    if isinstance(part, Grown):
        return all(_is_built(one, number, depth) for one in part.parts)
    if isinstance(part, Choice):
        # A branch within the expression says which one it is.
        sites = sites_in(part)
        return all(
            number in site.loops and len(site.conditions) == depth + 1 for site in sites
        ) and len(sites) == len(part.options)
    return all(number in site.loops and len(site.conditions) == depth for site in sites_in(part))


def sometimes(one: Value, other: Value, code: str, recorder: Recorder) -> Grown | None:
    """Return a list of submodules that is longer on one side of a branch; None for other values.

    Args:
        one: The list where the condition holds.
        other: The list where it does not.
        code: The condition, which the constructor decides.
        recorder: What is written down.
    """
    first, second = _parts_of(one), _parts_of(other)
    condition = condition_of(code, recorder)
    if first is None or second is None or first == second or condition is None:
        return None
    common = 0
    while first[common : common + 1] == second[common : common + 1]:
        common += 1
    added, others = first[common:], second[common:]
    if not any(sites_in(part) for part in (*first, *second)):
        return None
    part = Sometimes(_any_of((*added, *others)), condition=condition, parts=added, orelse=others)
    before = first[:common]
    return Grown(_any_of((*before, part)), parts=(*before, part))


def condition_of(code: str, recorder: Recorder) -> Piece | None:
    """Return a condition that the constructor decides, for sizes; None where it asks arguments."""
    dims = recorder.templates.dims_in(code)
    if not all(isinstance(atom, Piece) for dim in dims for atom in dim.atoms()):
        return None
    text = recorder.templates.filled(code, lambda dim: dim.code())
    home = f"loop{recorder.loops[-1]}" if recorder.loops and not is_of_fields(text) else ""
    return None if _TEMPLATE.search(text) else Piece(text, home)


def is_of_fields(code: str) -> bool:
    """Whether an expression has nothing in it but fields: it is the same everywhere."""
    return _EVERYWHERE.issuperset(_NAME.findall(code))


def _parts_of(value: Value) -> tuple[Value, ...] | None:
    match value:
        case Grown(loop=None, parts=parts):
            return parts
        case Seq(items=items, is_list=True):
            return items
    return None


def _continued(before: Value, added: Repeated) -> Value:
    """Return a list with what a loop adds to it."""
    match before:
        case Grown(loop=None):
            return with_part(before, added)
        case Seq(items=()):
            return added
        case Seq(items=items) if not isinstance(added, Grown):
            return Headed(_any_of((*items, added)), added.loop, head=items)
        case Seq(items=items):
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
            if one != UNKNOWN:
                found = [each for each in found if each != one and not is_rebuilt(each, one)]
                found.append(one)
    return found[0] if len(found) == 1 else Choice(tuple(found)) if found else UNKNOWN


def is_continued(value: Headed) -> bool:
    """Whether a list is a few submodules, and behind them those that one loop makes."""
    first = [site for item in value.head for site in sites_in(item)]
    rest = sites_in(later_in(value))
    others = {id(site) for site in (*first, *rest)}
    is_whole = all(id(site) in others for site in sites_in(value.element))
    return value.loop is not None and bool(rest) and is_whole and not any(s.loops for s in first)


def later_in(value: Headed) -> Value:
    """Return what the loop makes that goes on with a list."""
    sites = [site for site in sites_in(value.element) if site.loops == (value.loop,)]
    return Choice(tuple(ModuleValue(site) for site in sites))
