"""How Variable classes are registered with jax."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any

import jax

from typed_nnx._core.metadata import Metadata
from typed_nnx._core.trace import context
from typed_nnx._core.variable_parts import VariableParts, store_flat, store_trace

_VALUE_KEY = jax.tree_util.GetAttrKey("value")

# In C: jax flattens thousands of Variables for each step of a training loop.
_flatten: Callable[[Any], Any] = operator.attrgetter("_flat")


def register_with_jax(cls: type[VariableParts[Any]]) -> None:
    """Register a Variable class as a pytree node: its value is the child, its metadata static."""
    new, trace = object.__new__, context

    def unflatten(meta: Metadata, children: Iterable[Any]) -> VariableParts[Any]:
        made = new(cls)
        store_flat(made, ([*children], meta))
        store_trace(made, trace.trace)
        return made

    def flatten_with_keys(variable: VariableParts[Any]) -> Any:
        return ((_VALUE_KEY, variable._raw),), variable._meta

    jax.tree_util.register_pytree_with_keys(cls, flatten_with_keys, unflatten, _flatten)
