"""``nnx.compat``: functions over object graphs in any mode, and older public names.

``nnx.compat.split`` is ``nnx.split`` with ``graph=True``, and so on. Each older name warns once,
when it is first looked up, and says what took its place.
"""

from __future__ import annotations

import functools
import warnings
from typing import Any

from typed_nnx._core.containers import List, Sequential
from typed_nnx._core.jax_runtime import ArrayRef, array_ref
from typed_nnx._core.modules import iter_modules as iter_modules
from typed_nnx._core.variable import Variable
from typed_nnx._graph.context import flatten as flatten
from typed_nnx._graph.context import unflatten as unflatten
from typed_nnx._graph.graphdef import GraphDef
from typed_nnx._graph.rng_splits import backup_keys as backup_keys
from typed_nnx._graph.rng_splits import fork_rngs as fork_rngs
from typed_nnx._graph.rng_splits import reseed as reseed
from typed_nnx._graph.rng_splits import split_rngs as split_rngs
from typed_nnx._graph.split import clone as clone
from typed_nnx._graph.split import graphdef as graphdef
from typed_nnx._graph.split import merge as merge
from typed_nnx._graph.split import split as split
from typed_nnx._graph.split import state as state
from typed_nnx._graph.split import unpack as unpack
from typed_nnx._graph.views import view as view
from typed_nnx._graph.views import view_info as view_info
from typed_nnx._graph.views import with_attributes as with_attributes
from typed_nnx._graph.walk import iter_children as iter_children
from typed_nnx._graph.walk import iter_graph as iter_graph
from typed_nnx._graph.walk import recursive_map as recursive_map
from typed_nnx._graph.walk import to_arrays, to_refs
from typed_nnx._transforms.cached_partial import cached_partial as cached_partial
from typed_nnx._transforms.conditionals import cond as cond
from typed_nnx._transforms.conditionals import switch as switch
from typed_nnx._transforms.custom_vjp import custom_vjp as custom_vjp
from typed_nnx._transforms.eval_shape import eval_shape as eval_shape
from typed_nnx._transforms.eval_shape import get_abstract_model as get_abstract_model
from typed_nnx._transforms.grad import grad as grad
from typed_nnx._transforms.grad import value_and_grad as value_and_grad
from typed_nnx._transforms.jit import jit as jit
from typed_nnx._transforms.loops import fori_loop as fori_loop
from typed_nnx._transforms.loops import while_loop as while_loop
from typed_nnx._transforms.make_jaxpr import checkify as checkify
from typed_nnx._transforms.remat import remat as remat
from typed_nnx._transforms.scan import scan as scan
from typed_nnx._transforms.shard_map import shard_map as shard_map
from typed_nnx._transforms.vjp import jvp as jvp
from typed_nnx._transforms.vjp import vjp as vjp
from typed_nnx._transforms.vmap import pmap as pmap
from typed_nnx._transforms.vmap import vmap as vmap

# For type checkers they are the functions themselves: the calls are the same.
_OF_GRAPHS = (
    "split", "state", "clone", "graphdef", "flatten", "iter_graph", "iter_children", "iter_modules",
    "recursive_map", "view", "view_info", "reseed", "backup_keys", "get_abstract_model",
)  # fmt: skip
_UPDATING_GRAPHS = (
    "split_rngs", "fork_rngs", "cached_partial", "jit", "shard_map", "grad", "value_and_grad",
    "custom_vjp", "vjp", "jvp", "remat", "vmap", "scan", "pmap", "while_loop", "fori_loop",
    "eval_shape", "cond", "switch", "checkify",
)  # fmt: skip

for _name in (*_OF_GRAPHS, *_UPDATING_GRAPHS):
    _updates = {"graph_updates": True} if _name in _UPDATING_GRAPHS else {}
    globals()[_name] = functools.partial(globals()[_name], graph=True, **_updates)


_OLDER: dict[str, tuple[Any, str]] = {
    "VariableState": (Variable, "nnx.Variable"),
    "Sequence": (lambda functions: Sequential(*functions), "nnx.Sequential(*layers)"),
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
        message = f"module 'typed_nnx' has no attribute {name!r}"
        raise AttributeError(message)  # for `__getattr__` of the module
    value, successor = _OLDER[name]
    if name not in _warned:
        _warned.add(name)
        warnings.warn(
            f"nnx.{name} is an older name; use {successor}", DeprecationWarning, stacklevel=3
        )
    return value
