"""``nnx.spmd``: sharding under the name of its module."""

from typed_nnx._core.modules import A as A
from typed_nnx._core.modules import F as F
from typed_nnx._core.sharding import LogicalRules as LogicalRules
from typed_nnx._core.sharding import Sharding as Sharding
from typed_nnx._core.sharding import get_logical_axis_rules as get_logical_axis_rules
from typed_nnx._core.sharding import logical_axis_rules as logical_axis_rules
from typed_nnx._core.sharding import with_partitioning as with_partitioning
from typed_nnx._transforms.axis_metadata import PARTITION_NAME as PARTITION_NAME
from typed_nnx._transforms.axis_metadata import add_axis as add_axis
from typed_nnx._transforms.axis_metadata import remove_axis as remove_axis
from typed_nnx._transforms.eval_shape import as_abstract as as_abstract
from typed_nnx._transforms.eval_shape import eval_shape as eval_shape
from typed_nnx._transforms.eval_shape import get_abstract_model as get_abstract_model
from typed_nnx._transforms.partition_specs import get_named_sharding as get_named_sharding
from typed_nnx._transforms.partition_specs import get_partition_spec as get_partition_spec
from typed_nnx._transforms.partition_specs import get_var_pspec as get_var_pspec

abstract_with_sharding = as_abstract  # its older name
