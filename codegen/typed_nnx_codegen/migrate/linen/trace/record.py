"""What runs of the user's examples tell: shapes of calls, and expressions that give them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any, Final

from typed_nnx_codegen.migrate.linen.domain.class_plan import Site
from typed_nnx_codegen.migrate.linen.domain.classes import LinenClass
from typed_nnx_codegen.migrate.linen.domain.dims import ArgumentSize, Dim, Piece, as_dim
from typed_nnx_codegen.migrate.linen.domain.values import (
    UNKNOWN,
    Array,
    Const,
    Seq,
    Shape,
    Table,
    Value,
)

_PROGRAM: Final = "typed_nnx_codegen.verify.recording"


class NotRecorded(Exception):
    """The examples could not be run; the message says why."""


@dataclass(frozen=True)
class RecordedCall:
    """A call of a submodule.

    Attributes:
        example: The name of the example.
        method: The method that is called.
        arguments: What each parameter was given.
        around: What the method of the module that contains it was given.
        around_method: That method.
        sizes: The integers in the fields of that module, by expression.
        path: The path of the submodule from the root of the example on.
        owner: The path of the module that contains it.
    """

    example: str
    method: str
    arguments: Mapping[str, Value]
    around: Mapping[str, Value] = field(default_factory=dict)
    around_method: str = "__call__"
    sizes: Mapping[str, int] = field(default_factory=dict)
    path: tuple[str, ...] = ()
    owner: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Module:
    """A module while its method runs.

    Attributes:
        name: Its class.
        file: The file of the class; empty where that is not known.
        method: Its method.
        arguments: What that was given, as JSON has it.
        sizes: The integers in its fields, by expression.
    """

    name: str
    file: str
    method: str
    arguments: Mapping[str, Any]
    sizes: Mapping[str, int]

    def is_of(self, cls: LinenClass) -> bool:
        """Whether it is of a class."""
        return self.name == cls.name and (
            not self.file or Path(self.file).resolve() == cls.analysis.path.resolve()
        )


@dataclass(frozen=True)
class _Call:
    """A call of a module in an example.

    Attributes:
        example: The name of the example.
        path: The path of the module.
        method: The method.
        arguments: What it was given, as JSON has it.
        around: The modules on the path to it, the root first; None for those that are not called.
    """

    example: str
    path: tuple[str, ...]
    method: str
    arguments: Mapping[str, Any]
    around: tuple[_Module | None, ...]


@dataclass
class Recorded:
    """The calls of all examples.

    Attributes:
        errors: Why examples failed, by name.
    """

    _by_class: dict[str, list[_Call]] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Recorded:
        """Return what `verify.recording` wrote."""
        made = cls()
        for example in data.get("examples", ()):
            if example.get("error"):
                made.errors[example["name"]] = example["error"]
            made._add(example)
        return made

    def _add(self, example: Mapping[str, Any]) -> None:
        latest: dict[tuple[str, ...], _Module] = {}
        for call in example["calls"]:
            path = tuple(call["path"])
            around = tuple(latest.get(path[:depth]) for depth in range(len(path)))
            one = _Call(example["name"], path, call["method"], call["arguments"], around)
            self._by_class.setdefault(call["module"], []).append(one)
            latest[path] = _Module(
                call["module"],
                call.get("file", ""),
                call["method"],
                call["arguments"],
                call.get("sizes", {}),
            )

    def calls_of(self, owner: LinenClass, site: Site) -> Iterator[RecordedCall]:
        """Yield the calls of a submodule.

        Args:
            owner: The class of the module that contains it.
            site: Where that constructs it.
        """
        if not site.linen:
            return
        pattern = re.compile(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(site.linen)))
        depth = site.linen.count("/") + 1
        for call in self._by_class.get(site.class_name, ()):
            if len(call.path) < depth:
                continue
            around = call.around[-depth]
            name = "/".join(call.path[-depth:])
            if around is not None and around.is_of(owner) and pattern.fullmatch(name):
                yield RecordedCall(
                    call.example,
                    call.method,
                    _values(call.arguments),
                    _values(around.arguments),
                    around.method,
                    around.sizes,
                    call.path,
                    call.path[:-depth],
                )


def _values(described: Mapping[str, Any]) -> dict[str, Value]:
    return {name: value_of(one) for name, one in described.items()}


def value_of(described: Mapping[str, Any]) -> Value:
    """Return the value that JSON describes; arrays have the shape of the example."""
    if "shape" in described:
        dims = tuple(as_dim(int(one)) for one in described["shape"])
        return Array(Shape(dims), dtype=str(described.get("dtype", "")))
    if "value" in described:
        return Const(described["value"])
    if "list" in described:
        return Seq(tuple(value_of(one) for one in described["list"]))
    if "items" in described:
        return Table({key: value_of(one) for key, one in described["items"].items()})
    return UNKNOWN


def record(file: Path, examples: Path) -> Recorded:
    """Run the examples of a file in another process, which imports both files.

    Raises:
        NotRecorded: They could not be run.
    """
    command = [sys.executable, "-m", _PROGRAM, str(file), str(examples)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise NotRecorded(f"--example {examples}: Python cannot be started: {error}") from error
    if done.returncode:
        said = done.stderr.strip().splitlines()
        why = done.stderr.strip() if done.returncode == 2 else (said or ["it said nothing"])[-1]
        raise NotRecorded(f"--example {examples}: {why}")
    try:
        data = json.loads(done.stdout)
    except ValueError as error:
        raise NotRecorded(f"--example {examples}: the recording is no JSON: {error}") from error
    return Recorded.from_json(data)


# A size, and in the shapes of arrays one that examples do not agree on.
Size = int | tuple[int | None, ...]
_DEEPEST: Final = 3


@dataclass(frozen=True)
class Measured:
    """What a parameter has to be in a call of an example.

    Attributes:
        size: The number; several for the submodules of a list, or for the shape of an array.
        call: The call.
    """

    size: Size
    call: RecordedCall


def fitting(found: Sequence[Measured], methods: Iterable[str]) -> list[Dim]:
    """Return the simplest expressions that give a size in all examples.

    Fields and sizes of arguments come first, then multiples, products and sums of them. All that
    fit are returned: examples do not tell one of them from another.

    Args:
        found: The size in each call; it has to differ, as anything gives one number.
        methods: The methods whose arguments a constructor may ask for.
    """
    wanted = tuple(one.size for one in found)
    if len(set(wanted)) < 2 or not all(isinstance(one, int) for one in wanted):
        return []
    roots = frozenset(methods)
    tables = [dict(_atoms(one.call, roots)) for one in found]
    known = {
        atom: tuple(table[atom] for table in tables)
        for atom in tables[0]
        if all(atom in table for table in tables)
    }
    numbers = [int(one) for one in wanted if isinstance(one, int)]
    return _alone(known, numbers) or _together(known, numbers)


def _alone(known: Mapping[Dim, tuple[int, ...]], wanted: Sequence[int]) -> list[Dim]:
    return [dim for dim, sizes in known.items() if list(sizes) == wanted]


def _together(known: Mapping[Dim, tuple[int, ...]], wanted: Sequence[int]) -> list[Dim]:
    """Return multiples, products and sums."""
    varied = {dim: sizes for dim, sizes in known.items() if len(set(sizes)) > 1}
    found = []
    for dim, sizes in varied.items():
        factors = {divmod(size, by) for size, by in zip(wanted, sizes, strict=True)}
        if len(factors) == 1 and (factor := factors.pop())[1] == 0:
            found.append(dim * factor[0])
    for (one, sizes), (other, others) in combinations_with_replacement(known.items(), 2):
        pairs = list(zip(sizes, others, wanted, strict=True))
        if one != other and all(first + second == size for first, second, size in pairs):
            found.append(one + other)
        if min(*sizes, *others) > 1 and all(
            first * second == size for first, second, size in pairs
        ):
            found.append(one * other)
    return found


def _atoms(call: RecordedCall, roots: frozenset[str]) -> Iterator[tuple[Dim, int]]:
    """Yield the sizes that a constructor can say, with their values in a call."""
    for code, size in call.sizes.items():
        yield as_dim(Piece(code)), size
    if call.around_method in roots:
        for name, value in call.around.items():
            yield from _of_argument(name, value, 0)


def _of_argument(code: str, value: Value, depth: int) -> Iterator[tuple[Dim, int]]:
    if depth > _DEEPEST:
        return
    match value:
        case Array(shape=shape):
            for number, dim in enumerate(shape.dims):
                if dim is not None and dim.constant:
                    yield as_dim(ArgumentSize(code, number - len(shape.dims))), dim.constant
        case Seq(items=items):
            for number, item in enumerate(items):
                yield from _of_argument(f"{code}[{number}]", item, depth + 1)
        case Table(items=table):
            for key, item in table.items():
                yield from _of_argument(f"{code}[{key!r}]", item, depth + 1)
