"""How Pytree classes are registered with jax."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import jax

from typed_nnx._core.nodes import Spec

_new = object.__new__


def register_with_jax(cls: Any, trace: Any) -> None:
    """Register a Pytree class: data attributes are its children, its spec is the static part.

    Args:
        cls: The class.
        trace: The trace context; new objects belong to its current trace.
    """
    keys: dict[Any, Any] = {}

    def entry(key: Any) -> Any:
        found = keys.get(key)
        if found is None:
            is_index = isinstance(key, int)
            found = jax.tree_util.SequenceKey(key) if is_index else jax.tree_util.GetAttrKey(key)
            keys[key] = found
        return found

    def flatten(node: Any) -> tuple[list[Any], Spec]:
        spec: Spec = node._nnx_described or node._nnx_spec()
        attributes = node.__dict__
        return [attributes[name] for name in spec.names], spec

    def flatten_with_keys(node: Any) -> tuple[list[tuple[Any, Any]], Spec]:
        children, spec = flatten(node)
        return list(zip(map(entry, spec.keys), children, strict=True)), spec

    def unflatten(spec: Spec, children: Iterable[Any]) -> Any:
        node = cls._nnx_rebuild(spec)
        node.__dict__.update(zip(spec.names, children, strict=True))
        return node

    jax.tree_util.register_pytree_with_keys(cls, flatten_with_keys, unflatten, flatten)
