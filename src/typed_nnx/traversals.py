"""``nnx.traversals``: nested mappings and flat ones, under the name of their module."""

from typed_nnx._core.flat_mappings import IsLeaf as IsLeafCallable
from typed_nnx._core.flat_mappings import empty_node as empty_node
from typed_nnx._core.flat_mappings import flatten_mapping as flatten_mapping
from typed_nnx._core.flat_mappings import flatten_to_sequence as flatten_to_sequence
from typed_nnx._core.flat_mappings import unflatten_mapping as unflatten_mapping

__all__ = [
    "IsLeafCallable",
    "empty_node",
    "flatten_mapping",
    "flatten_to_sequence",
    "unflatten_mapping",
]
