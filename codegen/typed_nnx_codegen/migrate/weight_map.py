"""The map beside a migrated file: which Linen variable goes where, and how widths are computed."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from typed_nnx_codegen.migrate.weight_patterns import BadPattern, Pattern, pattern

VERSION: Final = 1
SUFFIX: Final = ".migration.json"

_TARGET_KEYS: Final = frozenset({"to", "unstack", "transpose", "reshape"})


class WeightMapError(ValueError):
    """A map that cannot be read; the message says where, what was found and what to write."""


@dataclass(frozen=True)
class Lifted:
    """A constructor parameter that the codemod added.

    Attributes:
        name: Its name.
        expr: A Python expression over the arguments of the method that is called, or empty.
        arg: The argument whose dimension it is, where `expr` is empty.
        axis: Which dimension of `arg`.
    """

    name: str
    expr: str = ""
    arg: str = ""
    axis: int = -1

    @property
    def expression(self) -> str:
        """The Python expression, also where an argument and an axis are given."""
        return self.expr or f"{self.arg}.shape[{self.axis}]"

    def as_json(self) -> dict[str, Any]:
        """Return what a file has for it."""
        if self.expr:
            return {"name": self.name, "expr": self.expr}
        return {"name": self.name, "arg": self.arg, "axis": self.axis}


@dataclass(frozen=True)
class Target:
    """Where a Linen variable, or a tree of them, goes.

    Attributes:
        to: The attribute path of the new model, with the names in braces of the Linen path.
        unstack: The axis that is spread over the one name of `to` which the Linen path has not.
        transpose: The order of the axes, where it differs.
        reshape: The new shape, where it differs; after `transpose`.
    """

    to: str
    unstack: int | None = None
    transpose: tuple[int, ...] | None = None
    reshape: tuple[int, ...] | None = None

    @property
    def pattern(self) -> Pattern:
        """The attribute path, read."""
        return pattern(self.to, ".")

    @property
    def changes_layout(self) -> bool:
        """Whether the array is transposed or reshaped."""
        return self.transpose is not None or self.reshape is not None

    def as_json(self) -> str | dict[str, Any]:
        """Return what a file has for it: the path alone where there is nothing else to say."""
        said: dict[str, Any] = {"to": self.to}
        if self.unstack is not None:
            said["unstack"] = self.unstack
        if self.transpose is not None:
            said["transpose"] = list(self.transpose)
        if self.reshape is not None:
            said["reshape"] = list(self.reshape)
        return self.to if len(said) == 1 else said


@dataclass(frozen=True)
class ClassMap:
    """What there is to say of one migrated class.

    Attributes:
        lifted: The constructor parameters that were added.
        variables: The target of each Linen path; None where it has no place any more.
    """

    lifted: tuple[Lifted, ...] = ()
    variables: Mapping[str, Target | None] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return what a file has for it."""
        said: dict[str, Any] = {}
        if self.lifted:
            said["lifted"] = [each.as_json() for each in self.lifted]
        if self.variables:
            said["variables"] = {
                path: target.as_json() if target else None
                for path, target in self.variables.items()
            }
        return said


@dataclass(frozen=True)
class WeightMap:
    """The map beside a migrated file.

    Attributes:
        classes: What there is to say of each class, by its new name.
        renamed: The new names of classes, by their old ones.
    """

    classes: Mapping[str, ClassMap] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)

    def new_name(self, old: str) -> str:
        """Return the name that a class has after the migration."""
        return self.renamed.get(old, old)

    def merged(self, other: WeightMap) -> WeightMap:
        """Return a map that also has what another says; this one counts where both speak."""
        return WeightMap({**other.classes, **self.classes}, {**other.renamed, **self.renamed})

    def as_json(self) -> dict[str, Any]:
        """Return what a file has for it."""
        said: dict[str, Any] = {"version": VERSION}
        if self.renamed:
            said["renamed"] = dict(self.renamed)
        if self.classes:
            said["classes"] = {name: each.as_json() for name, each in self.classes.items()}
        return said

    def text(self) -> str:
        """Return the text of a file."""
        return json.dumps(self.as_json(), indent=2, ensure_ascii=False) + "\n"


def map_path(path: Path) -> Path:
    """Return the place of the map beside a migrated file: `models.migration.json`."""
    return path.with_suffix(SUFFIX)


