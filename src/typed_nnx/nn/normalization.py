"""``nnx.nn.normalization``: layers that bring their inputs, or their kernels, to a known scale."""

from typed_nnx._core.module import Module as Module
from typed_nnx.nn._batch_norm import BatchNorm as BatchNorm
from typed_nnx.nn._group_norm import GroupNorm as GroupNorm
from typed_nnx.nn._instance_norm import InstanceNorm as InstanceNorm
from typed_nnx.nn._layer_norm import LayerNorm as LayerNorm
from typed_nnx.nn._rms_norm import RMSNorm as RMSNorm
from typed_nnx.nn._spectral_norm import SpectralNorm as SpectralNorm
from typed_nnx.nn._typing import Initializer as Initializer
from typed_nnx.nn._weight_norm import WeightNorm as WeightNorm
