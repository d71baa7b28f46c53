"""What a package that griffe has read holds, without the names that are imported."""

from __future__ import annotations

from collections.abc import Iterator

import griffe


def objects_in(parent: griffe.Module | griffe.Class) -> Iterator[griffe.Object]:
    """Yield the modules, classes, functions and attributes below a module or class."""
    for member in list(parent.members.values()):
        if isinstance(member, griffe.Object):
            yield member
            if isinstance(member, griffe.Module | griffe.Class):
                yield from objects_in(member)


def functions_in(parent: griffe.Module | griffe.Class) -> Iterator[griffe.Function]:
    """Yield the functions and methods below a module or class."""
    for each in objects_in(parent):
        if isinstance(each, griffe.Function):
            yield each
