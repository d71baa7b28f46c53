"""Parts of what submodules are called with, by their expressions over the parameters of the method."""

from __future__ import annotations

import re

from typed_nnx_codegen.migrate.linen.plan import Lifted, Site
from typed_nnx_codegen.migrate.linen.running.values import (
    UNKNOWN,
    Array,
    Seq,
    ShapeOf,
    Size,
    Table,
    Value,
)
from typed_nnx_codegen.migrate.linen.transforms.axes import part_of


def part_at(values: dict[str, Value], path: str) -> Value:
    """Return the value at a path over the arguments of a call: ``batch['image']``."""
    if not path:
        return UNKNOWN
    first, *rest = re.findall(r"\w+|\[[^\]]*\]", path)
    value = values.get(first, UNKNOWN)
    for key in rest:
        match value:
            case Seq(items=items) if key.startswith("["):
                position = key[1:-1]
                is_number = position.removeprefix("-").isdigit()
                is_there = is_number and -len(items) <= int(position) < len(items)
                value = items[int(position)] if is_there else UNKNOWN
            case Table(items=table):
                name = key[1:-1].strip("'\"") if key.startswith("[") else key
                value = table.get(name, UNKNOWN)
            case ShapeOf():
                value = _item_of_shape(value, key)
            case Array(origin=origin) if origin:
                value = part_of(value, f"{origin}{key if key.startswith('[') else '.' + key}")
            case _:
                return UNKNOWN
    return value


def _item_of_shape(value: ShapeOf, key: str) -> Value:
    """Return a size in a shape that a method is called with: ``[-1]``."""
    place = key[1:-1]
    dim = value.shape.axis(int(place)) if place.removeprefix("-").isdigit() else None
    return UNKNOWN if dim is None else Size(dim)


def is_absent(site: Site, lifted: Lifted) -> bool:
    """Whether no call of a submodule gives an argument that may be None."""
    return not any(
        isinstance(part_at(values, lifted.argument), Array)
        for _, method, values in site.calls
        if method == lifted.method
    )
