"""Puts the lines of a constructor in order: what asks an object for its size comes behind it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.linen.running.frames import Block, Compound, Line
from typed_nnx_codegen.migrate.linen.writing.templates import Templates

_NAME: Final = re.compile(r"[A-Za-z_]\w*")


def behind_objects(
    block: Block,
    templates: Templates,
    names: Callable[[Line], Iterable[str]],
    refuse: Callable[[cst.CSTNode], None],
) -> Block:
    """Return a block where submodules are built behind those that they ask for a size.

    Linen runs the outer constructor of `Dense(1)(Torso()(x))` first.

    Args:
        block: The lines.
        templates: What stands for submodules in code.
        names: Gives the names in a line, and in what stands for something else there.
        refuse: Is given the call of a constructor that cannot come behind what it asks.
    """
    ordered = list(block)
    for one in ordered:
        if isinstance(one, Compound):
            one.body = behind_objects(one.body, templates, names, refuse)
            one.orelse = behind_objects(one.orelse, templates, names, refuse)
    readers = [one for one in ordered if isinstance(one, Line) and one.site is not None]
    for line in reversed(readers):
        start = ordered.index(line)
        asked = set(templates.objects_in(names(line)))
        places = [
            place for place in range(start + 1, len(ordered)) if _builds(ordered[place]) & asked
        ]
        if not places:
            continue
        between = ordered[start + 1 : places[-1] + 1]
        if _is_free(line, between, names):
            ordered[start : places[-1] + 1] = [*between, line]
        elif line.site is not None:
            refuse(line.site.node)
    return ordered


def _builds(one: Line | Compound) -> set[cst.CSTNode]:
    """Return the calls of the constructors in lines."""
    if isinstance(one, Line):
        return set() if one.site is None else {one.site.node}
    return {node for inner in (*one.body, *one.orelse) for node in _builds(inner)}


def _is_free(line: Line, between: Block, names: Callable[[Line], Iterable[str]]) -> bool:
    """Whether a line may come behind others: they neither read nor bind what it needs."""
    site = line.site
    if site is None or site.is_listed:
        return False
    read = set(names(line))
    for one in _lines(between):
        bound = {name.strip() for name in one.local.split(",") if name.strip()}
        if bound & read or site.attribute in set(names(one)):
            return False
    return True


def _lines(block: Block) -> Iterable[Line]:
    for one in block:
        if isinstance(one, Line):
            yield one
        else:
            yield from _lines([*one.body, *one.orelse])


def names_in(text: str) -> list[str]:
    """Return the names in a piece of code."""
    return _NAME.findall(text)
