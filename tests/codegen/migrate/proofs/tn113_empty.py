# stays: `nnx.Empty` is gone
from flax import nnx  # typed-nnx: keep TN101


def is_empty(value):
    return isinstance(value, nnx.Empty)
