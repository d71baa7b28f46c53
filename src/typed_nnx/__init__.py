"""typed-nnx: neural-network modules for JAX, with types. Use it as ``import typed_nnx as nnx``."""

from typing import TYPE_CHECKING

from typed_nnx import compat as compat
from typed_nnx import errors as errors
from typed_nnx import filterlib as filterlib
from typed_nnx import graph as graph
from typed_nnx import graphlib as graphlib
from typed_nnx import helpers as helpers
from typed_nnx import module as module
from typed_nnx import pytreelib as object  # noqa: F401  # pyright: ignore[reportUnusedImport]  # its older name
from typed_nnx import pytreelib as pytreelib
from typed_nnx import rnglib as rnglib
from typed_nnx import statelib as statelib
from typed_nnx import transforms as transforms
from typed_nnx import traversals as traversals
from typed_nnx import variablelib as variablelib

# -- Variables ---------------------------------------------------------------------------------
from typed_nnx._core.references import ArrayRef as ArrayRef
from typed_nnx._core.references import array_ref as array_ref
from typed_nnx._core.references import is_array_ref as is_array_ref
from typed_nnx._core.var_defaults import use_eager_sharding as use_eager_sharding
from typed_nnx._core.var_defaults import using_eager_sharding as using_eager_sharding
from typed_nnx._core.var_defaults import var_defaults as var_defaults
from typed_nnx._core.variable import Variable as Variable
from typed_nnx._core.variable_metadata import VariableMetadata as VariableMetadata
from typed_nnx._core.variable_types import BatchStat as BatchStat
from typed_nnx._core.variable_types import Cache as Cache
from typed_nnx._core.variable_types import Intermediate as Intermediate
from typed_nnx._core.variable_types import LoRAParam as LoRAParam
from typed_nnx._core.variable_types import MetricState as MetricState
from typed_nnx._core.variable_types import OptArray as OptArray
from typed_nnx._core.variable_types import OptState as OptState
from typed_nnx._core.variable_types import OptVariable as OptVariable
from typed_nnx._core.variable_types import Param as Param
from typed_nnx._core.variable_types import Perturbation as Perturbation
from typed_nnx._core.variable_types import register_variable_name as register_variable_name
from typed_nnx._core.variable_types import variable_name_from_type as variable_name_from_type
from typed_nnx._core.variable_types import variable_type_from_name as variable_type_from_name
from typed_nnx._core.with_metadata import with_metadata as with_metadata

# -- Pytrees and Modules -----------------------------------------------------------------------
from typed_nnx._core.data_types import register_data_type as register_data_type
from typed_nnx._core.dataclass import dataclass as dataclass
from typed_nnx._core.dict_module import Dict as Dict
from typed_nnx._core.fields import Data as Data
from typed_nnx._core.fields import Static as Static
from typed_nnx._core.fields import data as data
from typed_nnx._core.fields import has_data as has_data
from typed_nnx._core.fields import is_data as is_data
from typed_nnx._core.fields import static as static
from typed_nnx._core.list_module import List as List
from typed_nnx._core.module import Module as Module
from typed_nnx._core.module import iter_module_children as iter_module_children
from typed_nnx._core.module import iter_modules as iter_modules
from typed_nnx._core.pytree import Object as Object
from typed_nnx._core.pytree import Pytree as Pytree
from typed_nnx._core.pytree import check_pytree as check_pytree
from typed_nnx._core.sequential import Sequential as Sequential

# -- random numbers ----------------------------------------------------------------------------
from typed_nnx._core.rngs import RngCount as RngCount
from typed_nnx._core.rngs import RngKey as RngKey
from typed_nnx._core.rngs import Rngs as Rngs
from typed_nnx._core.rngs import RngState as RngState
from typed_nnx._core.rngs import RngStream as RngStream
from typed_nnx._graph.rng_functions import reseed as reseed
from typed_nnx._graph.rng_functions import with_rngs as with_rngs

