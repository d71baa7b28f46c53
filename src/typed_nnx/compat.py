"""Older public names that real code still uses, and ``nnx.compat.*``, the graph-mode functions.

Each older name warns once, when it is first looked up, and says what took its place.
"""

from __future__ import annotations

import warnings
from typing import Any

from typed_nnx._core.list_module import List
from typed_nnx._core.module import iter_modules as iter_modules
from typed_nnx._core.references import ArrayRef, array_ref
from typed_nnx._core.sequential import Sequential
from typed_nnx._core.variable_state import VariableState
from typed_nnx._core.walk import iter_children as iter_children
from typed_nnx._core.walk import iter_graph as iter_graph
from typed_nnx._graph.flatten import flatten as flatten
from typed_nnx._graph.flatten import unflatten as unflatten
from typed_nnx._graph.graphdef import GraphDef
from typed_nnx._graph.references import to_arrays, to_refs
from typed_nnx._graph.rng_functions import reseed as reseed
from typed_nnx._graph.split_merge import clone as clone
from typed_nnx._graph.split_merge import graphdef as graphdef
from typed_nnx._graph.split_merge import merge as merge
from typed_nnx._graph.split_merge import split as split
from typed_nnx._graph.split_merge import state as state
from typed_nnx._graph.split_merge import unpack as unpack
from typed_nnx._graph.views import view as view
from typed_nnx._graph.views import with_attributes as with_attributes
from typed_nnx._graph.walk import recursive_map as recursive_map


def _sequence(functions: Any) -> Sequential:
    """Make a `Sequential` of a list of callables, as ``nnx.Sequence`` did."""
    return Sequential(*functions)


_OLDER: dict[str, tuple[Any, str]] = {
    "VariableState": (VariableState, "nnx.Variable"),
    "Sequence": (_sequence, "nnx.Sequential(*layers)"),
    "ModuleDef": (GraphDef, "nnx.GraphDef"),
    "ModuleList": (List, "nnx.List"),
    "mutable_array": (array_ref, "nnx.array_ref"),
    "MutableArray": (ArrayRef, "nnx.ArrayRef"),
    "mutable": (to_refs, "nnx.to_refs"),
    "freeze": (to_arrays, "nnx.to_arrays"),
}

_warned: set[str] = set()


def older_name(name: str) -> Any:
    """Return what an older name of ``typed_nnx`` stands for, with a warning at its first use.

    Raises:
        AttributeError: There is no such name, old or new.
    """
    if name not in _OLDER:
        raise AttributeError(f"module 'typed_nnx' has no attribute {name!r}")
    value, successor = _OLDER[name]
    if name not in _warned:
        _warned.add(name)
        warnings.warn(
            f"nnx.{name} is an older name; use {successor}", DeprecationWarning, stacklevel=3
        )
    return value
