"""``nnx.helpers``: containers of Modules and `TrainState` under the name of their module."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from typed_nnx._core.containers import Dict as Dict
from typed_nnx._core.containers import List as List
from typed_nnx._core.containers import Sequential as Sequential
from typed_nnx._core.modules import A as A
from typed_nnx._core.modules import M as M
from typed_nnx._core.modules import Module as Module
from typed_nnx._core.rngs import Rngs as Rngs
from typed_nnx._core.state import State as State
from typed_nnx._core.variable import Variable as Variable
from typed_nnx._graph.graphdef import GraphDef as GraphDef
from typed_nnx.training.train_state import TrainState as TrainState


def has_keyword_arg(func: Callable[..., Any], name: str) -> bool:
    """Whether a function has a parameter that can be given by this name."""
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    found = inspect.signature(func).parameters.get(name)
    return found is not None and found.kind in by_name


TS = TypeVar("TS", bound=TrainState)
