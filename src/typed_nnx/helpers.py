"""``nnx.helpers``: containers of Modules and `TrainState` under the name of their module."""

from typed_nnx._core.callables import has_keyword_arg as has_keyword_arg
from typed_nnx._core.dict_module import Dict as Dict
from typed_nnx._core.list_module import List as List
from typed_nnx._core.sequential import Sequential as Sequential
from typed_nnx.training.train_state import TrainState as TrainState