# -- filters -----------------------------------------------------------------------------------
from typed_nnx._core.filters import All as All
from typed_nnx._core.filters import Any as Any
from typed_nnx._core.filters import Everything as Everything
from typed_nnx._core.filters import Not as Not
from typed_nnx._core.filters import Nothing as Nothing
from typed_nnx._core.filters import OfType as OfType
from typed_nnx._core.filters import PathContains as PathContains
from typed_nnx._core.filters import PathIn as PathIn
from typed_nnx._core.filters import WithTag as WithTag
from typed_nnx._core.filters import to_predicate as to_predicate

# -- State and GraphDef ------------------------------------------------------------------------
from typed_nnx._core.flat_state import FlatState as FlatState
from typed_nnx._core.state import State as State
from typed_nnx._core.state_protocols import SupportsState as SupportsState
from typed_nnx._graph.graph_state import GraphState as GraphState
from typed_nnx._graph.graphdef import GraphDef as GraphDef
from typed_nnx._graph.graphdef import PureState as PureState
from typed_nnx._graph.state_functions import diff as diff
from typed_nnx._graph.state_functions import filter_state as filter_state
from typed_nnx._graph.state_functions import from_flat_state as from_flat_state
from typed_nnx._graph.state_functions import map_state as map_state
from typed_nnx._graph.state_functions import merge_state as merge_state
from typed_nnx._graph.state_functions import replace_by_pure_dict as replace_by_pure_dict
from typed_nnx._graph.state_functions import restore_int_paths as restore_int_paths
from typed_nnx._graph.state_functions import split_state as split_state
from typed_nnx._graph.state_functions import to_flat_state as to_flat_state
from typed_nnx._graph.state_functions import to_pure_dict as to_pure_dict

# -- objects to values and back ----------------------------------------------------------------
from typed_nnx._core.walk import iter_children as iter_children
from typed_nnx._core.walk import iter_graph as iter_graph
from typed_nnx._graph.call import call as call
from typed_nnx._graph.capture import capture as capture
from typed_nnx._graph.duplicates import find_duplicates as find_duplicates
from typed_nnx._graph.flatten import flatten as flatten
from typed_nnx._graph.flatten import unflatten as unflatten
from typed_nnx._graph.mode import set_graph_mode as set_graph_mode
from typed_nnx._graph.mode import set_graph_updates as set_graph_updates
from typed_nnx._graph.pop import pop as pop
from typed_nnx._graph.pure import as_pure as as_pure
from typed_nnx._graph.pure import pure as pure
from typed_nnx._graph.record import invalidate as invalidate
from typed_nnx._graph.references import to_arrays as to_arrays
from typed_nnx._graph.references import to_refs as to_refs
from typed_nnx._graph.references import vars_as as vars_as
from typed_nnx._graph.references import with_vars as with_vars
from typed_nnx._graph.split_merge import clone as clone
from typed_nnx._graph.split_merge import graphdef as graphdef
from typed_nnx._graph.split_merge import merge as merge
from typed_nnx._graph.split_merge import split as split
from typed_nnx._graph.split_merge import state as state
from typed_nnx._graph.split_merge import unpack as unpack
from typed_nnx._graph.split_merge import variables as variables
from typed_nnx._graph.tree import NodeStates as NodeStates
from typed_nnx._graph.tree import from_tree as from_tree
from typed_nnx._graph.tree import prefix as prefix
from typed_nnx._graph.tree import to_tree as to_tree
from typed_nnx._graph.update import update as update
from typed_nnx._graph.update_context import MergeContext as MergeContext
from typed_nnx._graph.update_context import SplitContext as SplitContext
from typed_nnx._graph.update_context import UpdateContext as UpdateContext
from typed_nnx._graph.update_context import current_update_context as current_update_context
from typed_nnx._graph.update_context import merge_context as merge_context
from typed_nnx._graph.update_context import split_context as split_context
from typed_nnx._graph.update_context import update_context as update_context
from typed_nnx._graph.verify import set_verify_records as set_verify_records
from typed_nnx._graph.views import view as view
from typed_nnx._graph.views import view_info as view_info
from typed_nnx._graph.views import with_attributes as with_attributes
from typed_nnx._graph.walk import map as map
from typed_nnx._graph.walk import recursive_map as recursive_map
from typed_nnx._graph.walk import set_metadata as set_metadata

