"""The classes of NNX: their bases, the attributes of their objects and what methods give.

`nnx_types.txt` has them, and says how types are written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

EVERY_OTHER: Final = "*"
"""The key of `NnxClass.attributes` for the attributes that are named by nobody (``rngs.params``)."""

_TABLE: Final = Path(__file__).with_name("nnx_types.txt")
_HEADING: Final = re.compile(r"(?P<name>[+.\w]+)(?:\((?P<base>\w+)\))?(?P<groups>(?: \+\w+)*)")


@dataclass(frozen=True)
class NnxClass:
    """A class of NNX, as far as an analysis of programs needs it.

    Attributes:
        bases: The names of its bases.
        attributes: The types of the attributes of its objects, without those of the bases.
        methods: What its methods give, without those of the bases; ``__getitem__`` stands for
            a subscript and ``__iter__`` for the list that an iteration goes through.
    """

    bases: tuple[str, ...] = ()
    attributes: dict[str, str] = field(default_factory=dict)
    methods: dict[str, str] = field(default_factory=dict)


def _read() -> dict[str, NnxClass]:
    """Return the classes of the table, its groups, and its functions as the attributes of ``functions``."""
    found: dict[str, NnxClass] = {}
    current = NnxClass()
    for line in _lines():
        heading = _HEADING.fullmatch(line)
        if heading is not None:
            current = NnxClass((heading["base"],) if heading["base"] else ())
            for group in heading["groups"].split():
                current.attributes.update(found[group].attributes)
                current.methods.update(found[group].methods)
            found[heading["name"]] = current
            continue
        kind, _, names = line.strip().rpartition(": ")
        for name in names.split():
            members = current.methods if name.endswith("()") else current.attributes
            members[name.removesuffix("()")] = kind
    return found


def _lines() -> Iterator[str]:
    """Yield the headings and rows of the table."""
    text = _TABLE.read_text(encoding="utf-8").replace("\n        ", " ")
    return (line for line in text.splitlines() if line and not line.lstrip().startswith("#"))


_ALL: Final = _read()
FUNCTIONS: Final[Mapping[str, str]] = _ALL.pop("functions").attributes
"""The functions by public name, dotted where they are in no package itself (``initializers.ones``)."""
CLASSES: Final[Mapping[str, NnxClass]] = {
    name: cls for name, cls in _ALL.items() if not name.startswith("+")
}
"""The classes by their last name (``Average``), and ``bridge.Module``."""


def mro(name: str) -> tuple[str, ...]:
    """Return a class of the table and the classes above it, nearest first; itself if unknown."""
    nearest: tuple[str, ...] = (name,)
    found: dict[str, None] = {}
    while nearest:
        found.update(dict.fromkeys(nearest))
        known = [CLASSES[each] for each in nearest if each in CLASSES]
        nearest = tuple(base for each in known for base in each.bases)
    return tuple(found)


def known_class(name: str) -> NnxClass | None:
    """Return a class of the tables by its key; None if there is none."""
    return CLASSES.get(name)


def is_subclass(name: str, base: str) -> bool:
    """Whether a class of the table is another one or is below it."""
    return base in mro(name)


def attribute_type(name: str, attribute: str) -> str | None:
    """Return the type of an attribute of the objects of a class; None where it has none."""
    classes = [CLASSES[above] for above in mro(name) if above in CLASSES]
    for key in (attribute, EVERY_OTHER):
        for each in classes:
            if key in each.attributes:
                return each.attributes[key]
            if key in each.methods:
                return None
    return None


def method_result(name: str, method: str) -> str | None:
    """Return what a method of the objects of a class gives; None where it has no such method."""
    for above in mro(name):
        if above in CLASSES and method in CLASSES[above].methods:
            return CLASSES[above].methods[method]
    return None


def class_of(public: str) -> str | None:
    """Return the key of `CLASSES` for a public name such as ``nn.linear.Linear``; None if none."""
    first, _, rest = public.partition(".")
    last = public.rpartition(".")[2]
    if first == "bridge" and rest and last == "Module":
        return "bridge.Module"
    return last if last in CLASSES else None


def function_result(public: str) -> str | None:
    """Return what a function gives, by a public name such as ``nn.activations.relu``; or None."""
    dotted = public.removeprefix("nn.")
    return FUNCTIONS.get(dotted) or FUNCTIONS.get(dotted.rpartition(".")[2])
