"""What ``variable.at[index]`` offers, for type checkers: jax keeps these classes private."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import jax
from jax.typing import ArrayLike


class Reduction(Protocol):
    """An out-of-place update of the selected elements; the result is a new array."""

    def __call__(
        self,
        values: ArrayLike,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: str | None = None,
        wrap_negative_indices: bool = True,
    ) -> jax.Array: ...


class SelectedElements(Protocol):
    """The elements that an index selects."""

    set: Reduction
    add: Reduction
    subtract: Reduction
    mul: Reduction
    multiply: Reduction
    divide: Reduction
    power: Reduction
    min: Reduction
    max: Reduction

    def get(
        self,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: str | None = None,
        fill_value: ArrayLike | None = None,
        wrap_negative_indices: bool = True,
    ) -> jax.Array:
        """Gather the elements."""
        ...

    def apply(
        self,
        func: Callable[[jax.Array], ArrayLike],
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: str | None = None,
        wrap_negative_indices: bool = True,
    ) -> jax.Array:
        """Replace each element by ``func`` of it; the result is a new array."""
        ...


class IndexUpdates(Protocol):
    """``array.at``: index it to select the elements to update."""

    def __getitem__(self, index: Any, /) -> SelectedElements: ...
