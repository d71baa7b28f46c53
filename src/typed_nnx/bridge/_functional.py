"""`functional`: a Module class as a pair of pure functions, init and apply."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from typed_nnx._core.module import Module
from typed_nnx._core.rngs import Rngs
from typed_nnx._core.state import State
from typed_nnx._graph.call import CallProxy
from typed_nnx._graph.graphdef import GraphDef
from typed_nnx._graph.split_merge import merge, split
from typed_nnx.errors import FunctionalInitError

M = TypeVar("M", bound=Module)


@dataclasses.dataclass
class Functional(Generic[M]):
    """A Module that is made later.

    Attributes:
        module_type: The class of the Module.
        graphdef: Its structure, once `init` has made it.
        args: Positional arguments for the class.
        kwargs: Keyword arguments for the class.
    """

    module_type: type[M]
    graphdef: GraphDef[M] | None
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def init(self, *, rngs: Rngs | None = None) -> State[Any, Any, M, Any]:
        """Make the Module, keep its structure and return its state.

        Args:
            rngs: Random streams, passed to the class as the keyword argument ``rngs``.
        """
        streams = {} if rngs is None else {"rngs": rngs}
        module = self.module_type(*self.args, **{**self.kwargs, **streams})
        made: tuple[GraphDef[M], State[Any, Any, M, Any]] = split(module)
        self.graphdef, state = made
        return state

    def apply(self, *states: Any) -> CallProxy[M]:
        """Return a proxy that calls the Module with a state.

        ``output, (graphdef, state) = functional.apply(state)(x)``.

        Raises:
            FunctionalInitError: `init` was not called.
        """
        if self.graphdef is None:
            raise FunctionalInitError(self.module_type.__name__)
        structure = self.graphdef
        return CallProxy(lambda: merge(structure, *states, copy=True))


def functional(cls: type[M]) -> Callable[..., Functional[M]]:
    """Return a constructor that takes the arguments of `cls` and makes a `Functional` of it."""

    def _functional_constructor(*args: Any, **kwargs: Any) -> Functional[M]:
        return Functional(cls, None, args, kwargs)

    return _functional_constructor
