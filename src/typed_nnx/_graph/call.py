"""`call`: methods called on a (GraphDef, State) pair."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from typed_nnx._graph.graphdef import GraphDef
from typed_nnx._graph.split_merge import merge, split

A = TypeVar("A")


class CallProxy(Generic[A]):
    """Stands for an object that is merged, called and split again at each call.

    Attributes and items lead to what is inside; calling it returns the output and the new
    (GraphDef, State).
    """

    __slots__ = ("_build", "_steps")

    def __init__(
        self, build: Callable[[], Any], steps: tuple[Callable[[Any], Any], ...] = ()
    ) -> None:
        self._build = build
        self._steps = steps

    def __getattr__(self, name: str) -> CallProxy[A]:
        if name.startswith("__"):
            raise AttributeError(name)
        return CallProxy(self._build, (*self._steps, lambda node: getattr(node, name)))

    def __getitem__(self, key: Any) -> CallProxy[A]:
        return CallProxy(self._build, (*self._steps, lambda node: node[key]))

    def __call__(self, *args: Any, **kwargs: Any) -> tuple[Any, tuple[GraphDef[A], Any]]:
        node = self._build()
        function = node
        for step in self._steps:
            function = step(function)
        output = function(*args, **kwargs)
        return output, split(node)


def call(graphdef_state: tuple[GraphDef[A], Any], /) -> CallProxy[A]:
    """Return a proxy that calls methods of the object that a (GraphDef, State) pair stands for.

    ``output, (graphdef, state) = nnx.call((graphdef, state)).method(x)`` merges a copy, calls the
    method and splits again, for use in pure jax functions.

    Args:
        graphdef_state: What `split` without filters returned.
    """
    graphdef, *states = graphdef_state
    return _applied(graphdef, tuple(states))


def _applied(graphdef: GraphDef[A], states: tuple[Any, ...]) -> CallProxy[A]:
    return CallProxy(lambda: merge(graphdef, *states, copy=True))


GraphDef._apply = staticmethod(_applied)
