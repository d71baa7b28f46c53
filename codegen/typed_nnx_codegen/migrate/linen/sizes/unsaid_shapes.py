"""Shapes that submodules are given: whether what is not known of them is read at all."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from typed_nnx_codegen.migrate.linen.running.values import Shape


def is_enough(shape: Shape, name: str, lines: Iterable[str]) -> bool:
    """Whether a constructor finds in a shape all that it surely reads of it.

    Dimensions that are not known are written as None. That is no problem where only the others
    are read, as with the size of a batch.

    Args:
        shape: What is known of the shape.
        name: The parameter of the constructor that has the shape.
        lines: The lines of the constructor.
    """
    lead = shape.lead
    is_open = lead is not None and not lead.argument
    front = lead.front if lead is not None else ()
    if is_open and all(dim is None for dim in (*front, *shape.dims)):
        return False
    return all(
        all(_is_known(shape, read) for read in _reads(line, name))
        and _is_multiplied(shape, line, name)
        for line in lines
    )


def as_read(shape: Shape, name: str, lines: Iterable[str]) -> Shape:
    """Return a shape without the dimensions that a constructor does not read.

    Args:
        shape: The shape.
        name: The parameter of the constructor that has it.
        lines: The lines of the constructor.
    """
    text = "\n".join(lines)
    others = re.sub(rf"(?<![\w.]){name}\[-?\d+\]|\blen\({name}(\[[-\d:]*\])?\)", "", text)
    if shape.lead is not None or re.search(rf"(?<![\w.]){name}\b", others):
        return shape
    count = len(shape.dims)
    read = {place % count for place in _reads(text, name) if place is not None}
    return Shape(tuple(dim if k in read else None for k, dim in enumerate(shape.dims)))


def _reads(line: str, name: str) -> Iterator[int | None]:
    """Yield the positions of dimensions that a line reads; None where it asks for their number."""
    for match in re.finditer(rf"(?<![\w.]){name}\[(-?\d+)\]", line):
        yield int(match[1])
    if re.search(rf"(?<![\w.])len\({name}\)", line):
        yield None


def _is_multiplied(shape: Shape, line: str, name: str) -> bool:
    """Whether all sizes are known whose product a line has, or that it hands on."""
    lead = shape.lead
    slices = rf"{name}(?:\[(-?\d*):(-?\d*)\])?"
    for start, stop in re.findall(rf"(?:\bprod\(|[(, ]\*){slices}[,)]", line):
        part = shape.dims if lead is not None else shape.dims[_end(start) : _end(stop)]
        if None in part or (lead is not None and (not lead.argument or None in lead.front)):
            return False
    return True


def _end(text: str) -> int | None:
    return int(text) if text else None


def _is_known(shape: Shape, read: int | None) -> bool:
    lead = shape.lead
    is_open = lead is not None and not lead.argument
    if read is None:
        return not is_open
    if lead is None:
        return -len(shape.dims) <= read < len(shape.dims) and shape.dims[read] is not None
    if read < 0:
        return shape.dims[read] is not None if -read <= len(shape.dims) else not is_open
    return lead.front[read] is not None if read < len(lead.front) else not is_open
