"""``nnx.compat``: functions over object graphs in any mode, and older public names.

``nnx.compat.split`` is ``nnx.split`` with ``graph=True``, and so on. Each older name warns once,
when it is first looked up, and says what took its place.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

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


def _over_graphs(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function for object graphs, whatever `set_graph_mode` says."""
    return functools.partial(function, graph=True)


def _updating_graphs(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a transform of functions that may change the structure of object graphs."""
    return functools.partial(function, graph=True, graph_updates=True)


if not TYPE_CHECKING:  # for type checkers they are the functions themselves: the calls are the same
    split = _over_graphs(split)
    state = _over_graphs(state)
    clone = _over_graphs(clone)
    graphdef = _over_graphs(graphdef)
    flatten = _over_graphs(flatten)
    iter_graph = _over_graphs(iter_graph)
    iter_children = _over_graphs(iter_children)
    iter_modules = _over_graphs(iter_modules)
    recursive_map = _over_graphs(recursive_map)
    view = _over_graphs(view)
    view_info = _over_graphs(view_info)
    reseed = _over_graphs(reseed)
    backup_keys = _over_graphs(backup_keys)
    get_abstract_model = _over_graphs(get_abstract_model)

    split_rngs = _updating_graphs(split_rngs)
    fork_rngs = _updating_graphs(fork_rngs)
    cached_partial = _updating_graphs(cached_partial)
    jit = _updating_graphs(jit)
    shard_map = _updating_graphs(shard_map)
    grad = _updating_graphs(grad)
    value_and_grad = _updating_graphs(value_and_grad)
    custom_vjp = _updating_graphs(custom_vjp)
    vjp = _updating_graphs(vjp)
    jvp = _updating_graphs(jvp)
    remat = _updating_graphs(remat)
    vmap = _updating_graphs(vmap)
    scan = _updating_graphs(scan)
    pmap = _updating_graphs(pmap)
    while_loop = _updating_graphs(while_loop)
    fori_loop = _updating_graphs(fori_loop)
    eval_shape = _updating_graphs(eval_shape)
    cond = _updating_graphs(cond)
    switch = _updating_graphs(switch)
    checkify = _updating_graphs(checkify)


def _sequence(functions: Any) -> Sequential:
    """Make a `Sequential` of a list of callables, as ``nnx.Sequence`` did."""
    return Sequential(*functions)


_OLDER: dict[str, tuple[Any, str]] = {
    "VariableState": (Variable, "nnx.Variable"),
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
        message = f"module 'typed_nnx' has no attribute {name!r}"
        raise AttributeError(message)  # for `__getattr__` of the module
    value, successor = _OLDER[name]
    if name not in _warned:
        _warned.add(name)
        warnings.warn(
            f"nnx.{name} is an older name; use {successor}", DeprecationWarning, stacklevel=3
        )
    return value
