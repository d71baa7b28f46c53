"""`GraphState`: a State that carries its structure with it."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any, ClassVar, Generic

import jax
from typing_extensions import TypeVar

from typed_nnx._core.paths import sorted_keys
from typed_nnx._core.state import State
from typed_nnx._graph.graphdef import GraphDef

M = TypeVar("M", default=Any)


class GraphState(MutableMapping[Any, Any], Generic[M]):
    """A GraphDef and a State in one pytree; what `unpack` returns and `merge` takes.

    Fields of the State are read as items or attributes.
    """

    __slots__ = ("__weakref__", "graphdef", "state")

    def __init__(self, graphdef: GraphDef[M], state: State[Any, Any, M, Any]) -> None:
        self.graphdef: GraphDef[M] = graphdef
        self.state: State[Any, Any, M, Any] = state

    @property
    def _graphdef(self) -> GraphDef[M]:
        return self.graphdef

    @property
    def _state(self) -> State[Any, Any, M, Any]:
        return self.state

    def __getitem__(self, key: Any) -> Any:
        return self.state[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.state[key] = value

    def __delitem__(self, key: Any) -> None:
        del self.state[key]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("graphdef", "state"):
            raise AttributeError(f"GraphState has no attribute {name!r}")
        return getattr(self.state, name)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.state)

    def __len__(self) -> int:
        return len(self.state)

    def __contains__(self, key: object) -> bool:
        return key in self.state

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *dir(self.state)})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GraphState):
            return NotImplemented
        return self.graphdef == other.graphdef and self.state == other.state

    __hash__: ClassVar[None] = None  # type: ignore[assignment]  # its State is mutable

    def __repr__(self) -> str:
        return f"GraphState(\n  {self.graphdef!r},\n  {self.state!r}\n)"


_Parts = tuple[GraphDef[Any], bool, tuple[Any, ...]]


def _children(graph_state: GraphState[Any]) -> tuple[list[tuple[Any, Any]], _Parts]:
    # The entries of the State are the children, so that paths are those of the State.
    inner = graph_state.state
    if not isinstance(inner, State):
        return [(jax.tree_util.GetAttrKey("state"), inner)], (graph_state.graphdef, False, ())
    keys = tuple(sorted_keys(inner._mapping))
    entries = [(jax.tree_util.DictKey(key), inner._mapping[key]) for key in keys]
    return entries, (graph_state.graphdef, True, keys)


def _unflatten(parts: _Parts, children: Any) -> GraphState[Any]:
    graphdef, is_state, keys = parts
    if not is_state:
        return GraphState(graphdef, next(iter(children)))
    return GraphState(graphdef, State._of(dict(zip(keys, children, strict=True))))


jax.tree_util.register_pytree_with_keys(GraphState, _children, _unflatten)
