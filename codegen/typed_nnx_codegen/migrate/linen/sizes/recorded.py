"""What the examples of a person tell: the shapes that the submodules of Linen are called with."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from typed_nnx_codegen.migrate.linen.modules.classes import LinenClass
from typed_nnx_codegen.migrate.linen.plan import Site
from typed_nnx_codegen.migrate.linen.running.values import (
    UNKNOWN,
    Array,
    Const,
    Seq,
    Shape,
    Table,
    Value,
)
from typed_nnx_codegen.migrate.linen.sizes.dims import as_dim

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
