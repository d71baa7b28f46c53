"""``nnx.compat``: functions over object graphs in any mode, and older public names.

``nnx.compat.split`` is ``nnx.split`` with ``graph=True``, and so on. Each older name warns once,
when it is first looked up, and says what took its place.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

from typed_nnx._core import module, walk
from typed_nnx._core.list_module import List
from typed_nnx._core.references import ArrayRef, array_ref
from typed_nnx._core.sequential import Sequential
from typed_nnx._core.variable_state import VariableState
from typed_nnx._graph import flatten as flattening
from typed_nnx._graph import rng_functions, split_merge, views
from typed_nnx._graph import walk as graph_walk
from typed_nnx._graph.flatten import unflatten as unflatten
from typed_nnx._graph.graphdef import GraphDef
from typed_nnx._graph.references import to_arrays, to_refs
from typed_nnx._graph.split_merge import merge as merge
from typed_nnx._graph.split_merge import unpack as unpack
from typed_nnx._graph.views import with_attributes as with_attributes
from typed_nnx._transforms import (
    abstract_models,
    conditionals,
    loops,
    partials,
    rng_backups,
    rng_splits,
)
from typed_nnx._transforms import (
    checkify as checks,
)
from typed_nnx._transforms import (
    custom_vjp as custom,
)
from typed_nnx._transforms import (
    eval_shape as shapes,
)
from typed_nnx._transforms import (
    grad as gradients,
)
from typed_nnx._transforms import (
    jit as jitting,
)
from typed_nnx._transforms import (
    jvp as forward,
)
from typed_nnx._transforms import (
    pmap as devices,
)
from typed_nnx._transforms import (
    remat as recomputing,
)
from typed_nnx._transforms import (
    scan as scanning,
)
from typed_nnx._transforms import (
    shard_map as sharding,
)
from typed_nnx._transforms import (
    vjp as reverse,
)
from typed_nnx._transforms import (
    vmap as mapping,
)

F = TypeVar("F", bound=Callable[..., Any])


def _over_graphs(function: F) -> F:
    """Return a function for object graphs, whatever `set_graph_mode` says."""
    return functools.partial(function, graph=True)  # type: ignore[return-value]  # the same calls


def _updating_graphs(function: F) -> F:
    """Return a transform of functions that may change the structure of object graphs."""
    return functools.partial(function, graph=True, graph_updates=True)  # type: ignore[return-value]  # the same calls


split = _over_graphs(split_merge.split)
state = _over_graphs(split_merge.state)
clone = _over_graphs(split_merge.clone)
graphdef = _over_graphs(split_merge.graphdef)
flatten = _over_graphs(flattening.flatten)
iter_graph = _over_graphs(walk.iter_graph)
iter_children = _over_graphs(walk.iter_children)
iter_modules = _over_graphs(module.iter_modules)
recursive_map = _over_graphs(graph_walk.recursive_map)
view = _over_graphs(views.view)
view_info = _over_graphs(views.view_info)
reseed = _over_graphs(rng_functions.reseed)
backup_keys = _over_graphs(rng_backups.backup_keys)
get_abstract_model = _over_graphs(abstract_models.get_abstract_model)

split_rngs = _updating_graphs(rng_splits.split_rngs)
fork_rngs = _updating_graphs(rng_splits.fork_rngs)
cached_partial = _updating_graphs(partials.cached_partial)
jit = _updating_graphs(jitting.jit)
shard_map = _updating_graphs(sharding.shard_map)
grad = _updating_graphs(gradients.grad)
value_and_grad = _updating_graphs(gradients.value_and_grad)
custom_vjp = _updating_graphs(custom.custom_vjp)
vjp = _updating_graphs(reverse.vjp)
jvp = _updating_graphs(forward.jvp)
remat = _updating_graphs(recomputing.remat)
vmap = _updating_graphs(mapping.vmap)
scan = _updating_graphs(scanning.scan)
pmap = _updating_graphs(devices.pmap)
while_loop = _updating_graphs(loops.while_loop)
fori_loop = _updating_graphs(loops.fori_loop)
eval_shape = _updating_graphs(shapes.eval_shape)
cond = _updating_graphs(conditionals.cond)
switch = _updating_graphs(conditionals.switch)
checkify = _updating_graphs(checks.checkify)


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
