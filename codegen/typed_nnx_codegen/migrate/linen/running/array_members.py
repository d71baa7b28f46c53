"""The attributes and methods that arrays have; other attributes of an argument are its fields."""

from __future__ import annotations

from typing import Final

ARRAY_MEMBERS: Final = frozenset(
    {
        *("T", "mT", "all", "any", "argmax", "argmin", "argpartition", "argsort", "astype", "at"),
        *("choose", "clip", "compress", "conj", "conjugate", "copy", "cumprod", "cumsum", "device"),
        *("devices", "diagonal", "dot", "dtype", "flat", "flatten", "imag", "item", "itemsize"),
        *("max", "mean", "min", "nbytes", "ndim", "nonzero", "prod", "ptp", "ravel", "real"),
        *("repeat", "reshape", "round", "searchsorted", "shape", "sharding", "size", "sort"),
        *("squeeze", "std", "sum", "swapaxes", "take", "to_device", "tobytes", "tolist", "trace"),
        *("transpose", "var", "view", "value", "addressable_shards", "block_until_ready"),
    }
)
