"""A case file that is written anew in each run: what filters give, for 0 to 6 of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from typed_nnx_codegen.stubgen.filters import MOST, one_or_tuple

# The filter and the name of the type of its State, in the order in which calls take them.
_FILTERS = (
    ("Param", "Params"),
    ("BatchStat", "Stats"),
    ("Temperature", "Temperatures"),
    ("Cache", "Caches"),
    ("Intermediate", "Intermediates"),
    ("LoRAParam", "Loras"),
)
_LAST = (("...", "Rest"), ("Not(Param)", "Others"), ('"tag"', "Tagged"))

_HEADER = """\
from __future__ import annotations

from types import EllipsisType
from typing import Any, TypeAlias, TypeVar, assert_type

import typed_nnx as nnx
from tests.assert_type.models import MLP, Temperature
from typed_nnx import BatchStat, Cache, Intermediate, LoRAParam, Not, Param

F = TypeVar("F")
Part: TypeAlias = nnx.State[Any, Any, MLP, F]
Structure: TypeAlias = nnx.GraphDef[MLP]
Flat: TypeAlias = nnx.FlatState[Any]
Packed: TypeAlias = nnx.GraphState[MLP]

Params: TypeAlias = Part[type[Param[Any]]]
Stats: TypeAlias = Part[type[BatchStat[Any]]]
Temperatures: TypeAlias = Part[type[Temperature]]
Caches: TypeAlias = Part[type[Cache[Any]]]
Intermediates: TypeAlias = Part[type[Intermediate[Any]]]
Loras: TypeAlias = Part[type[LoRAParam[Any]]]
Rest: TypeAlias = Part[EllipsisType]
Others: TypeAlias = Part[Not]
Tagged: TypeAlias = Part[str]
"""

# Name of the case, the call up to its filters, the type of the result for the types of the States.
_CALLS = (
    ("state", "model: MLP", "nnx.state(model", one_or_tuple),
    ("variables", "model: MLP", "nnx.variables(model", one_or_tuple),
    ("pop", "model: MLP", "nnx.pop(model", one_or_tuple),
    ("split", "model: MLP", "nnx.split(model", lambda p: f"tuple[{', '.join(['Structure', *p])}]"),
    ("unpack", "model: MLP", "nnx.unpack(model", lambda p: one_or_tuple(["Packed"] * len(p))),
    ("split_method", "state: Part[Any]", "state.split(", one_or_tuple),
    ("filter_method", "state: Part[Any]", "state.filter(", one_or_tuple),
    ("split_state", "state: Part[Any]", "nnx.split_state(state", one_or_tuple),
    ("filter_state", "state: Part[Any]", "nnx.filter_state(state", one_or_tuple),
    ("split_flat", "flat: Flat", "flat.split(", lambda p: one_or_tuple(["Flat"] * len(p))),
    ("filter_flat", "flat: Flat", "flat.filter(", lambda p: one_or_tuple(["Flat"] * len(p))),
)
_WITHOUT_FILTERS = {
    "state": "Part[Any]",
    "variables": "Part[Any]",
    "split": "tuple[Structure, Part[Any]]",
    "unpack": "Packed",
}


def text() -> str:
    """Return the text of the case file."""
    functions = []
    for name, parameter, call, result in _CALLS:
        lines = [f"def {name}({parameter}) -> None:"]
        whole = _WITHOUT_FILTERS.get(name)
        if whole is None:
            lines.append(f"    {_call(call, [])}  # E")
        else:
            lines.append(f"    assert_type({_call(call, [])}, {whole})")
        for count in range(1, MOST + 1):
            for taken in _taken(count):
                parts = [part for _, part in taken]
                filters = [filter_ for filter_, _ in taken]
                lines.append(f"    assert_type({_call(call, filters)}, {result(parts)})")
            lines.append(f"    {_call(call, [*[f for f, _ in _FILTERS[: count - 1]], '3'])}  # E")
        functions.append("\n".join(lines))
    return _HEADER + "\n\n" + "\n\n\n".join(functions) + "\n"


def _taken(count: int) -> Iterator[list[tuple[str, str]]]:
    """Yield filters: types only, and types with one of the last filters at the end."""
    yield list(_FILTERS[:count])
    for last in _LAST:
        yield [*_FILTERS[: count - 1], last]


def _call(start: str, filters: Sequence[str]) -> str:
    separator = "" if start.endswith("(") or not filters else ", "
    return f"{start}{separator}{', '.join(filters)})"
