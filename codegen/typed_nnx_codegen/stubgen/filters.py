"""Functions and methods that take filters: overloads for each number of filters.

For the same filters there are several overloads, since checkers know different things:

- filters that say themselves what they take (`Selects`): the overlay of a user's models answers
  with classes that have fields. Where `...` comes last, each filter also says what it leaves;
- types of Variables (``type[V1]``), from which every checker makes ``type[Param[Any]]``;
- any other filters.
"""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from typed_nnx_codegen.stubgen.overloads import Overloads

MOST = 6
"""Up to so many filters have types of their own."""

_MIXED = 3
"""Up to so many filters, types and other filters may be mixed in any order."""

_NAMES = range(1, MOST + 1)
_PREAMBLE = "\n".join(
    [
        "MYPY = False",
        "# What is in a list is left open: checkers infer its type before they compare it with this one.",
        "# `...` may come first here, which is wrong: a variable of the type `Filter` may hold it.",
        "_AnyFilter: TypeAlias = type | str | Predicate | bool | EllipsisType | tuple[Any, ...] | list[Any] | None",
        "_Selective: TypeAlias = type | str | Predicate | tuple[Any, ...] | list[Any]",
        "# What comes of filters after one that takes every leaf: it cannot be unpacked.",
        "class _EllipsisIsNotLast: ...",
        "",
        'A = TypeVar("A")',
        'L = TypeVar("L", bound=_AnyFilter)',
        'T1 = TypeVar("T1")',
        *(f'{name}{i} = TypeVar("{name}{i}")' for name in "SR" for i in _NAMES),
        *(f'F{i} = TypeVar("F{i}", bound=_AnyFilter)' for i in _NAMES),
        *(f'V{i} = TypeVar("V{i}", bound=Variable[Any])' for i in _NAMES),
    ]
)


@dataclass(frozen=True)
class _Taken:
    """One filter in a signature.

    Attributes:
        annotation: The type of the parameter.
        part: The type of the State that it takes.
    """

    annotation: str
    part: str


@dataclass(frozen=True)
class _Selecting:
    """A function that takes filters.

    Attributes:
        name: Its name.
        result: Makes the type of the result of the types of the States.
        more: The type of the result for more filters than `MOST`.
        node: The parameter before the filters.
        precise_node: The same where filters say what they take from an ``A``.
        part: The type of a State, with ``{filter}`` in the place of the filter's type.
        options: The parameters after the filters.
        first: The overloads without filters, and those for pyrefly and ty: these ask the object what a
            filter takes, not the filter. In pyright few filters fit them.
    """

    name: str
    result: Callable[[Sequence[str]], str]
    more: str = "Any"
    node: str = "node: A"
    precise_node: str = "node: A"
    part: str = "State[Any, Any, A, {filter}]"
    options: str = ""
    first: str = ""

    def text(self) -> str:
        """Return the overloads for 1 to `MOST` filters, and that for more."""
        order = textwrap.indent("\n".join(self._wrong_order()), "    ")
        known = map(self._one, range(1, MOST + 1))
        # First: pyrefly forgets the overloads before the `if`, or those in it.
        return "\n".join(["if not MYPY:", order, self.first.strip(), *known, self._for_more()])

    def _wrong_order(self) -> Iterator[str]:
        """Yield the overloads for `...` before another filter, of which mypy has its plugin's message."""
        for filters in (["EllipsisType", "_Selective"], ["Filter", "EllipsisType", "_Selective"]):
            yield self._line(self._parameters(filters), "_EllipsisIsNotLast")

    def _line(self, parameters: str, result: str) -> str:
        return f"@overload\ndef {self.name}({parameters}) -> {result}: ..."

    def _one(self, count: int) -> str:
        lines = []
        for is_precise, taken in self._combinations(count):
            node = self.precise_node if is_precise else self.node
            names = [f"f{i}: {one.annotation}" for i, one in enumerate(taken, 1)]
            options = [self.options] if self.options else []
            parameters = ", ".join([node, *names, "/", *options])
            lines.append(self._line(parameters, self.result([one.part for one in taken])))
        return "\n".join(lines)

    def _for_more(self) -> str:
        # Also for ``*filters``, of which there may be one only.
        return self._line(self._parameters(["Filter"] * (MOST + 1)), self.more)

    def _parameters(self, filters: Sequence[str]) -> str:
        names = [f"f{i}: {filter_}" for i, filter_ in enumerate(filters, 1)]
        options = self.options.removeprefix("*, ")
        parameters = [self.node, *names, "/", "*filters: Filter", *([options] if options else [])]
        return ", ".join(parameters)

    def _combinations(self, count: int) -> Iterator[tuple[bool, list[_Taken]]]:
        selecting = [_Taken(f"Selects[A, S{i}]", f"S{i}") for i in range(1, count + 1)]
        yield True, selecting if count > 1 else [_ONLY]
        if count > 1:
            chain = _chain(count - 1) if count > 2 else [_ONLY_BEFORE_REST]
            yield True, [*chain, _Taken("EllipsisType", f"R{count - 1}")]
        for kinds in _kinds(count):
            yield False, [self._filter(kind, i, count) for i, kind in enumerate(kinds, 1)]

    def _filter(self, kind: str, number: int, count: int) -> _Taken:
        name = f"type[V{number}]" if kind == "type" else "L" if number == count else f"F{number}"
        return _Taken(name, self.part.format(filter=name))


