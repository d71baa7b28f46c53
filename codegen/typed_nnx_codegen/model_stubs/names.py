"""Names in the overlay: of State classes, and of what it imports."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TypeVar

from typed_nnx_codegen.model_stubs.models import ClassInfo, Kind
from typed_nnx_codegen.model_stubs.parts import EVERYTHING, Part
from typed_nnx_codegen.model_stubs.preamble import OWN_NUMBERED

K = TypeVar("K", bound=Hashable)

# From the nearest module outwards; a name that still clashes then gets an underscore.
_LEVELS = 12


def split_name(name: str) -> tuple[str, str]:
    """Return module and qualified name of ``module:qualified.name``."""
    module, _, qualified = name.partition(":")
    return module, qualified


def _prefix(module: str, level: int) -> str:
    parts = module.split(".")[-level:] if level else []
    return "".join(f"{part}_" for part in parts)


def distinct(
    keys: Iterable[K],
    names_of: Callable[[K, int], list[str]],
    is_reserved: Callable[[str], bool] = lambda name: False,
    rank: Callable[[K], int] = lambda key: 0,
) -> dict[K, list[str]]:
    """Return the names of each key at the first level at which none belongs to another key.

    Names depend on which others they clash with, never on their number or order.

    Args:
        keys: What is named.
        names_of: The names of a key at a level; they get longer with the level.
        is_reserved: Whether a name is not to be had; it gets an underscore.
        rank: Of two keys that clash, the one with the lower rank keeps its name.
    """
    levels = dict.fromkeys(keys, 0)
    for _ in range(_LEVELS):
        owners: dict[str, set[K]] = defaultdict(set)
        for key, level in levels.items():
            for name in names_of(key, level):
                owners[name].add(key)
        longer: set[K] = set()
        for clashing in owners.values():
            if len(clashing) > 1:
                ranks = {key: rank(key) for key in clashing}
                highest = max(ranks.values())
                equal = len(set(ranks.values())) == 1
                longer |= {key for key in clashing if equal or ranks[key] == highest}
        if not longer:
            break
        for key in longer:
            levels[key] += 1
    taken: set[str] = set()

    def free(name: str) -> str:
        while name in taken or is_reserved(name):
            name += "_"
        taken.add(name)
        return name

    return {key: [*map(free, names_of(key, level))] for key, level in levels.items()}


class StateNames:
    """The names of State classes: ``MLPState``, ``MLPParamState``, ``MLPRestOfParamState``.

    Where two classes would share a name, the module tells them apart: ``encoder_BlockState``.

    Args:
        reserved: Names that the overlay itself uses.
    """

    def __init__(
        self,
        classes: Mapping[str, ClassInfo],
        parts: Mapping[str, Iterable[Part]],
        reserved: frozenset[str],
    ) -> None:
        variables = sorted(name for name, info in classes.items() if info.kind is Kind.VARIABLE)
        short = distinct(variables, lambda name, level: [_short(name, level)])
        self._variables = {name: spelled for name, (spelled,) in short.items()}
        self._labelled = [made for name in variables for made in (Part(name), Part("", (name,)))]
        self._parts = {name: sorted(each) for name, each in parts.items()}

        def spellings(name: str, level: int) -> list[str]:
            start = _short(name, level)
            return [f"{start}{self.part(part)}State" for part in self._parts[name]]

        # The classes of a library give way to those of the user.
        names = distinct(
            sorted(parts),
            spellings,
            reserved.__contains__,
            lambda name: 0 if classes[name].path else 1,
        )
        self._names = {
            (name, part): spelled
            for name, found in names.items()
            for part, spelled in zip(self._parts[name], found, strict=True)
        }

    def part(self, part: Part) -> str:
        """Return what a part is called: ``RestOfParam``, ``RestOfCacheAndParam``; nothing for everything."""
        label = "And".join(self._variables[name] for name in part.filters)
        return f"RestOf{label}" if part.left else label

    def list_of(self, name: str) -> str:
        """Return the name of the class that lists the State classes of a model."""
        return f"_{self._names[name, EVERYTHING]}s"

    def __getitem__(self, key: tuple[str, Part]) -> str:
        return self._names[key]

    def all(self) -> frozenset[str]:
        """Return all names of classes in the overlay that depend on the models."""
        parts = {f"_Has{self.part(part)}" for part in self._labelled}
        lists = {self.list_of(name) for name in self._parts}
        return frozenset(self._names.values()) | parts | lists


def _short(name: str, level: int) -> str:
    module, qualified = split_name(name)
    return _prefix(module, level) + qualified.replace(".", "")


class Imports:
    """The names by which the overlay knows the classes that it imports.

    They begin with an underscore: an attribute with the name of a class would hide the class from
    the annotations that follow it.

    Args:
        names: The full names of all classes that may be imported.
        reserved: Names that the overlay itself uses.
    """

    def __init__(self, names: Iterable[str], reserved: frozenset[str]) -> None:
        found = distinct(
            sorted({_outermost(name) for name in names}),
            lambda name, level: [_alias(name, level)],
            lambda alias: alias in reserved or bool(OWN_NUMBERED.fullmatch(alias)),
        )
        self._aliases = {name: alias for name, (alias,) in found.items()}
        self._used: set[str] = set()

    def spell(self, name: str) -> str:
        """Return what a class is called in the overlay and import it."""
        outer = _outermost(name)
        self._used.add(outer)
        return self._aliases[outer] + name[len(outer) :]

    def lines(self) -> list[str]:
        """Return the import lines of what was spelled, sorted."""
        modules: dict[str, list[str]] = defaultdict(list)
        for name in sorted(self._used):
            module, qualified = split_name(name)
            modules[module].append(f"{qualified} as {self._aliases[name]}")
        return [f"from {module} import {', '.join(names)}" for module, names in modules.items()]

    def names(self) -> frozenset[str]:
        """Return all names that the import lines may bind."""
        return frozenset(self._aliases.values())


def _outermost(name: str) -> str:
    module, qualified = split_name(name)
    return f"{module}:{qualified.partition('.')[0]}"


def _alias(name: str, level: int) -> str:
    module, qualified = split_name(name)
    return "_" + (_prefix(module, level) + qualified).lstrip("_")
