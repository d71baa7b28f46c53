"""``nnx.graphlib``: the functions over object graphs under the name of their module."""

from typed_nnx._core.jax_runtime import ArrayRef as ArrayRef
from typed_nnx._core.jax_runtime import array_ref as array_ref
from typed_nnx._core.jax_runtime import is_array_ref as is_array_ref
from typed_nnx._core.modules import HA as HA
from typed_nnx._core.modules import HB as HB
from typed_nnx._core.modules import A as A
from typed_nnx._core.modules import AuxData as AuxData
from typed_nnx._core.modules import B as B
from typed_nnx._core.modules import C as C
from typed_nnx._core.modules import F as F
from typed_nnx._core.modules import KeyT as KeyT
from typed_nnx._core.modules import Leaf as Leaf
from typed_nnx._core.modules import Node as Node
from typed_nnx._core.modules import V as V
from typed_nnx._core.modules import iter_module_children as iter_module_children
from typed_nnx._core.nodes import GraphNode as GraphNode
from typed_nnx._core.nodes import is_node as is_node
from typed_nnx._core.paths import Key as Key
from typed_nnx._core.paths import Path as PathParts
from typed_nnx._core.paths import jax_to_nnx_path as jax_to_nnx_path
from typed_nnx._core.state import FlatState as FlatState
from typed_nnx._core.state import State as State
from typed_nnx._core.state import map_state as map_state
from typed_nnx._core.variable import Variable as Variable
from typed_nnx._graph.context import IndexMap as IndexMap
from typed_nnx._graph.context import MergeContext as MergeContext
from typed_nnx._graph.context import RefMap as RefMap
from typed_nnx._graph.context import SplitContext as SplitContext
from typed_nnx._graph.context import UpdateContext as UpdateContext
from typed_nnx._graph.context import UpdateContextManager as UpdateContextManager
from typed_nnx._graph.context import current_update_context as current_update_context
from typed_nnx._graph.context import flatten as flatten
from typed_nnx._graph.context import merge_context as merge_context
from typed_nnx._graph.context import split_context as split_context
from typed_nnx._graph.context import unflatten as unflatten
from typed_nnx._graph.context import update_context as update_context
from typed_nnx._graph.graphdef import GraphDef as GraphDef
from typed_nnx._graph.graphdef import GraphState as GraphState
from typed_nnx._graph.graphdef import NodeDef as NodeDef
from typed_nnx._graph.graphdef import NodeDefType as NodeDefType
from typed_nnx._graph.graphdef import NodeRef as NodeRef
from typed_nnx._graph.graphdef import PureState as PureState
from typed_nnx._graph.graphdef import TreeNodeDef as TreeNodeDef
from typed_nnx._graph.graphdef import VariableDef as VariableDef
from typed_nnx._graph.mode import find_duplicates as find_duplicates
from typed_nnx._graph.mode import set_graph_mode as set_graph_mode
from typed_nnx._graph.mode import set_graph_updates as set_graph_updates
from typed_nnx._graph.split import as_pure as as_pure
from typed_nnx._graph.split import call as call
from typed_nnx._graph.split import clone as clone
from typed_nnx._graph.split import graphdef as graphdef
from typed_nnx._graph.split import merge as merge
from typed_nnx._graph.split import pure as pure
from typed_nnx._graph.split import split as split
from typed_nnx._graph.split import state as state
from typed_nnx._graph.split import unpack as unpack
from typed_nnx._graph.split import variables as variables
from typed_nnx._graph.tree import is_graph_object as is_graph_node
from typed_nnx._graph.update import pop as pop
from typed_nnx._graph.update import update as update
from typed_nnx._graph.walk import iter_children as iter_children
from typed_nnx._graph.walk import iter_graph as iter_graph
from typed_nnx._graph.walk import map as map  # noqa: A004  # the public name
from typed_nnx._graph.walk import recursive_map as recursive_map
from typed_nnx._graph.walk import set_metadata as set_metadata
from typed_nnx._graph.walk import to_arrays as to_arrays
from typed_nnx._graph.walk import to_refs as to_refs
from typed_nnx._graph.walk import vars_as as vars_as
from typed_nnx._graph.walk import with_vars as with_vars
from typed_nnx._transforms.cached_partial import cached_partial as cached_partial

__all__ = [
    "A",
    "ArrayRef",
    "AuxData",
    "B",
    "C",
    "F",
    "FlatState",
    "GraphDef",
    "GraphNode",
    "GraphState",
    "HA",
    "HB",
    "IndexMap",
    "Key",
    "KeyT",
    "Leaf",
    "MergeContext",
    "Node",
    "NodeDef",
    "NodeDefType",
    "NodeRef",
    "PathParts",
    "PureState",
    "RefMap",
    "SplitContext",
    "State",
    "TreeNodeDef",
    "UpdateContext",
    "UpdateContextManager",
    "V",
    "Variable",
    "VariableDef",
    "array_ref",
    "as_pure",
    "cached_partial",
    "call",
    "clone",
    "current_update_context",
    "find_duplicates",
    "flatten",
    "graphdef",
    "is_array_ref",
    "is_graph_node",
    "is_node",
    "iter_children",
    "iter_graph",
    "iter_module_children",
    "jax_to_nnx_path",
    "map",
    "map_state",
    "merge",
    "merge_context",
    "pop",
    "pure",
    "recursive_map",
    "set_graph_mode",
    "set_graph_updates",
    "set_metadata",
    "split",
    "split_context",
    "state",
    "to_arrays",
    "to_refs",
    "unflatten",
    "unpack",
    "update",
    "update_context",
    "variables",
    "vars_as",
    "with_vars",
]
