"""``nnx.summary``: `tabulate` and what its rows are made of, under the name of the module."""

from typed_nnx._summary.call_info import CallInfo as CallInfo
from typed_nnx._summary.call_info import filter_rng_streams as filter_rng_streams
from typed_nnx._summary.descriptions import ArrayRepr as ArrayRepr
from typed_nnx._summary.tabulate import tabulate as tabulate
