"""Which entries count for an object: those of its class, from the given maps or beside its file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from typed_nnx_codegen.migrate.weight_map import (
    ClassMap,
    Target,
    WeightMap,
    map_path,
    read_weight_map,
    weight_map_from_json,
)
from typed_nnx_codegen.migrate.weight_patterns import Bindings, pattern
from typed_nnx_codegen.migrate.weights.models import is_of_library

# A map, what JSON has for one, or the path of one.
Map: TypeAlias = WeightMap | Mapping[str, Any] | str | os.PathLike[str]


@dataclass(frozen=True)
class Found:
    """The entry that counts for a Linen path.

    Attributes:
        entry: The Linen path of the entry, as it stands in the map.
        target: Where it leads; None for nowhere.
        bindings: What the names in braces stand for.
        length: How many parts of the path it covers.
    """

    entry: str
    target: Target | None
    bindings: Bindings
    length: int


@dataclass
class ClassMaps:
    """The maps that count, each with the file it is from.

    Attributes:
        given: The maps that were given; the path is None for one that is no file.
        beside: The maps beside the files of classes, as far as they were looked for.
    """

    given: Sequence[tuple[WeightMap, Path | None]]
    beside: dict[Path, WeightMap | None] = field(default_factory=dict)

    def entries(self, cls: type, name: str | None = None) -> list[ClassMap]:
        """Return the entries for a class, then those for its bases.

        Args:
            cls: The class.
            name: The name in the map, where it is not that of the class.
        """
        found = []
        for base in cls.__mro__:
            if not is_of_library(base):
                known = self._of(base, name if base is cls and name else base.__name__)
                found += [known] if known else []
        return found

    def new_name(self, old: str) -> str:
        """Return the name that a class has after the migration."""
        for known, _ in self.given:
            if old in known.renamed:
                return known.renamed[old]
        return old

    def old_name(self, new: str) -> str:
        """Return the name that a class had before the migration."""
        for known, _ in self.given:
            for old, name in known.renamed.items():
                if name == new:
                    return old
        return new

    def _of(self, cls: type, name: str) -> ClassMap | None:
        file = _file_of(cls)
        own = None if file is None else map_path(file)
        maps = [known for known, path in self.given if path in (None, own)]
        beside = self._read(own) if own else None
        if beside is not None:
            maps.append(beside)
        maps += [known for known, path in self.given if path not in (None, own)]
        return next((each.classes[name] for each in maps if name in each.classes), None)

    def _read(self, path: Path) -> WeightMap | None:
        if path not in self.beside:
            self.beside[path] = read_weight_map(path) if path.is_file() else None
        return self.beside[path]


def class_maps(given: Map | list[Map] | tuple[Map, ...]) -> ClassMaps:
    """Read the maps that were given.

    Raises:
        WeightMapError: One of them is no map.
    """
    several = given if isinstance(given, list | tuple) else [given]
    return ClassMaps([_read(each) for each in several])


def _read(given: Map) -> tuple[WeightMap, Path | None]:
    if isinstance(given, WeightMap):
        return given, None
    if isinstance(given, Mapping):
        return weight_map_from_json(given), None
    path = Path(given).absolute()
    return read_weight_map(path), path


def _file_of(cls: type) -> Path | None:
    # From code, not from `sys.modules`: the class may be of a module that is not in it.
    for member in vars(cls).values():
        code = getattr(getattr(member, "__wrapped__", member), "__code__", None)
        if code is not None and not code.co_filename.startswith("<"):
            return Path(code.co_filename).absolute()
    return None


def matching(entries: Sequence[ClassMap], path: Sequence[str]) -> Found | None:
    """Return the entry for a Linen path: the longest, of equally long ones the most exact.

    An entry for a module in another collection counts as well where there is none for this one:
    a module has one path in all of them.
    """
    for skipped in (0, 1):
        for each in entries:
            found = _best(each, path, skipped)
            if found:
                return found
    return None


def _best(entries: ClassMap, path: Sequence[str], skipped: int) -> Found | None:
    best: Found | None = None
    weight: tuple[Any, ...] = ()
    for text, target in entries.variables.items():
        entry = pattern(text, "/")
        if skipped and (target is None or not skipped < len(entry.parts) < len(path)):
            continue
        bindings = entry.matched(path, skipped)
        if bindings is not None and entry.weight > weight:
            best, weight = Found(text, target, bindings, len(entry.parts)), entry.weight
    return best
