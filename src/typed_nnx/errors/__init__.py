"""Every exception of the package.

The arguments of an exception are the facts: they are its attributes, and its text is made of them.
"""

# -- any function ----------------------------------------------------------------------------------
from typed_nnx.errors._base_error import Error as Error
from typed_nnx.errors._graph_errors import ArgumentError as ArgumentError
from typed_nnx.errors._graph_errors import ArgumentTypeError as ArgumentTypeError

# -- Variables -------------------------------------------------------------------------------------
from typed_nnx.errors._graph_errors import TraceLevelError as TraceLevelError
from typed_nnx.errors._graph_errors import VariableAttributeError as VariableAttributeError
from typed_nnx.errors._graph_errors import VariableError as VariableError

# -- Pytrees and Modules ---------------------------------------------------------------------------
from typed_nnx.errors._graph_errors import AttributesNotFoundError as AttributesNotFoundError
from typed_nnx.errors._graph_errors import ForeignModuleError as ForeignModuleError
from typed_nnx.errors._graph_errors import PytreeAttributeError as PytreeAttributeError
from typed_nnx.errors._graph_errors import UnhashableError as UnhashableError

# -- random numbers --------------------------------------------------------------------------------
from typed_nnx.errors._graph_errors import KeyShapeError as KeyShapeError
from typed_nnx.errors._graph_errors import StreamNotFoundError as StreamNotFoundError

# -- filters and States ----------------------------------------------------------------------------
from typed_nnx.errors._graph_errors import InvalidFilterError as InvalidFilterError
from typed_nnx.errors._graph_errors import NoFilterMatchedError as NoFilterMatchedError
from typed_nnx.errors._graph_errors import StateKeyError as StateKeyError
from typed_nnx.errors._graph_errors import StateMismatchError as StateMismatchError
from typed_nnx.errors._graph_errors import UnknownPathError as UnknownPathError

# -- object graphs ---------------------------------------------------------------------------------
from typed_nnx.errors._graph_errors import GraphError as GraphError
from typed_nnx.errors._graph_errors import PrefixConflictError as PrefixConflictError
from typed_nnx.errors._graph_errors import SharedReferenceError as SharedReferenceError
from typed_nnx.errors._graph_errors import StaleRecordError as StaleRecordError

# -- transforms ------------------------------------------------------------------------------------
from typed_nnx.errors._transform_errors import AxisSizeError as AxisSizeError
from typed_nnx.errors._transform_errors import BranchMismatchError as BranchMismatchError
from typed_nnx.errors._transform_errors import BroadcastChangedError as BroadcastChangedError
from typed_nnx.errors._transform_errors import CarryTypeError as CarryTypeError
from typed_nnx.errors._transform_errors import CompiledCallError as CompiledCallError
from typed_nnx.errors._transform_errors import ExportError as ExportError
from typed_nnx.errors._transform_errors import DonationError as DonationError
from typed_nnx.errors._transform_errors import PrefixError as PrefixError
from typed_nnx.errors._transform_errors import StructureChangedError as StructureChangedError

# -- derivatives -----------------------------------------------------------------------------------
from typed_nnx.errors._transform_errors import MissingRuleError as MissingRuleError
from typed_nnx.errors._transform_errors import ResultError as ResultError
from typed_nnx.errors._transform_errors import TangentStructureError as TangentStructureError

# -- sharding --------------------------------------------------------------------------------------
from typed_nnx.errors._transform_errors import MeshRequiredError as MeshRequiredError
from typed_nnx.errors._transform_errors import ShardingError as ShardingError
from typed_nnx.errors._transform_errors import UnknownMeshAxisError as UnknownMeshAxisError

# -- layers ----------------------------------------------------------------------------------------
from typed_nnx.errors._layer_errors import AbstractMethodError as AbstractMethodError
from typed_nnx.errors._layer_errors import LayerArgumentError as LayerArgumentError
from typed_nnx.errors._layer_errors import LayerInputError as LayerInputError
from typed_nnx.errors._layer_errors import RngsTypeError as RngsTypeError
from typed_nnx.errors._layer_errors import UnsetModeError as UnsetModeError

# -- training --------------------------------------------------------------------------------------
from typed_nnx.errors._training_errors import ChangedModelError as ChangedModelError
from typed_nnx.errors._training_errors import OptimizerError as OptimizerError

# -- checkpoints -----------------------------------------------------------------------------------
from typed_nnx.errors._training_errors import CheckpointDamagedError as CheckpointDamagedError
from typed_nnx.errors._training_errors import CheckpointError as CheckpointError
from typed_nnx.errors._training_errors import CheckpointExistsError as CheckpointExistsError
from typed_nnx.errors._training_errors import CheckpointLeafError as CheckpointLeafError
from typed_nnx.errors._training_errors import CheckpointMismatchError as CheckpointMismatchError
from typed_nnx.errors._training_errors import CheckpointNotFoundError as CheckpointNotFoundError
from typed_nnx.errors._training_errors import CheckpointSaveError as CheckpointSaveError

# -- packages, summaries, bridge -------------------------------------------------------------------
from typed_nnx.errors._training_errors import MethodNotFoundError as MethodNotFoundError
from typed_nnx.errors._training_errors import MissingPackageError as MissingPackageError
from typed_nnx.errors._training_errors import BridgeError as BridgeError
from typed_nnx.errors._training_errors import FlaxNnxInUseError as FlaxNnxInUseError
from typed_nnx.errors._training_errors import LazyInitError as LazyInitError
from typed_nnx.errors._training_errors import ReservedNameError as ReservedNameError
