"""`split`, `state`, `pop`, `unpack` and `merge`: an object graph in parts, chosen by filters."""

from __future__ import annotations

from typed_nnx_codegen.stubgen.declarations import ModuleStub
from typed_nnx_codegen.stubgen.families.selecting import (
    IMPORTS,
    MOST,
    PREAMBLE,
    Selecting,
    one_or_tuple,
)

_GRAPH = "*, graph: bool | None = None"

_STATE = Selecting("state", one_or_tuple, options=_GRAPH)
_SPLIT = Selecting(
    "split",
    lambda parts: f"tuple[{', '.join(['GraphDef[A]', *parts])}]",
    "tuple[GraphDef[A], *tuple[State[Any, Any, A, Any], ...]]",
    options=_GRAPH,
)
_POP = Selecting("pop", one_or_tuple)

# A graph that is one Variable has itself for a State.
_STATE_OF_ALL = f"""
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
"""

_SPLIT_OF_ALL = f"""
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
"""


def _unpack() -> str:
    """Return the overloads of `unpack`: a GraphState is one of an ``A``, whatever the filter."""
    lines = [
        f"@overload\ndef unpack(node: A, {_GRAPH}) -> GraphState[A]: ..."
        f"\n@overload\ndef unpack(node: A, f1: Filter, /, {_GRAPH}) -> GraphState[A]: ..."
    ]
    for count in range(2, MOST + 1):
        filters = ", ".join(f"f{i}: Filter" for i in range(1, count + 1))
        result = ", ".join(["GraphState[A]"] * count)
        lines.append(
            f"@overload\ndef unpack(node: A, {filters}, /, {_GRAPH}) -> tuple[{result}]: ..."
        )
    filters = ", ".join(f"f{i}: Filter" for i in range(1, MOST + 1))
    lines.append(
        f"@overload\ndef unpack(node: A, {filters}, f{MOST + 1}: Filter, /, *filters: Filter, "
        "graph: bool | None = None) -> tuple[GraphState[A], ...]: ..."
    )
    return "\n".join(lines)


# With the type of the object in it, mypy would infer Any for a State of no known object. Of a graph that is one leaf, the leaf itself.
_STATE_LIKE = "State[Any, Any, Any, Any] | GraphState[Any] | FlatState[Any] | Mapping[Any, Any]"
_LEAVES = f"{_STATE_LIKE} | Variable[Any] | jax.Array"
_MERGE = f"""
def merge(graphdef_or_graphstate: GraphDef[A] | GraphState[A], /, *states: {_LEAVES}, copy: bool = False, recreate_variables: bool = True) -> A: ...
"""

# A Variable takes a bare value.
_UPDATE = f"""
@overload
def update(node: Variable[Any], state: Any, /, *states: Any) -> None: ...
@overload
def update(node: object, state: {_STATE_LIKE}, /, *states: {_STATE_LIKE}) -> None: ...
"""

STUBS = (
    ModuleStub(
        module="typed_nnx._graph.split_merge",
        definitions={
            "state": _STATE_OF_ALL + _STATE.overloads(),
            "split": _SPLIT_OF_ALL + _SPLIT.overloads(),
            "unpack": _unpack(),
            "merge": _MERGE,
            "Part": "Part: TypeAlias = State[Any, Any, A, F1]",
            **dict.fromkeys(("A", "F", "S", *(f"F{i}" for i in range(1, MOST + 1))), ""),
        },
        preamble=PREAMBLE,
        imports=(
            *IMPORTS,
            "import jax",
            "from collections.abc import Mapping",
            "from typed_nnx._core.state import FlatState",
            "from typed_nnx._core.state_protocols import SupportsPart, SupportsSplit, SupportsSplitPart, SupportsState",
        ),
    ),
    ModuleStub(
        module="typed_nnx._graph.pop",
        definitions={"pop": _POP.overloads()},
        preamble=PREAMBLE,
        imports=IMPORTS,
    ),
    ModuleStub(
        module="typed_nnx._graph.update",
        definitions={"update": _UPDATE},
        imports=(
            "from typing import overload",
            "from typed_nnx._core.state import FlatState",
        ),
    ),
)
