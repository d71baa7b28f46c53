"""Puts the lines of a constructor in order: what `setup` needs comes before it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

from typed_nnx_codegen.migrate.linen.running.frames import Block, Compound, Line

_NAME: Final = re.compile(r"[A-Za-z_]\w*")
_TARGET: Final = re.compile(r"self\.(\w+) = ")


def in_order(
    block: Block,
    count: int,
    spelled: Callable[[Line], list[str]],
    names: Callable[[str], Iterable[str]],
) -> Block:
    """Return a block where locals that only methods told are bound before `setup` reads them.

    Args:
        block: The lines; those of `setup` first.
        count: How many of them are those of `setup`.
        spelled: Gives the text of a line.
        names: Gives the names in what stands for something else in a piece of code.
    """
    ordered = _behind_loops(block[:count], spelled, names)
    rest: Block = []
    read = [_names_of(one, spelled, names) for one in ordered]
    for one in reversed(block[count:]):
        bound = _bound_in(one)
        first = next((k for k, found in enumerate(read) if bound and bound & found), None)
        if first is None:
            rest.insert(0, one)
        else:
            ordered.insert(first, one)
            read.insert(first, _names_of(one, spelled, names))
    return [*ordered, *rest]


def _behind_loops(
    setup: Block,
    spelled: Callable[[Line], list[str]],
    names: Callable[[str], Iterable[str]],
) -> Block:
    """Return lines where what reads a size that runs through a loop comes behind the loop."""
    ordered = list(setup)
    for one in reversed(setup):
        start = ordered.index(one)
        if not isinstance(one, Line) or one.local:
            continue
        needed = _names_of(one, spelled, names)
        needed -= {name for before in ordered[:start] for name in _locals_in(before)}
        loops = [
            place
            for place in range(start + 1, len(ordered))
            if isinstance(ordered[place], Compound) and needed & _locals_in(ordered[place])
        ]
        if not loops:
            continue
        between = ordered[start + 1 : loops[-1] + 1]
        made = set(_TARGET.findall("\n".join(spelled(one))))
        if not any(made & _names_of(other, spelled, names) for other in between):
            ordered[start : loops[-1] + 1] = [*between, one]
    return ordered


def _locals_in(one: Line | Compound) -> set[str]:
    """Return the locals that lines bind, whatever else they do."""
    if isinstance(one, Line):
        return {name.strip() for name in one.local.split(",") if name.strip()}
    return {name for inner in (*one.body, *one.orelse) for name in _locals_in(inner)}


def _bound_in(one: Line | Compound) -> set[str]:
    """Return the locals that lines bind; empty where they do more than that."""
    if isinstance(one, Line):
        return _locals_in(one)
    found: set[str] = set()
    for inner in (*one.body, *one.orelse):
        bound = _bound_in(inner)
        if not bound and not _is_empty(inner):
            return set()
        found |= bound
    return found


def _is_empty(one: Line | Compound) -> bool:
    """Whether a branch has nothing in it: a submodule takes it, whose constructor has the lines."""
    return isinstance(one, Compound) and all(map(_is_empty, (*one.body, *one.orelse)))


def _names_of(
    one: Line | Compound,
    spelled: Callable[[Line], list[str]],
    names: Callable[[str], Iterable[str]],
) -> set[str]:
    """Return the names in lines."""
    if isinstance(one, Compound):
        found = {*_NAME.findall(one.header), *names(one.header)}
        for inner in (*one.body, *one.orelse):
            found |= _names_of(inner, spelled, names)
        return found
    code = "\n".join(spelled(one))
    return {*_NAME.findall(code), *names(code)}
