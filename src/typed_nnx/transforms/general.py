"""Lifting functions of jax by hand: objects in arguments and results, around and inside of them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, overload

from typed_nnx._core.modules import A as A
from typed_nnx._core.modules import F as F
from typed_nnx._core.settings import MISSING
from typed_nnx._graph.context import update_context
from typed_nnx._graph.tree import clear_non_graph_nodes, from_tree, to_tree


@overload
def split_inputs(*, ctxtag: str = ...) -> Callable[[F], F]: ...
@overload
def split_inputs(f: F, *, ctxtag: str = ...) -> F: ...
def split_inputs(f: Any = MISSING, *, ctxtag: str = "split_merge_inputs") -> Any:
    """Let a transformed function take and return objects; the function inside is a `merge_inputs`.

    >>> import jax.numpy as jnp
    >>> from typed_nnx import Param
    >>> @split_inputs
    ... @jax.jit
    ... @merge_inputs
    ... def double(param):
    ...     param[...] *= 2
    >>> param = Param(jnp.array(3))
    >>> double(param)
    >>> param[...]
    Array(6, dtype=int32, weak_type=True)

    Args:
        f: Takes and returns what `jax` knows, such as ``jax.jit(merge_inputs(function))``. Without
            it a decorator is returned.
        ctxtag: Tells nested pairs apart.
    """
    if f is MISSING:
        return functools.partial(split_inputs, ctxtag=ctxtag)

    @update_context(ctxtag)
    @functools.wraps(f)
    def split_inputs_wrapper(*args: Any) -> Any:
        found = f(*to_tree(args, ctxtag=ctxtag))
        return from_tree(found, ctxtag=ctxtag, is_inner=False)[1]

    return split_inputs_wrapper


@overload
def merge_inputs(*, ctxtag: str = ...) -> Callable[[F], F]: ...
@overload
def merge_inputs(f: F, *, ctxtag: str = ...) -> F: ...
def merge_inputs(f: Any = MISSING, *, ctxtag: str = "split_merge_inputs") -> Any:
    """Let a function of objects be called by a transform of jax; see `split_inputs`.

    It returns the arguments as they are after the call, with None for what is no object, and the
    result; an ``out_axes`` is a pair of those.

    Args:
        f: Takes and returns objects. Without it a decorator is returned.
        ctxtag: That of the `split_inputs` around it.
    """
    if f is MISSING:
        return functools.partial(merge_inputs, ctxtag=ctxtag)

    @functools.wraps(f)
    def merge_inputs_wrapper(*trees: Any) -> Any:
        args = from_tree(trees, ctxtag=ctxtag, is_inner=True)
        result = f(*args)
        return to_tree((clear_non_graph_nodes(args), result), ctxtag=ctxtag)

    return merge_inputs_wrapper
