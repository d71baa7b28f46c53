"""Plain-data descriptions of object graphs, built once per library under comparison.

A `Graph` is a small heap: arrays, Variables and nodes are referred to by index, so a description can say
"the same object here and there" (sharing, cycles) without holding any object of either library.
"""

from __future__ import annotations

import dataclasses
import typing as tp


@dataclasses.dataclass(frozen=True)
class ArraySpec:
    """One array of the heap; `library` is "jax" or "numpy"."""

    library: str
    dtype: str
    shape: tuple[int, ...]
    fill: int


@dataclasses.dataclass(frozen=True)
class Const:
    """A plain Python value, used as it is."""

    value: tp.Any


@dataclasses.dataclass(frozen=True)
class Arr:
    """A reference to an array of the heap."""

    index: int


@dataclasses.dataclass(frozen=True)
class Var:
    """A reference to a Variable of the heap."""

    index: int


@dataclasses.dataclass(frozen=True)
class Node:
    """A reference to a node of the heap."""

    index: int


@dataclasses.dataclass(frozen=True)
class Seq:
    """A fresh "list" or "tuple"."""

    kind: str
    items: tuple[Value, ...]


@dataclasses.dataclass(frozen=True)
class Map:
    """A fresh dict."""

    items: tuple[tuple[tp.Any, Value], ...]


@dataclasses.dataclass(frozen=True)
class Struct:
    """A fresh registered pytree: "namedtuple", "dataclass", "keyless", "adam" or "momentum"."""

    kind: str
    first: Value
    second: Value


@dataclasses.dataclass(frozen=True)
class Marked:
    """A value wrapped in `nnx.data` or `nnx.static`."""

    status: str
    value: Value


@dataclasses.dataclass(frozen=True)
class MakeRngs:
    """A fresh `nnx.Rngs`."""

    seed: int
    stream: str


Value = Const | Arr | Var | Node | Seq | Map | Struct | Marked | MakeRngs


@dataclasses.dataclass(frozen=True)
class VarSpec:
    """One Variable of the heap: type name, value and metadata."""

    type: str
    value: Value
    metadata: tuple[tuple[str, tp.Any], ...] = ()


@dataclasses.dataclass(frozen=True)
class NodeSpec:
    """One node of the heap: class name and attributes in assignment order."""

    cls: str
    attributes: tuple[tuple[str, Value], ...] = ()


@dataclasses.dataclass(frozen=True)
class Graph:
    """A whole heap and the value that serves as root."""

    arrays: tuple[ArraySpec, ...]
    variables: tuple[VarSpec, ...]
    nodes: tuple[NodeSpec, ...]
    root: Value = Node(0)
