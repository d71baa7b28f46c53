"""`jit` and `shard_map` under the name of their module."""

from typed_nnx._core.modules import F as F
from typed_nnx._core.modules import P as P
from typed_nnx._core.modules import R as R
from typed_nnx._transforms.cached_partial import jit_partial as jit_partial
from typed_nnx._transforms.engine.prefixes import StateSharding as StateSharding
from typed_nnx._transforms.jit import JitWrapped as JitWrapped
from typed_nnx._transforms.jit import jit as jit
from typed_nnx._transforms.jit_stages import Compiled as Compiled
from typed_nnx._transforms.jit_stages import Lowered as Lowered
from typed_nnx._transforms.jit_stages import Stage as Stage
from typed_nnx._transforms.jit_stages import Traced as Traced
from typed_nnx._transforms.shard_map import shard_map as shard_map
