"""``nnx.variablelib``: Variables under the name of their module."""

from typing import TypeVar

from typed_nnx._core.jax_runtime import is_array_ref as is_array_ref
from typed_nnx._core.metadata import VarDefaults as VarDefaults
from typed_nnx._core.metadata import VarDefaultsContext as VarDefaultsContext
from typed_nnx._core.metadata import VariableMetadata as VariableMetadata
from typed_nnx._core.metadata import use_eager_sharding as use_eager_sharding
from typed_nnx._core.metadata import using_eager_sharding as using_eager_sharding
from typed_nnx._core.metadata import var_defaults as var_defaults
from typed_nnx._core.modules import A as A
from typed_nnx._core.modules import B as B
from typed_nnx._core.modules import C as C
from typed_nnx._core.modules import F as F
from typed_nnx._core.modules import V as V
from typed_nnx._core.sharding import with_metadata as with_metadata
from typed_nnx._core.variable import Variable as Variable
from typed_nnx._core.variable_types import BatchStat as BatchStat
from typed_nnx._core.variable_types import Cache as Cache
from typed_nnx._core.variable_types import HijaxVariable as HijaxVariable
from typed_nnx._core.variable_types import Intermediate as Intermediate
from typed_nnx._core.variable_types import Param as Param
from typed_nnx._core.variable_types import Perturbation as Perturbation
from typed_nnx._core.variable_types import register_variable_name as register_variable_name
from typed_nnx._core.variable_types import variable_name_from_type as variable_name_from_type
from typed_nnx._core.variable_types import variable_type_from_name as variable_type_from_name

VariableState = Variable  # its older name in States
P = TypeVar("P", bound=property)
