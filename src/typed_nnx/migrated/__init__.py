"""`typed_nnx.migrated`: what `typed-nnx migrate --linen` and `--haiku` let code use that they wrote.

It is imported where that code says so, and never by `import typed_nnx` alone.
"""

from typed_nnx.migrated._haiku_layers import HaikuBatchNorm as HaikuBatchNorm
from typed_nnx.migrated._haiku_layers import HaikuGRU as HaikuGRU
from typed_nnx.migrated._haiku_layers import HaikuLSTM as HaikuLSTM
from typed_nnx.migrated._haiku_layers import HaikuLSTMState as HaikuLSTMState
from typed_nnx.migrated._haiku_layers import HaikuMLP as HaikuMLP
from typed_nnx.migrated._haiku_layers import HaikuMovingAverage as HaikuMovingAverage
from typed_nnx.migrated._haiku_layers import HaikuMultiHeadAttention as HaikuMultiHeadAttention
from typed_nnx.migrated._haiku_layers import HaikuVanillaRNN as HaikuVanillaRNN
from typed_nnx.migrated._haiku_layers import haiku_dropout as haiku_dropout
from typed_nnx.migrated._haiku_layers import haiku_kernel as haiku_kernel
from typed_nnx.migrated._haiku_layers import haiku_zeros as haiku_zeros
from typed_nnx.migrated._linen_layers import LinenConvLSTMCell as LinenConvLSTMCell
from typed_nnx.migrated._linen_layers import LinenGRUCell as LinenGRUCell
from typed_nnx.migrated._linen_layers import LinenMGUCell as LinenMGUCell
from typed_nnx.migrated._linen_layers import LinenSpectralNorm as LinenSpectralNorm
from typed_nnx.migrated._linen_layers import LinenWeightNorm as LinenWeightNorm
from typed_nnx.migrated._linen_layers import attention_in_its_dtype as attention_in_its_dtype
from typed_nnx.migrated._linen_layers import in_dtype_of_inputs as in_dtype_of_inputs
from typed_nnx.migrated._linen_layers import keep_dtypes as keep_dtypes
from typed_nnx.migrated._linen_layers import with_accepted_arguments as with_accepted_arguments
from typed_nnx.migrated._sizes import KnownSizes as KnownSizes
from typed_nnx.migrated._sizes import construct_later as construct_later
from typed_nnx.migrated._sizes import constructs as constructs
from typed_nnx.migrated._sizes import field_of as field_of
from typed_nnx.migrated._sizes import with_input_sizes as with_input_sizes
from typed_nnx.migrated._variables import HaikuTransformed as HaikuTransformed
from typed_nnx.migrated._variables import OwnParameters as OwnParameters
from typed_nnx.migrated._variables import apply_of as apply_of
from typed_nnx.migrated._variables import apply_with as apply_with
from typed_nnx.migrated._variables import bound_to as bound_to
from typed_nnx.migrated._variables import haiku_transform as haiku_transform
from typed_nnx.migrated._variables import haiku_transform_with_state as haiku_transform_with_state
from typed_nnx.migrated._variables import init_like as init_like
from typed_nnx.migrated._variables import init_with as init_with
from typed_nnx.migrated._variables import init_with_output as init_with_output
from typed_nnx.migrated._variables import made_once as made_once
from typed_nnx.migrated._variables import not_built as not_built
from typed_nnx.migrated._variables import variables_of as variables_of
from typed_nnx.migrated._variables import with_parameters as with_parameters
