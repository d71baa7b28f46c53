"""`NNXMeta`, made when flax is there: it is a pytree and an axis metadata of flax."""

from __future__ import annotations

import functools
from typing import Any, TypeVar

from jax.sharding import NamedSharding, PartitionSpec

from typed_nnx._core.variable import Variable
from typed_nnx.bridge._linen import flax_modules

A = TypeVar("A")

# jax gives it no type.
_partition_spec: Any = PartitionSpec


def partition_spec_of(value: Any, metadata: dict[str, Any]) -> Any:
    """Return the PartitionSpec that Variable metadata stands for.

    Args:
        value: The value of the Variable.
        metadata: Its metadata: ``out_sharding`` (or an older name of it) and ``sharding_rules``.
    """
    given = [metadata.get(n) for n in ("out_sharding", "sharding", "sharding_names")]
    names: Any = next((one for one in given if one is not None), None)
    if names is None:
        return _partition_spec() if hasattr(value, "shape") else None
    if isinstance(names, PartitionSpec):
        return names
    if isinstance(names, NamedSharding):
        return names.spec
    rules: dict[Any, Any] = dict(metadata.get("sharding_rules") or ())
    return _partition_spec(*[rules.get(name, name) for name in names])


@functools.lru_cache(maxsize=1)
def nnx_meta_class() -> Any:
    """Return the class `NNXMeta`.

    Raises:
        FlaxRequiredError: flax is not installed.
    """
    flax: Any = flax_modules("NNXMeta")
    struct: Any = flax.struct

    class NNXMeta(struct.PyTreeNode, flax.core.meta.AxisMetadata[A]):  # type: ignore[misc]  # flax's names are Any
        """A Linen variable that carries the type and the metadata of the Variable it was.

        Attributes:
            var_type: The type of the Variable.
            value: Its value, a child for jax.
            metadata: Its metadata.
        """

        var_type: type[Variable[Any]] = struct.field(pytree_node=False)
        value: Any = struct.field(pytree_node=True)
        metadata: dict[str, Any] = struct.field(pytree_node=False)

        def unbox(self) -> Any:
            """Return the value."""
            return self.value

        def replace_boxed(self, val: Any) -> Any:
            """Return the same metadata with another value."""
            return self.replace(value=val)

        def add_axis(self, index: int, params: dict[Any, Any]) -> Any:
            """Return this box: Linen transforms leave the metadata as it is."""
            return self

        def remove_axis(self, index: int, params: dict[Any, Any]) -> Any:
            """Return this box: Linen transforms leave the metadata as it is."""
            return self

        def get_partition_spec(self) -> Any:
            """Return the PartitionSpec of the value."""
            return partition_spec_of(self.value, self.metadata)

        def to_nnx_variable(self) -> Variable[Any]:
            """Return the Variable that this box stands for."""
            return self.var_type(self.value, **self.metadata)

    NNXMeta.__module__ = "typed_nnx.bridge.variables"
    NNXMeta.__qualname__ = "NNXMeta"
    return NNXMeta


def is_box(value: Any) -> bool:
    """Whether a value of a Linen variable carries metadata."""
    meta = flax_modules("bridge.variables").core.meta
    return isinstance(value, meta.AxisMetadata)
