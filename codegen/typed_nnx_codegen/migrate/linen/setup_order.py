"""Puts the lines of a constructor in order: what `setup` needs comes before it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

from typed_nnx_codegen.migrate.linen.frames import Block, Compound, Line

_NAME: Final = re.compile(r"[A-Za-z_]\w*")


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
    ordered = list(block[:count])
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


def _bound_in(one: Line | Compound) -> set[str]:
    """Return the locals that lines bind; empty where they do more than that."""
    if isinstance(one, Line):
        return {name.strip() for name in one.local.split(",") if name.strip()}
    found: set[str] = set()
    for inner in (*one.body, *one.orelse):
        bound = _bound_in(inner)
        if not bound:
            return set()
        found |= bound
    return found


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