# -- transforms ------------------------------------------------------------------------------------
from typed_nnx._transforms.axis_metadata import PARTITION_NAME as PARTITION_NAME
from typed_nnx._transforms.checkify import checkify as checkify
from typed_nnx._transforms.conditionals import cond as cond
from typed_nnx._transforms.conditionals import switch as switch
from typed_nnx._transforms.eval_shape import eval_shape as eval_shape
from typed_nnx._transforms.make_jaxpr import make_jaxpr as make_jaxpr
from typed_nnx._transforms.custom_vjp import custom_vjp as custom_vjp
from typed_nnx._transforms.loops import fori_loop as fori_loop
from typed_nnx._transforms.loops import while_loop as while_loop
from typed_nnx._transforms.pmap import pmap as pmap
from typed_nnx._transforms.grad import grad as grad
from typed_nnx._transforms.grad import value_and_grad as value_and_grad
from typed_nnx._transforms.jit import JitWrapped as JitWrapped
from typed_nnx._transforms.jit import jit as jit
from typed_nnx._transforms.partials import cached_partial as cached_partial
from typed_nnx._transforms.partials import jit_partial as jit_partial
from typed_nnx._transforms.jvp import jvp as jvp
from typed_nnx._transforms.prefixes import Carry as Carry
from typed_nnx._transforms.prefixes import DiffState as DiffState
from typed_nnx._transforms.prefixes import StateAxes as StateAxes
from typed_nnx._transforms.prefixes import StateSharding as StateSharding
from typed_nnx._transforms.rng_backups import SplitBackups as SplitBackups
from typed_nnx._transforms.rng_backups import StreamBackup as StreamBackup
from typed_nnx._transforms.rng_backups import backup_keys as backup_keys
from typed_nnx._transforms.rng_backups import backup_rngs as backup_rngs
from typed_nnx._transforms.rng_backups import restore_rngs as restore_rngs
from typed_nnx._transforms.rng_splits import fork_rngs as fork_rngs
from typed_nnx._transforms.rng_splits import split_rngs as split_rngs
from typed_nnx._transforms.shard_map import shard_map as shard_map
from typed_nnx._transforms.transform_metadata import transform_metadata as transform_metadata
from typed_nnx._transforms.remat import remat as remat
from typed_nnx._transforms.scan import scan as scan
from typed_nnx._transforms.vjp import vjp as vjp
from typed_nnx._transforms.vmap import vmap as vmap

# -- layers ----------------------------------------------------------------------------------------
from typed_nnx import nn as nn
from typed_nnx.nn import initializers as initializers
from typed_nnx.nn._pooling import avg_pool as avg_pool
from typed_nnx.nn._pooling import max_pool as max_pool
from typed_nnx.nn._pooling import min_pool as min_pool
from typed_nnx.nn._pooling import pool as pool
from typed_nnx.nn._typing import Initializer as Initializer
from typed_nnx.nn.attention import MultiHeadAttention as MultiHeadAttention
from typed_nnx.nn.attention import combine_masks as combine_masks
from typed_nnx.nn.attention import dot_product_attention as dot_product_attention
from typed_nnx.nn.attention import make_attention_mask as make_attention_mask
from typed_nnx.nn.attention import make_causal_mask as make_causal_mask
from typed_nnx.nn.linear import Conv as Conv
from typed_nnx.nn.linear import ConvTranspose as ConvTranspose
from typed_nnx.nn.linear import Einsum as Einsum
from typed_nnx.nn.linear import Embed as Embed
from typed_nnx.nn.linear import Linear as Linear
from typed_nnx.nn.linear import LinearGeneral as LinearGeneral
from typed_nnx.nn.lora import LoRA as LoRA
from typed_nnx.nn.lora import LoRALinear as LoRALinear
from typed_nnx.nn.normalization import BatchNorm as BatchNorm
from typed_nnx.nn.normalization import GroupNorm as GroupNorm
from typed_nnx.nn.normalization import InstanceNorm as InstanceNorm
from typed_nnx.nn.normalization import LayerNorm as LayerNorm
from typed_nnx.nn.normalization import RMSNorm as RMSNorm
from typed_nnx.nn.normalization import SpectralNorm as SpectralNorm
from typed_nnx.nn.normalization import WeightNorm as WeightNorm
from typed_nnx.nn.recurrent import Bidirectional as Bidirectional
from typed_nnx.nn.recurrent import GRUCell as GRUCell
from typed_nnx.nn.recurrent import LSTMCell as LSTMCell
from typed_nnx.nn.recurrent import OptimizedLSTMCell as OptimizedLSTMCell
from typed_nnx.nn.recurrent import RNN as RNN
from typed_nnx.nn.recurrent import RNNCellBase as RNNCellBase
from typed_nnx.nn.recurrent import SimpleCell as SimpleCell
from typed_nnx.nn.stochastic import Dropout as Dropout

