"""A call of a method as a function of shapes: to trace it, and to ask what it would cost."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.core
import jax.numpy as jnp
import numpy as np

from typed_nnx._core.nodes import GraphNode
from typed_nnx._core.variable import Variable
from typed_nnx._graph.split_merge import merge, split


@dataclasses.dataclass(frozen=True)
class _Shape:
    """Stands for an argument that is a shape, which would otherwise be a static value."""

    number: int


@dataclasses.dataclass(frozen=True)
class AbstractCall:
    """A call of a method of an object.

    Attributes:
        method: The name of the method.
        leaves: The shapes of the arrays in the object and the arguments.
        rebuilt: Makes (object, args, kwargs) of arrays in their place.
    """

    method: str
    leaves: list[Any]
    rebuilt: Callable[[list[Any]], tuple[Any, tuple[Any, ...], dict[str, Any]]]

    @classmethod
    def of(
        cls, node: Any, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> AbstractCall:
        """Take a call apart; the object and the arguments stay as they are."""
        shapes: list[Any] = []

        def marked(leaf: Any) -> Any:
            if not isinstance(leaf, jax.ShapeDtypeStruct):
                return leaf
            shapes.append(leaf)
            return _Shape(len(shapes) - 1)

        args, kwargs = jax.tree.map(marked, (args, kwargs), is_leaf=_is_node)
        graphdef, state = split((node, args, kwargs))
        found, treedef = jax.tree.flatten(state)
        places = [number for number, leaf in enumerate(found) if _is_array(leaf)]
        dynamic = [_abstract(found[number]) for number in places]
        statics = [None if _is_array(leaf) else leaf for leaf in found]

        def rebuilt(leaves: list[Any]) -> Any:
            every = list(statics)
            for number, leaf in zip(places, leaves, strict=False):
                every[number] = leaf
            own = leaves[len(places) :]
            made, args, kwargs = merge(graphdef, jax.tree.unflatten(treedef, every))
            args, kwargs = jax.tree.map(
                lambda leaf: own[leaf.number] if isinstance(leaf, _Shape) else leaf,
                (args, kwargs),
                is_leaf=_is_node,
            )
            return made, args, kwargs

        return cls(method, [*dynamic, *shapes], rebuilt)

    def flops(self) -> int:
        """Return the floating point operations of the call, as XLA counts them before it compiles.

        They are those of the result: what updates statistics alone does not count.
        """
        return _flops(self._run, self.leaves)

    def vjp_flops(self) -> int:
        """Return the floating point operations of the call and of its gradient.

        The gradient is that of all results that have one, with respect to all arrays of the object
        and the arguments.
        """

        def smooth(leaves: list[Any]) -> tuple[list[jax.Array], list[jax.Array]]:
            results = self._run(leaves)
            kept = [array for array in results if _is_inexact(array)]
            return kept, [array for array in results if not _is_inexact(array)]

        def both(leaves: list[Any]) -> Any:
            results, pullback, others = jax.vjp(smooth, leaves, has_aux=True)
            return pullback(results), others

        return _flops(both, self.leaves)

    def _run(self, leaves: list[Any]) -> list[jax.Array]:
        node, args, kwargs = self.rebuilt(leaves)
        result = getattr(node, self.method)(*args, **kwargs)
        return [leaf for leaf in jax.tree.leaves(result) if isinstance(leaf, jax.Array)]


def _flops(function: Callable[[list[Any]], Any], leaves: list[Any]) -> int:
    costs: Any = jax.jit(function).lower(leaves).cost_analysis()
    return int((costs or {}).get("flops", 0))


def _is_inexact(array: jax.Array) -> bool:
    return bool(jnp.issubdtype(array.dtype, jnp.inexact))


def _is_node(value: Any) -> bool:
    return isinstance(value, GraphNode | Variable)


def _is_array(value: Any) -> bool:
    return isinstance(value, jax.Array | np.ndarray | np.generic | jax.ShapeDtypeStruct)


def _abstract(leaf: Any) -> jax.ShapeDtypeStruct:
    if isinstance(leaf, jax.ShapeDtypeStruct):
        return leaf
    dtype = leaf.dtype if isinstance(leaf, jax.Array) else jax.dtypes.canonicalize_dtype(leaf.dtype)
    weak = bool(getattr(leaf, "weak_type", False))
    return jax.ShapeDtypeStruct(leaf.shape, dtype, weak_type=weak)  # type: ignore[no-untyped-call]  # of jax
