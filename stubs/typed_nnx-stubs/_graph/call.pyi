# Generated from the source of typed_nnx._graph.call by `make stubs`. Do not edit.
# Overloads overlap where one is more precise than another: the first that fits counts.
# mypy: disable-error-code="overload-overlap"
# pyright: reportOverlappingOverload=false
# A type variable that occurs once keeps what it stands for out of a bound: lambdas fit.
# pyright: reportInvalidTypeVarUse=false

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
