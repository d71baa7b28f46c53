"""Axis hooks: what happens to the sharding of a Variable when a transform adds or removes an axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from typed_nnx._core.variable_parts import VariableParts

A = TypeVar("A")


class AxisHooks(VariableParts[A]):
    """`add_axis` and `remove_axis`, which run the hooks in the metadata."""

    __slots__ = ()

    def add_axis(self, axis_index: int, axis_name: str | None) -> None:
        """Run the ``on_add_axis`` hooks: a transform put a new axis at `axis_index`."""
        self._run("on_add_axis", axis_index, axis_name)

    def remove_axis(self, axis_index: int, axis_name: str | None) -> None:
        """Run the ``on_remove_axis`` hooks: a transform took the axis at `axis_index` away."""
        self._run("on_remove_axis", axis_index, axis_name)

    def _run(self, name: str, axis_index: int, axis_name: str | None) -> None:
        hooks: Any = self._meta.get(name, ())
        all_hooks: tuple[Callable[..., None], ...] = (
            tuple(hooks) if isinstance(hooks, list | tuple) else (hooks,)
        )
        for hook in all_hooks:
            hook(self, axis_index, axis_name)
