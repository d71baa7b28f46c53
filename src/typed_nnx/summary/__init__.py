"""``nnx.summary``: `tabulate` and what its rows are made of, under the name of the module."""

from typed_nnx.summary._calls import ArrayRepr as ArrayRepr
from typed_nnx.summary._calls import CallInfo as CallInfo
from typed_nnx.summary._calls import filter_rng_streams as filter_rng_streams
from typed_nnx.summary._tabulate import tabulate as tabulate