def read_weight_map(path: Path) -> WeightMap:
    """Read the map in a file.

    Raises:
        WeightMapError: There is no such file, it is no JSON, or it is no map.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise WeightMapError(
            f"{path}: the map cannot be read: {error}\n"
            "  Fix: the path of the .migration.json that `typed-nnx migrate --linen` wrote"
        ) from error
    return weight_map_from_text(text, str(path))


def weight_map_from_text(text: str, where: str = "the map") -> WeightMap:
    """Read a map in the text of a file.

    Raises:
        WeightMapError: The text is no JSON, or no map.
    """
    try:
        said = json.loads(text, object_pairs_hook=lambda pairs: _object(pairs, where))
    except json.JSONDecodeError as error:
        raise WeightMapError(
            f"{where}:{error.lineno}: this is not JSON: {error.msg}\n"
            "  Fix: correct the line, or let `typed-nnx migrate --linen` write the file anew"
        ) from error
    return weight_map_from_json(said, where)


def _object(pairs: list[tuple[str, Any]], where: str) -> dict[str, Any]:
    said = dict(pairs)
    if len(said) < len(pairs):
        twice = sorted({name for name, _ in pairs if [key for key, _ in pairs].count(name) > 1})
        raise _problem(where, f"{twice} stand twice in one object", "keep one of the two")
    return said


def weight_map_from_json(said: object, where: str = "the map") -> WeightMap:
    """Read a map from the objects that JSON gives.

    Args:
        said: The objects.
        where: What errors call the map.

    Raises:
        WeightMapError: It is no map, or a later version of one.
    """
    top = _mapping(said, where, {"version", "renamed", "classes"})
    if top.get("version", VERSION) != VERSION:
        raise _problem(
            f"{where}: version", f"it is {top['version']!r}", f"{VERSION}, the one that is known"
        )
    renamed = _mapping(top.get("renamed", {}), f"{where}: renamed")
    for old, new in renamed.items():
        _string(new, f"{where}: renamed: {old}", "the new name of the class")
    classes = _mapping(top.get("classes", {}), f"{where}: classes")
    return WeightMap(
        {name: _class(each, f"{where}: {name}") for name, each in classes.items()}, renamed
    )


def _class(said: object, where: str) -> ClassMap:
    given = _mapping(said, where, {"lifted", "variables"})
    lifted = given.get("lifted", [])
    if not isinstance(lifted, list):
        raise _problem(f"{where}: lifted", f"it is {_shown(lifted)}", "a list of objects")
    variables = _mapping(given.get("variables", {}), f"{where}: variables")
    return ClassMap(
        tuple(_lifted(each, f"{where}: lifted") for each in lifted),
        {path: _variable(path, each, f"{where}: {path}") for path, each in variables.items()},
    )


def _lifted(said: object, where: str) -> Lifted:
    given = _mapping(said, where, {"name", "expr", "arg", "axis"})
    name = _string(given.get("name"), f"{where}: name", "the name of the parameter")
    here = f"{where}: {name}"
    if ("expr" in given) == ("arg" in given):
        raise _problem(here, f"it has {sorted(given)}", 'either "expr", or "arg" with "axis"')
    if "expr" not in given:
        arg = _string(given["arg"], f"{here}: arg", "the name of an argument")
        return Lifted(name, arg=arg, axis=_integer(given.get("axis", -1), f"{here}: axis"))
    expr = _string(given["expr"], f"{here}: expr", "a Python expression")
    if "axis" in given:
        raise _problem(here, '"axis" says nothing beside "expr"', 'leave "axis" out')
    try:
        ast.parse(expr, mode="eval")
    except (SyntaxError, ValueError) as error:
        raise _problem(f"{here}: expr", f"{expr!r} is not Python", "an expression") from error
    return Lifted(name, expr=expr)


def _variable(path: str, said: object, where: str) -> Target | None:
    names = _pattern(path, "/", where).names
    if said is None:
        return None
    target = _target(said, where)
    free = _pattern(target.to, ".", f"{where}: to").names - names
    if target.unstack is None and free:
        raise _problem(
            where,
            f"{_braces(free)} of {target.to!r} does not stand in the Linen path",
            'a name of the Linen path, or "unstack" with the axis that it counts',
        )
    if target.unstack is not None and len(free) != 1:
        raise _problem(
            where,
            f"{target.to!r} has {_braces(free) if free else 'no name'} to count the axis",
            "one name in braces that the Linen path has not",
        )
    return target


def _target(said: object, where: str) -> Target:
    if isinstance(said, str):
        return Target(said)
    if not isinstance(said, Mapping):
        raise _problem(where, f"it is {_shown(said)}", 'a path, {"to": path, ...} or null')
    given = _mapping(said, where, _TARGET_KEYS)
    to = _string(given.get("to"), f"{where}: to", "an attribute path of the new model")
    unstack = given.get("unstack")
    transpose = _integers(given.get("transpose"), f"{where}: transpose")
    if transpose is not None and sorted(transpose) != list(range(len(transpose))):
        raise _problem(f"{where}: transpose", f"it is {list(transpose)}", "each axis once, from 0")
    return Target(
        to,
        None if unstack is None else _integer(unstack, f"{where}: unstack"),
        transpose,
        _integers(given.get("reshape"), f"{where}: reshape"),
    )


# -- reading what JSON has ----------------------------------------------------------------------


def _mapping(said: object, where: str, known: set[str] | frozenset[str] = frozenset()) -> Any:
    if not isinstance(said, Mapping) or not all(isinstance(key, str) for key in said):
        raise _problem(where, f"it is {_shown(said)}", "an object with names as keys")
    unknown = sorted(said.keys() - known) if known else []
    if unknown:
        raise _problem(where, f"{unknown} are not known", f"only {sorted(known)}")
    return dict(said)


def _string(said: object, where: str, wanted: str) -> str:
    if not isinstance(said, str) or not said:
        raise _problem(where, f"it is {_shown(said)}", wanted)
    return said


def _integer(said: object, where: str) -> int:
    if not isinstance(said, int) or isinstance(said, bool):
        raise _problem(where, f"it is {_shown(said)}", "a whole number")
    return said


def _integers(said: object, where: str) -> tuple[int, ...] | None:
    if said is None:
        return None
    if not isinstance(said, list | tuple):
        raise _problem(where, f"it is {_shown(said)}", "a list of whole numbers")
    return tuple(_integer(each, where) for each in said)


def _pattern(text: str, separator: str, where: str) -> Pattern:
    try:
        return pattern(text, separator)
    except BadPattern as error:
        raise _problem(where, f"{error}", "a path like params/Dense_{i}/kernel") from error


def _braces(names: frozenset[str]) -> str:
    return ", ".join(f"{{{name}}}" for name in sorted(names))


def _shown(said: object) -> str:
    text = "missing" if said is None else f"{said!r}"
    return text if len(text) <= 80 else f"{text[:77]}..."


def _problem(where: str, found: str, wanted: str) -> WeightMapError:
    return WeightMapError(f"{where}: {found}.\n  Fix: {wanted}")
