"""Functions that take functions: what they pass on, and what a call under them gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from typed_nnx_codegen.migrate.analysis.members import derives, element_of
from typed_nnx_codegen.migrate.analysis.values import (
    UNKNOWN,
    Collection,
    Instance,
    Plain,
    Value,
    collection,
    join,
)

_SAME_RESULT: Final = frozenset(
    {
        *("functools.partial", "functools.wraps", "functools.lru_cache", "functools.cache"),
        *("jax.jit", "jax.pmap", "jax.vmap", "jax.checkpoint", "jax.remat", "jax.named_call"),
        *("jax.shard_map", "jax.experimental.shard_map.shard_map", "jax.experimental.pjit.pjit"),
        *("nnx.jit", "nnx.pmap", "nnx.vmap", "nnx.remat", "nnx.checkpoint", "nnx.shard_map"),
        *("nnx.jit_partial", "nnx.cached_partial", "nnx.split_rngs", "nnx.fork_rngs"),
        *("nnx.custom_vjp", "jax.custom_vjp", "jax.custom_jvp", "nnx.compact"),
        *("nnx.checkify", "jax.experimental.checkify.checkify"),
    }
)
_GRADIENTS: Final = frozenset({"nnx.grad", "jax.grad"})
_VALUES_AND_GRADIENTS: Final = frozenset({"nnx.value_and_grad", "jax.value_and_grad"})
# What they give differs from what the function gives, in ways that nothing here needs.
_OTHER_RESULT: Final = frozenset(
    {
        *("nnx.scan", "nnx.make_jaxpr", "jax.make_jaxpr", "jax.jacfwd", "jax.jacrev"),
        *("jax.hessian", "jax.linearize", "nnx.jvp", "nnx.vjp"),
    }
)


def is_transform(name: str) -> bool:
    """Whether a public name is a function that takes functions and that is known here."""
    return (
        name in _SAME_RESULT
        or name in _GRADIENTS
        or name in _VALUES_AND_GRADIENTS
        or name in _OTHER_RESULT
        or name in CALLING
    )


def result_under(name: str, result: Value, arguments: Sequence[Value]) -> Value:
    """Return what a call of a function under a transform gives.

    Args:
        name: The transform.
        result: What the function itself gives.
        arguments: The arguments by position.
    """
    if name in _SAME_RESULT:
        return result
    if name in _GRADIENTS:
        return _gradient(arguments)
    if name in _VALUES_AND_GRADIENTS:
        return collection("tuple", [result, _gradient(arguments)])
    return UNKNOWN


def _gradient(arguments: Sequence[Value]) -> Value:
    first = arguments[0] if arguments else UNKNOWN
    return Instance("nnx.State", first) if derives(first, "Module", "Pytree") else first


@dataclass(frozen=True)
class Calling:
    """A function that calls its functions at once.

    Attributes:
        functions: The positions of the functions.
        passed: What they are called with, from the arguments.
        result: What the call gives, from the arguments and what the functions give.
    """

    functions: tuple[int, ...]
    passed: Callable[[Sequence[Value]], Sequence[Value]]
    result: Callable[[Sequence[Value], Sequence[Value]], Value]


def _at(arguments: Sequence[Value], position: int) -> Value:
    return arguments[position] if position < len(arguments) else UNKNOWN


def _results(arguments: Sequence[Value], results: Sequence[Value]) -> Value:
    del arguments
    return join(*results)


_COND: Final = Calling((1, 2), lambda arguments: arguments[3:], _results)
_EVAL_SHAPE: Final = Calling((0,), lambda arguments: arguments[1:], _results)
_FORI: Final = Calling(
    (2,),
    lambda arguments: [Plain("int"), _at(arguments, 3)],
    lambda arguments, results: join(_at(arguments, 3), *results),
)
_WHILE: Final = Calling(
    (0, 1), lambda arguments: [_at(arguments, 2)], lambda arguments, results: _at(arguments, 2)
)
_LAX_SCAN: Final = Calling(
    (0,),
    lambda arguments: [_at(arguments, 1), element_of(_at(arguments, 2))],
    lambda arguments, results: Collection("tuple", (_at(arguments, 1), UNKNOWN), UNKNOWN),
)
_TREE_MAP: Final = Calling(
    (0,),
    lambda arguments: [_leaf(value) for value in arguments[1:]],
    lambda arguments, results: _tree_of(_at(arguments, 1)),
)

_MAP_STATE: Final = Calling(
    (0,),
    lambda arguments: [UNKNOWN, Instance("nnx.Variable")],
    lambda arguments, results: _tree_of(_at(arguments, 1)),
)


def _leaf(tree: Value) -> Value:
    del tree
    return UNKNOWN


def _tree_of(tree: Value) -> Value:
    return tree if isinstance(tree, Instance) else UNKNOWN


CALLING: Final = {
    "jax.eval_shape": _EVAL_SHAPE,
    "jax.lax.cond": _COND,
    "jax.lax.fori_loop": _FORI,
    "jax.lax.scan": _LAX_SCAN,
    "jax.lax.while_loop": _WHILE,
    "jax.tree.map": _TREE_MAP,
    "jax.tree_map": _TREE_MAP,
    "jax.tree_util.tree_map": _TREE_MAP,
    "nnx.cond": _COND,
    "nnx.eval_shape": _EVAL_SHAPE,
    "nnx.fori_loop": _FORI,
    "nnx.map_state": _MAP_STATE,
    "nnx.while_loop": _WHILE,
}
"""The functions that call their functions at once, by public name."""
