"""Builds the overloads of functions that take filters, for each number of filters.

For the same filters there are several overloads, since checkers know different things:

- filters that say themselves what they take (`Selects`): the overlay of a user's models answers
  with classes that have fields. Where `...` comes last, each filter also says what it leaves;
- types of Variables (``type[V1]``), from which every checker makes ``type[Param[Any]]``;
- any other filters.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

MOST = 6
"""Up to so many filters have types of their own."""

_MIXED = 3
"""Up to so many filters, types and other filters may be mixed in any order."""

IMPORTS = (
    "from types import EllipsisType",
    "from typing import Any, TypeAlias, TypeVar, overload",
    "from typed_nnx._core.filters import Filter, Predicate",
    "from typed_nnx._core.state import State",
    "from typed_nnx._core.state_protocols import Selects, SelectsRest, SelectsNext",
    "from typed_nnx._core.variable import Variable",
)

_NAMES = range(1, MOST + 1)
PREAMBLE = "\n".join(
    [
        "# What is in a list is left open: checkers infer its type before they compare it with this one.",
        "# `...` may come first here, which is wrong: a variable of the type `Filter` may hold it.",
        "_AnyFilter: TypeAlias = type | str | Predicate | bool | EllipsisType | tuple[Any, ...] | list[Any] | None",
        "",
        'A = TypeVar("A")',
        'L = TypeVar("L", bound=_AnyFilter)',
        *(f'{name}{i} = TypeVar("{name}{i}")' for name in "SR" for i in _NAMES),
        *(f'F{i} = TypeVar("F{i}", bound=_AnyFilter)' for i in _NAMES),
        *(f'V{i} = TypeVar("V{i}", bound=Variable[Any])' for i in _NAMES),
    ]
)


@dataclass(frozen=True)
class Taken:
    """One filter in a signature.

    Attributes:
        annotation: The type of the parameter.
        part: The type of the State that it takes.
    """

    annotation: str
    part: str


@dataclass(frozen=True)
class Selecting:
    """A function that takes filters.

    Attributes:
        name: Its name.
        result: Makes the type of the result of the types of the States.
        more: The type of the result for more filters than `MOST`.
        node: The parameter before the filters.
        precise_node: The same where filters say what they take from an ``A``.
        part: The type of a State, with ``{filter}`` in the place of the filter's type.
        options: The parameters after the filters.
        indent: What each line starts with.
    """

    name: str
    result: Callable[[Sequence[str]], str]
    more: str = "Any"
    node: str = "node: A"
    precise_node: str = "node: A"
    part: str = "State[Any, Any, A, {filter}]"
    options: str = ""
    indent: str = ""

    def overloads(self, fewest: int = 1) -> str:
        """Return the overloads for `fewest` to `MOST` filters, and those for more."""
        found = [line for count in range(fewest, MOST + 1) for line in self._for(count)]
        return "\n".join([*found, self._for_more()])

    def one(self, node: str, filters: Sequence[str], result: str) -> str:
        """Return one overload."""
        names = [f"f{i}: {filter_}" for i, filter_ in enumerate(filters, 1)]
        first = [part for part in (node, *names, "/") if part]
        return self._line(", ".join([*first, *([self.options] if self.options else [])]), result)

    def _line(self, parameters: str, result: str) -> str:
        return (
            f"{self.indent}@overload\n{self.indent}def {self.name}({parameters}) -> {result}: ..."
        )

    def _for(self, count: int) -> Iterator[str]:
        for is_precise, taken in self._combinations(count):
            yield self.one(
                self.precise_node if is_precise else self.node,
                [t.annotation for t in taken],
                self.result([t.part for t in taken]),
            )

    def _for_more(self) -> str:
        # Also for ``*filters``, of which there may be one only.
        filters = ["Filter"] * (MOST + 1)
        names = [f"f{i}: {filter_}" for i, filter_ in enumerate(filters, 1)]
        options = self.options.removeprefix("*, ")
        parameters = [self.node, *names, "/", "*filters: Filter", *([options] if options else [])]
        return self._line(", ".join(parameters), self.more)

    def _combinations(self, count: int) -> Iterator[tuple[bool, list[Taken]]]:
        yield True, [Taken(f"Selects[A, S{i}]", f"S{i}") for i in range(1, count + 1)]
        if count > 1:
            yield True, [*_chain(count - 1), Taken("EllipsisType", f"R{count - 1}")]
        for kinds in _kinds(count):
            yield False, [self._filter(kind, i, count) for i, kind in enumerate(kinds, 1)]

    def _filter(self, kind: str, number: int, count: int) -> Taken:
        name = f"type[V{number}]" if kind == "type" else "L" if number == count else f"F{number}"
        return Taken(name, self.part.format(filter=name))


def _chain(count: int) -> Iterator[Taken]:
    """Yield filters each of which leaves to the next what it does not take."""
    yield Taken("SelectsRest[A, S1, R1]", "S1")
    for i in range(2, count + 1):
        yield Taken(f"SelectsNext[A, R{i - 1}, S{i}, R{i}]", f"S{i}")


def _kinds(count: int) -> Iterator[tuple[str, ...]]:
    if count <= _MIXED:
        yield from itertools.product(("type", "other"), repeat=count)
        return
    for types in (count, count - 1, 0):
        yield ("type",) * types + ("other",) * (count - types)


def one_or_tuple(parts: Sequence[str]) -> str:
    """Return the type of one State for one filter, and of a tuple for several."""
    return parts[0] if len(parts) == 1 else f"tuple[{', '.join(parts)}]"
