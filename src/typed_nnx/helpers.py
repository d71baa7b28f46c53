"""``nnx.helpers``: containers of Modules and `TrainState` under the name of their module."""

from typing import TypeVar

from typed_nnx._core.callables import has_keyword_arg as has_keyword_arg
from typed_nnx._core.dict_module import Dict as Dict
from typed_nnx._core.list_module import List as List
from typed_nnx._core.module import Module as Module
from typed_nnx._core.rngs import Rngs as Rngs
from typed_nnx._core.sequential import Sequential as Sequential
from typed_nnx._core.state import State as State
from typed_nnx._core.type_variables import A as A
from typed_nnx._core.type_variables import M as M
from typed_nnx._core.variable import Variable as Variable
from typed_nnx._graph.graphdef import GraphDef as GraphDef
from typed_nnx.training.train_state import TrainState as TrainState

TS = TypeVar("TS", bound=TrainState)