_ONLY = _Taken("HasSelect[Callable[[A], S1]]", "S1")
_ONLY_BEFORE_REST = _Taken("HasSelectAndLeave[Callable[[A], S1], Callable[[A], R1]]", "S1")


def _chain(count: int) -> Iterator[_Taken]:
    """Yield filters each of which leaves to the next what it does not take."""
    yield _Taken("SelectsRest[A, S1, R1]", "S1")
    for i in range(2, count + 1):
        yield _Taken(f"SelectsNext[A, R{i - 1}, S{i}, R{i}]", f"S{i}")


def _kinds(count: int) -> Iterator[tuple[str, ...]]:
    if count <= _MIXED:
        yield from itertools.product(("type", "other"), repeat=count)
        return
    for types in (count, count - 1, 0):
        yield ("type",) * types + ("other",) * (count - types)


def one_or_tuple(parts: Sequence[str]) -> str:
    """Return the type of one State for one filter, and of a tuple for several."""
    return parts[0] if len(parts) == 1 else f"tuple[{', '.join(parts)}]"


_GRAPH = "*, graph: bool | None = None"

# A graph that is one Variable has itself for a State.
_FIRST_OF_STATE = f"""
@overload
def state(node: V1, {_GRAPH}) -> V1: ...
@overload
def state(node: V1, f1: Filter, /, {_GRAPH}) -> V1: ...
@overload
def state(node: SupportsPart[EllipsisType, S1], f1: EllipsisType, /, {_GRAPH}) -> S1: ...
@overload
def state(node: SupportsState[S1], {_GRAPH}) -> S1: ...
@overload
def state(node: A, {_GRAPH}) -> State[Any, Any, A, Any]: ...
@overload
def state(node: SupportsPart[T1, S1], f1: TypeFilter[T1], /, {_GRAPH}) -> S1: ...
"""

_FIRST_OF_SPLIT = f"""
@overload
def split(node: V1, {_GRAPH}) -> tuple[GraphDef[V1], V1]: ...
@overload
def split(node: V1, f1: Filter, /, {_GRAPH}) -> tuple[GraphDef[V1], V1]: ...
@overload
def split(node: SupportsSplitPart[A, EllipsisType, S1], f1: EllipsisType, /, {_GRAPH}) -> tuple[GraphDef[A], S1]: ...
@overload
def split(node: SupportsSplit[A, S1], {_GRAPH}) -> tuple[GraphDef[A], S1]: ...
@overload
def split(node: A, {_GRAPH}) -> tuple[GraphDef[A], State[Any, Any, A, Any]]: ...
@overload
def split(node: SupportsSplitPart[A, T1, S1], f1: TypeFilter[T1], /, {_GRAPH}) -> tuple[GraphDef[A], S1]: ...
@overload
def split(node: SupportsDivision[A, T1, R1, S1], f1: TypeFilter[T1], f2: EllipsisType, /, {_GRAPH}) -> tuple[GraphDef[A], S1, R1]: ...
"""

