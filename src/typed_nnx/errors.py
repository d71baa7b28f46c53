"""Every exception of the package, in one public place.

The arguments of an exception are the facts; its text is written once, by its ``__str__``.
"""

# -- Variables -------------------------------------------------------------------------------------
from typed_nnx._errors.variables import FixedMetadataError as FixedMetadataError
from typed_nnx._errors.variables import IncompatibleVariableError as IncompatibleVariableError
from typed_nnx._errors.variables import MeshRequiredError as MeshRequiredError
from typed_nnx._errors.variables import RefInVariableError as RefInVariableError
from typed_nnx._errors.variables import UnhashableMetadataError as UnhashableMetadataError
from typed_nnx._errors.variables import VariableAttributeError as VariableAttributeError
from typed_nnx._errors.variables import VariableNameError as VariableNameError

# -- Pytrees and Modules ---------------------------------------------------------------------------
from typed_nnx._errors.mutation import TraceLevelError as TraceLevelError
from typed_nnx._errors.pytrees import DataInStaticError as DataInStaticError
from typed_nnx._errors.pytrees import ForeignAttributeError as ForeignAttributeError
from typed_nnx._errors.pytrees import MisplacedMarkError as MisplacedMarkError
from typed_nnx._errors.pytrees import StaticAttributeError as StaticAttributeError
from typed_nnx._errors.pytrees import StaticMarkError as StaticMarkError
from typed_nnx._errors.pytrees import UnexpectedDataError as UnexpectedDataError
from typed_nnx._errors.pytrees import UnhashableStaticError as UnhashableStaticError
from typed_nnx._errors.modules import AttributesNotFoundError as AttributesNotFoundError
from typed_nnx._errors.modules import VariableTypeError as VariableTypeError

# -- random numbers --------------------------------------------------------------------------------
from typed_nnx._errors.random_numbers import AmbiguousStreamError as AmbiguousStreamError
from typed_nnx._errors.random_numbers import InvalidRngSplitError as InvalidRngSplitError
from typed_nnx._errors.random_numbers import InvalidSeedError as InvalidSeedError
from typed_nnx._errors.random_numbers import KeyShapeError as KeyShapeError
from typed_nnx._errors.random_numbers import ReseedPolicyError as ReseedPolicyError
from typed_nnx._errors.random_numbers import ReseedShapeError as ReseedShapeError
from typed_nnx._errors.random_numbers import StreamNotFoundError as StreamNotFoundError

# -- filters ---------------------------------------------------------------------------------------
from typed_nnx._errors.filters import FilterOrderError as FilterOrderError
from typed_nnx._errors.filters import InvalidFilterError as InvalidFilterError
from typed_nnx._errors.filters import MissingFilterError as MissingFilterError
from typed_nnx._errors.filters import NoFilterMatchedError as NoFilterMatchedError

# -- States ----------------------------------------------------------------------------------------
from typed_nnx._errors.states import GraphStateError as GraphStateError
from typed_nnx._errors.states import StateKeyError as StateKeyError
from typed_nnx._errors.states import StateMismatchError as StateMismatchError
from typed_nnx._errors.states import UnknownPathError as UnknownPathError
from typed_nnx._errors.states import UpdateTypeError as UpdateTypeError

# -- object graphs ---------------------------------------------------------------------------------
from typed_nnx._errors.graphs import ContainerCycleError as ContainerCycleError
from typed_nnx._errors.graphs import DuplicatePathsError as DuplicatePathsError
from typed_nnx._errors.graphs import ImmutableNodeError as ImmutableNodeError
from typed_nnx._errors.graphs import PrefixConflictError as PrefixConflictError
from typed_nnx._errors.graphs import SharedReferenceError as SharedReferenceError
from typed_nnx._errors.graphs import StaleRecordError as StaleRecordError
from typed_nnx._errors.graphs import UnregisteredPytreeError as UnregisteredPytreeError
from typed_nnx._errors.graphs import UpdateContextError as UpdateContextError

# -- transforms ------------------------------------------------------------------------------------
from typed_nnx._errors.transforms import ForeignModuleError as ForeignModuleError
from typed_nnx._errors.transforms import StructureChangedError as StructureChangedError
from typed_nnx._errors.transforms import StaticModuleError as StaticModuleError
from typed_nnx._errors.transforms import UnhashableArgumentError as UnhashableArgumentError
from typed_nnx._errors.transforms_mapping import AxisSizeError as AxisSizeError
from typed_nnx._errors.transforms_mapping import PrefixKindError as PrefixKindError
from typed_nnx._errors.transforms_mapping import PrefixStructureError as PrefixStructureError
from typed_nnx._errors.transforms_mapping import ReplicatedChangedError as ReplicatedChangedError
from typed_nnx._errors.transforms import ArgumentOutOfRangeError as ArgumentOutOfRangeError
from typed_nnx._errors.transforms import BroadcastChangedError as BroadcastChangedError
from typed_nnx._errors.transforms import PartitionNameError as PartitionNameError
from typed_nnx._errors.transforms import PrefixLengthError as PrefixLengthError
from typed_nnx._errors.transforms import ReturnedInputError as ReturnedInputError
from typed_nnx._errors.transforms import DeletedArrayError as DeletedArrayError
from typed_nnx._errors.transforms import DonatedAliasError as DonatedAliasError
from typed_nnx._errors.rng_splits import InvalidSplitsError as InvalidSplitsError
from typed_nnx._errors.rng_splits import SqueezeError as SqueezeError

