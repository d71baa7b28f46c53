"""``nnx.variablelib``: Variables under the name of their module."""

from typing import TypeVar

from typed_nnx._core.references import is_array_ref as is_array_ref
from typed_nnx._core.type_variables import A as A
from typed_nnx._core.type_variables import B as B
from typed_nnx._core.type_variables import C as C
from typed_nnx._core.type_variables import F as F
from typed_nnx._core.type_variables import V as V
from typed_nnx._core.var_defaults import VarDefaults as VarDefaults
from typed_nnx._core.var_defaults import VarDefaultsContext as VarDefaultsContext
from typed_nnx._core.var_defaults import use_eager_sharding as use_eager_sharding
from typed_nnx._core.var_defaults import using_eager_sharding as using_eager_sharding
from typed_nnx._core.var_defaults import var_defaults as var_defaults
from typed_nnx._core.variable import Variable as Variable
from typed_nnx._core.variable_metadata import VariableMetadata as VariableMetadata
from typed_nnx._core.variable_types import BatchStat as BatchStat
from typed_nnx._core.variable_types import Cache as Cache
from typed_nnx._core.variable_types import HijaxVariable as HijaxVariable
from typed_nnx._core.variable_types import Intermediate as Intermediate
from typed_nnx._core.variable_types import Param as Param
from typed_nnx._core.variable_types import Perturbation as Perturbation
from typed_nnx._core.variable_types import register_variable_name as register_variable_name
from typed_nnx._core.variable_types import variable_name_from_type as variable_name_from_type
from typed_nnx._core.variable_types import variable_type_from_name as variable_type_from_name
from typed_nnx._core.with_metadata import with_metadata as with_metadata

VariableState = Variable  # its older name in States
P = TypeVar("P", bound=property)
