"""Linen variables as leaves by path, and what is done to the arrays in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp

from typed_nnx_codegen.migrate.weight_map import Target
from typed_nnx_codegen.migrate.weights.problems import WeightsError

Path: TypeAlias = tuple[str, ...]
# Leaves by their path from some module on, the collection first.
Tree: TypeAlias = "dict[Path, Leaf]"


@dataclass(frozen=True)
class Leaf:
    """A Linen variable.

    Attributes:
        name: What errors call it: its path from the root, and an index where it was unstacked.
        value: Its value: mostly an array, any pytree without mappings at its top.
    """

    name: str
    value: Any

    def shown(self) -> str:
        """Return its name with its dtype and shape."""
        return f"{self.name} {shape_text(self.value)}"


def leaves_of(variables: Mapping[str, Any]) -> Tree:
    """Return the leaves of Linen variables, boxes removed.

    Raises:
        WeightsError: Two of them have one path, as `{"a/b": 1, "a": {"b": 2}}` has.
    """
    found: Tree = {}
    for path, value in _flat(variables, ()):
        if path in found:
            raise WeightsError(f"load: two Linen variables have the path {'/'.join(path)!r}")
        found[path] = Leaf("/".join(path), value)
    return found


def _flat(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    value = unboxed(value)
    if not isinstance(value, Mapping):
        yield path, value
        return
    for key in value:
        # WeightNorm and SpectralNorm have keys that are paths.
        yield from _flat(value[key], (*path, *str(key).split("/")))


def unboxed(value: Any) -> Any:
    """Return what is in a box of flax (`nn.Partitioned`, ...), or the value itself."""
    while any(base.__name__ == "AxisMetadata" for base in type(value).__mro__):
        # `unbox` may ask for a sharding constraint; the field has the value alone.
        if not hasattr(value, "value") and not hasattr(value, "unbox"):
            break  # the names of axes that the older form of partitioning keeps
        value = value.value if hasattr(value, "value") else value.unbox()
    return value


def sliced(leaf: Leaf, axis: int, index: int) -> Leaf:
    """Return one slice of a stacked variable."""
    axis %= jnp.ndim(leaf.value)
    return Leaf(f"{leaf.name}[{index}]", leaf.value[(slice(None),) * axis + (index,)])


def stack_size(leaf: Leaf, axis: int) -> int | None:
    """Return how many slices a stacked variable has, None where it has no such axis."""
    shape = getattr(leaf.value, "shape", None)
    if shape is None or not -len(shape) <= axis < len(shape):
        return None
    return int(shape[axis])


def laid_out(leaf: Leaf, target: Target) -> Leaf:
    """Return a variable in the layout that the map asks for.

    Raises:
        ValueError: The axes or the size do not allow it.
    """
    value = leaf.value
    if target.transpose is not None:
        value = jnp.transpose(value, target.transpose)
    if target.reshape is not None:
        value = jnp.reshape(value, target.reshape)
    return Leaf(leaf.name, value)


def shape_text(value: Any) -> str:
    """Return the dtype and shape of an array, `float32[2, 3]`, or the type of anything else."""
    shape = getattr(value, "shape", None)
    if shape is not None and hasattr(value, "dtype"):
        return f"{value.dtype}[{', '.join(map(str, shape))}]"
    if isinstance(value, dict | list | tuple) or jax.tree.leaves(value) != [value]:
        inside = jax.tree.leaves(value)
        return f"{type(value).__name__} of {len(inside)} arrays"
    return type(value).__name__