_STATE = _Selecting("state", one_or_tuple, options=_GRAPH, first=_FIRST_OF_STATE)
_SPLIT = _Selecting(
    "split",
    lambda parts: f"tuple[{', '.join(['GraphDef[A]', *parts])}]",
    "tuple[GraphDef[A], *tuple[State[Any, Any, A, Any], ...]]",
    options=_GRAPH,
    first=_FIRST_OF_SPLIT,
)
_POP = _Selecting("pop", one_or_tuple)


def _unpack() -> str:
    """Return the overloads of `unpack`: a GraphState is one of an ``A``, whatever the filter."""
    lines = [f"@overload\ndef unpack(node: A, {_GRAPH}) -> GraphState[A]: ..."]
    for count in range(1, MOST + 1):
        result = one_or_tuple(["GraphState[A]"] * count)
        lines.append(
            f"@overload\ndef unpack(node: A, {_filters(count)}, /, {_GRAPH}) -> {result}: ..."
        )
    lines.append(
        f"@overload\ndef unpack(node: A, {_filters(MOST + 1)}, /, *filters: Filter, "
        "graph: bool | None = None) -> tuple[GraphState[A], ...]: ..."
    )
    return "\n".join(lines)


def _filters(count: int) -> str:
    return ", ".join(f"f{i}: Filter" for i in range(1, count + 1))


def _method(name: str) -> str:
    """Return the overloads of a method of `State`."""
    return _Selecting(
        name,
        one_or_tuple,
        node="self: State[K, L1, A, Any]",
        precise_node="self: HasFields[A]",
        part="State[K, L1, A, {filter}]",
    ).text()


def _function(name: str) -> str:
    """Return the overloads of a function over States."""
    return _Selecting(
        name,
        one_or_tuple,
        node="state: State[K, L1, A, Any]",
        precise_node="state: HasFields[A]",
        part="State[K, L1, A, {filter}]",
    ).text()


def _flat_method(name: str) -> str:
    """Return the overloads of a method of `FlatState`: the leaves have one type, filter or not."""
    lines = []
    for count in range(1, MOST + 1):
        result = one_or_tuple(["FlatState[L1]"] * count)
        lines.append(
            f"@overload\ndef {name}(self: FlatState[L1], {_filters(count)}, /) -> {result}: ..."
        )
    lines.append(
        f"@overload\ndef {name}(self: FlatState[L1], {_filters(MOST + 1)}, /, "
        "*filters: Filter) -> Any: ..."
    )
    return "\n".join(lines)


_IMPORTS = (
    "from types import EllipsisType",
    "from collections.abc import Callable",
    "from typing import Any, TypeAlias, TypeVar, overload",
    "from typed_nnx._core.filters import Filter, HasFields, Predicate",
    "from typed_nnx._core.filters import HasSelect, HasSelectAndLeave, Selects, SelectsNext, SelectsRest",
    "from typed_nnx._core.filters import SupportsDivision, SupportsPart, SupportsSplit",
    "from typed_nnx._core.filters import SupportsSplitPart, SupportsState, TypeFilter",
    "from typed_nnx._core.state import FlatState, State",
    "from typed_nnx._core.variable import Variable",
    "from typed_nnx._graph.graphdef import GraphDef, GraphState",
)
_LEAF = 'L1 = TypeVar("L1")'

MODULES = (
    Overloads(
        "typed_nnx._core.state_overloads",
        _IMPORTS,
        [
            f'{_PREAMBLE}\nK = TypeVar("K")\n{_LEAF}',
            *map(_method, ("split", "filter")),
            *map(_function, ("split_state", "filter_state")),
        ],
    ),
    Overloads(
        "typed_nnx._core.flat_state_overloads",
        _IMPORTS,
        [_LEAF, *map(_flat_method, ("split", "filter"))],
    ),
    Overloads(
        "typed_nnx._graph.split_overloads",
        _IMPORTS,
        [_PREAMBLE, _STATE.text(), _SPLIT.text(), _unpack(), _POP.text()],
    ),
)
