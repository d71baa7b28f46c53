"""Puts the lines of a constructor in order, without those that nothing reads."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.linen.domain.frames import Block, Compound, Line

_NAME: Final = re.compile(r"[A-Za-z_]\w*")


def behind_objects(
    block: Block,
    asked: Callable[[Line], set[cst.CSTNode]],
    names: Callable[[Line], Iterable[str]],
    refuse: Callable[[cst.CSTNode], None],
) -> Block:
    """Return a block where submodules are built behind those that they ask for a size.

    Linen runs the outer constructor of `Dense(1)(Torso()(x))` first.

    Args:
        block: The lines.
        asked: Gives the constructors of the submodules that a line asks for a size.
        names: Gives the names in a line, and in what stands for something else there.
        refuse: Is given the call of a constructor that cannot come behind what it asks.
    """
    ordered = list(block)
    for one in ordered:
        if isinstance(one, Compound):
            one.body = behind_objects(one.body, asked, names, refuse)
            one.orelse = behind_objects(one.orelse, asked, names, refuse)
    readers = [one for one in ordered if isinstance(one, Line) and one.site is not None]
    for line in reversed(readers):
        start = ordered.index(line)
        needed = asked(line)
        places = [
            place for place in range(start + 1, len(ordered)) if _builds(ordered[place]) & needed
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


_WHOLE_NAME: Final = re.compile(r"\b[A-Za-z_]\w*\b")
_INDENT: Final = "    "


def text_of(
    block: Block, spelled: Callable[[Line], list[str]], names: Callable[[str], Iterable[str]]
) -> list[str]:
    """Return the lines of a block.

    Args:
        block: The block.
        spelled: Gives the text of a line.
        names: Gives the names in what stands for something else in a piece of code.
    """
    texts: dict[int, list[str]] = {}
    _spell(block, spelled, texts)
    read: set[str] = set()
    while True:
        kept = _read(block, texts, read, names)
        if kept == read:
            return _written(block, texts, read, 0)
        read = kept


def _spell(block: Block, spelled: Callable[[Line], list[str]], texts: dict[int, list[str]]) -> None:
    for one in block:
        if isinstance(one, Line):
            texts[id(one)] = spelled(one)
        else:
            _spell(one.body, spelled, texts)
            _spell(one.orelse, spelled, texts)


def _is_kept(line: Line, read: set[str]) -> bool:
    return not line.local or any(name.strip() in read for name in line.local.split(","))


def _read(
    block: Block,
    texts: dict[int, list[str]],
    read: set[str],
    names: Callable[[str], Iterable[str]],
) -> set[str]:
    """Return the names that kept lines read, when those in `read` are needed."""
    found = set(read)
    for one in block:
        if isinstance(one, Line):
            if _is_kept(one, read):
                code = "\n".join(texts[id(one)])
                if one.local:
                    code = code.partition("=")[2]
                found.update(_WHOLE_NAME.findall(code), names(code))
        else:
            inner = _read(one.body, texts, read, names) | _read(one.orelse, texts, read, names)
            if _written([one], texts, read, 0):
                found.update(_WHOLE_NAME.findall(one.header), names(one.header))
            found |= inner
    return found


def _written(block: Block, texts: dict[int, list[str]], read: set[str], depth: int) -> list[str]:
    lines: list[str] = []
    for one in block:
        if isinstance(one, Line):
            if _is_kept(one, read):
                lines += [_INDENT * depth + text if text else "" for text in texts[id(one)]]
            continue
        body = _written(one.body, texts, read, depth + 1)
        orelse = _written(one.orelse, texts, read, depth + 1)
        lines += _compound(one, body, orelse, depth)
    return lines


def _compound(one: Compound, body: list[str], orelse: list[str], depth: int) -> list[str]:
    space = _INDENT * depth
    # A site that is not written after all has an empty line.
    body, orelse = (lines if any(lines) else [] for lines in (body, orelse))
    if not body and not orelse:
        return []
    if not body and one.header.startswith("if "):
        condition = one.header[3:-1]
        return [f"{space}if not ({condition}):", *orelse]
    if not body:
        body = [f"{space}{_INDENT}pass"]
    lines = [space + one.header, *body]
    if not orelse:
        return lines
    first = orelse[0]
    inner = space + _INDENT
    is_chain = first.startswith(f"{inner}if ") and all(
        line.startswith((inner + _INDENT, f"{inner}elif ", f"{inner}else:"))
        for line in orelse[1:]
        if line
    )
    if is_chain:
        chained = [line[len(_INDENT) :] for line in orelse]
        chained[0] = f"{space}el{chained[0].strip()}"
        return [*lines, *chained]
    return [*lines, f"{space}else:", *orelse]
