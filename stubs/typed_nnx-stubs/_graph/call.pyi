# Generated from the source of typed_nnx._graph.call by `make stubs`. Do not edit.

from collections.abc import Callable
from typed_nnx._graph.graphdef import Applied
from typed_nnx._graph.graphdef import GraphDef
from typing import Any
from typing import TypeVar

A = TypeVar("A")

class CallProxy(Applied[A]):
    def __init__(self, build: Callable[[], Any], steps: tuple[Callable[[Any], Any], ...] = ()) -> None: ...

def call(graphdef_state: tuple[GraphDef[A], *tuple[Any, ...]], /) -> CallProxy[A]: ...

def _applied(graphdef: GraphDef[A], states: tuple[Any, ...]) -> CallProxy[A]: ...