# -- control flow ----------------------------------------------------------------------------------
from typed_nnx._errors.control_flow import BranchMismatchError as BranchMismatchError
from typed_nnx._errors.control_flow import CarryStructureError as CarryStructureError
from typed_nnx._errors.control_flow import CarryTypeError as CarryTypeError
from typed_nnx._errors.control_flow import ConditionChangedError as ConditionChangedError
from typed_nnx._errors.control_flow import ScanAxesError as ScanAxesError

# -- stages ----------------------------------------------------------------------------------------
from typed_nnx._errors.stages import CompiledCallError as CompiledCallError
from typed_nnx._errors.stages import NotJittedError as NotJittedError

# -- derivatives -----------------------------------------------------------------------------------
from typed_nnx._errors.autodiff import ArgnumsError as ArgnumsError
from typed_nnx._errors.autodiff import AuxResultError as AuxResultError
from typed_nnx._errors.autodiff import DifferentiatedInputError as DifferentiatedInputError
from typed_nnx._errors.autodiff import MissingRuleError as MissingRuleError
from typed_nnx._errors.autodiff import NoDerivativeError as NoDerivativeError
from typed_nnx._errors.autodiff import NonScalarLossError as NonScalarLossError
from typed_nnx._errors.autodiff import RuleResultError as RuleResultError
from typed_nnx._errors.autodiff import TangentStructureError as TangentStructureError

# -- layers ----------------------------------------------------------------------------------------
from typed_nnx._errors.layers import InexactDtypeError as InexactDtypeError
from typed_nnx._errors.layers import LayerArgumentError as LayerArgumentError
from typed_nnx._errors.layers import LayerInputError as LayerInputError
from typed_nnx._errors.layers import RngsTypeError as RngsTypeError
from typed_nnx._errors.layers import UnsetModeError as UnsetModeError
from typed_nnx._errors.recurrent import AbstractCellError as AbstractCellError

# -- training --------------------------------------------------------------------------------------
from typed_nnx._errors.training import AbstractMetricError as AbstractMetricError
from typed_nnx._errors.training import ChangedModelError as ChangedModelError
from typed_nnx._errors.training import ChangedOptStateError as ChangedOptStateError
from typed_nnx._errors.training import ChangedShapeError as ChangedShapeError
from typed_nnx._errors.training import LabelsError as LabelsError
from typed_nnx._errors.training import MaskedNumberError as MaskedNumberError
from typed_nnx._errors.training import MetricArgumentError as MetricArgumentError
from typed_nnx._errors.training import MetricNameError as MetricNameError
from typed_nnx._errors.training import MissingArgumentError as MissingArgumentError
from typed_nnx._errors.training import NoModelError as NoModelError
from typed_nnx._errors.training import NotAStateError as NotAStateError
from typed_nnx._errors.training import NotAveragedError as NotAveragedError
from typed_nnx._errors.training import SwappedArgumentsError as SwappedArgumentsError
from typed_nnx._errors.training import ThresholdError as ThresholdError
from typed_nnx._errors.training import TransformationError as TransformationError
from typed_nnx._errors.training import UnmatchedLeavesError as UnmatchedLeavesError

# -- checkpoints -----------------------------------------------------------------------------------
from typed_nnx._errors.checkpoints import CheckpointDamagedError as CheckpointDamagedError
from typed_nnx._errors.checkpoints import CheckpointError as CheckpointError
from typed_nnx._errors.checkpoints import CheckpointExistsError as CheckpointExistsError
from typed_nnx._errors.checkpoints import CheckpointLeafError as CheckpointLeafError
from typed_nnx._errors.checkpoints import CheckpointMismatchError as CheckpointMismatchError
from typed_nnx._errors.checkpoints import CheckpointNotFoundError as CheckpointNotFoundError
from typed_nnx._errors.checkpoints import CheckpointSaveError as CheckpointSaveError

# -- sharding, summaries -----------------------------------------------------------------------------
from typed_nnx._errors.sharding import InconsistentAxisRulesError as InconsistentAxisRulesError
from typed_nnx._errors.sharding import InvalidAxisRulesError as InvalidAxisRulesError
from typed_nnx._errors.sharding import MissingPartitionNameError as MissingPartitionNameError
from typed_nnx._errors.sharding import UnknownMeshAxisError as UnknownMeshAxisError
from typed_nnx._errors.summary import MethodNotFoundError as MethodNotFoundError
from typed_nnx._errors.summary import MissingPackageError as MissingPackageError
from typed_nnx._errors.summary import NotTabulatedError as NotTabulatedError

# -- bridge ----------------------------------------------------------------------------------------
from typed_nnx._errors.bridge import BridgeMethodError as BridgeMethodError
from typed_nnx._errors.bridge import BridgeRngsError as BridgeRngsError
from typed_nnx._errors.bridge import BridgeVariableError as BridgeVariableError
from typed_nnx._errors.bridge import CollectionNameError as CollectionNameError
from typed_nnx._errors.bridge import DuplicateVariableError as DuplicateVariableError
from typed_nnx._errors.bridge import FlaxNnxInUseError as FlaxNnxInUseError
from typed_nnx._errors.bridge import FlaxRequiredError as FlaxRequiredError
from typed_nnx._errors.bridge import FunctionalInitError as FunctionalInitError
from typed_nnx._errors.bridge import LazyInitError as LazyInitError
from typed_nnx._errors.bridge import LinenBoxError as LinenBoxError
from typed_nnx._errors.bridge import ReservedNameError as ReservedNameError
from typed_nnx._errors.bridge import UnboundModuleError as UnboundModuleError
