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

from typed_nnx_codegen.migrate.linen.dims import as_dim
from typed_nnx_codegen.migrate.linen.plan import Site
from typed_nnx_codegen.migrate.linen.values import (
    UNKNOWN,
    Array,
    Const,
    Sequence,
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
    """

    example: str
    method: str
    arguments: Mapping[str, Value]
    around: Mapping[str, Value] = field(default_factory=dict)


@dataclass
class Recorded:
    """The calls of all examples.

    Attributes:
        errors: Why examples failed, by name.
    """

    _examples: list[dict[str, Any]] = field(default_factory=list)
    errors: dict[str, str] = field(default_factory=dict)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Recorded:
        """Return what `verify.recording` wrote."""
        examples = list(data.get("examples", ()))
        errors = {one["name"]: one["error"] for one in examples if one.get("error")}
        return cls(examples, errors)

    def calls_of(self, owner: str, site: Site) -> Iterator[RecordedCall]:
        """Yield the calls of a submodule.

        Args:
            owner: The class of the module that contains it.
            site: Where that constructs it.
        """
        if not site.linen:
            return
        pattern = re.compile(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(site.linen)))
        for example in self._examples:
            modules = {tuple(call["path"]): call["module"] for call in example["calls"]}
            latest: dict[tuple[str, ...], Any] = {}
            for call in example["calls"]:
                path = tuple(call["path"])
                latest[path] = call["arguments"]
                if call["module"] != site.class_name or not path:
                    continue
                depth = site.linen.count("/") + 1
                above, name = path[:-depth], "/".join(path[-depth:])
                if modules.get(above) == owner and pattern.fullmatch(name):
                    yield RecordedCall(
                        example["name"],
                        call["method"],
                        _values(call["arguments"]),
                        _values(latest[above]),
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
        return Sequence(tuple(value_of(one) for one in described["list"]))
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