# -- activations -----------------------------------------------------------------------------------
from typed_nnx.nn.activations import celu as celu
from typed_nnx.nn.activations import elu as elu
from typed_nnx.nn.activations import gelu as gelu
from typed_nnx.nn.activations import glu as glu
from typed_nnx.nn.activations import hard_sigmoid as hard_sigmoid
from typed_nnx.nn.activations import hard_silu as hard_silu
from typed_nnx.nn.activations import hard_swish as hard_swish
from typed_nnx.nn.activations import hard_tanh as hard_tanh
from typed_nnx.nn.activations import identity as identity
from typed_nnx.nn.activations import leaky_relu as leaky_relu
from typed_nnx.nn.activations import log_sigmoid as log_sigmoid
from typed_nnx.nn.activations import log_softmax as log_softmax
from typed_nnx.nn.activations import logsumexp as logsumexp
from typed_nnx.nn.activations import one_hot as one_hot
from typed_nnx.nn.activations import PReLU as PReLU
from typed_nnx.nn.activations import relu as relu
from typed_nnx.nn.activations import relu6 as relu6
from typed_nnx.nn.activations import selu as selu
from typed_nnx.nn.activations import sigmoid as sigmoid
from typed_nnx.nn.activations import silu as silu
from typed_nnx.nn.activations import soft_sign as soft_sign
from typed_nnx.nn.activations import softmax as softmax
from typed_nnx.nn.activations import softplus as softplus
from typed_nnx.nn.activations import standardize as standardize
from typed_nnx.nn.activations import swish as swish
from typed_nnx.nn.activations import tanh as tanh

# -- training --------------------------------------------------------------------------------------
from typed_nnx import training as training
from typed_nnx.training import metrics as metrics
from typed_nnx.training import optimizer as optimizer
from typed_nnx.training.ema import EMA as EMA
from typed_nnx.training.metrics import Metric as Metric
from typed_nnx.training.metrics import MultiMetric as MultiMetric
from typed_nnx.training.optimizer import ModelAndOptimizer as ModelAndOptimizer
from typed_nnx.training.optimizer import Optimizer as Optimizer
from typed_nnx.training.train_state import TrainState as TrainState

# -- sharding, summaries, Linen --------------------------------------------------------------------
from typed_nnx import bridge as bridge
from typed_nnx.bridge import wrappers as wrappers
from typed_nnx import spmd as spmd
from typed_nnx import summary as summary
from typed_nnx import visualization as visualization
from typed_nnx.spmd import abstract_with_sharding as abstract_with_sharding
from typed_nnx.spmd import as_abstract as as_abstract
from typed_nnx.spmd import get_abstract_model as get_abstract_model
from typed_nnx.spmd import get_named_sharding as get_named_sharding
from typed_nnx.spmd import get_partition_spec as get_partition_spec
from typed_nnx.spmd import logical_axis_rules as logical_axis_rules
from typed_nnx.spmd import with_partitioning as with_partitioning
from typed_nnx.summary import tabulate as tabulate
from typed_nnx.visualization import display as display

if not TYPE_CHECKING:
    from typed_nnx.compat import older_name as __getattr__  # noqa: F401  # Python calls it
