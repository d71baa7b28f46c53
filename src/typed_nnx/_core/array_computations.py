"""The methods of an array that compute something, as type checkers see them on a Variable."""
# ruff: noqa: A002 -- declarations with the names and meanings of jax.Array, documented there

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from typed_nnx._core.value_holder import ValueHolder

if TYPE_CHECKING:
    import jax
    from jax.typing import ArrayLike, DTypeLike

    Axis = int | Sequence[int] | None

A = TypeVar("A")


class ArrayComputations(ValueHolder[A]):
    """Selection, order, elementwise functions and reductions of ``jax.Array``.

    Nothing is defined here at run time: `ArrayMethods` finds the methods on the value.
    """

    __slots__ = ()

    if TYPE_CHECKING:
        # -- selection, order and search --

        def take(
            self,
            indices: ArrayLike,
            axis: int | None = None,
            out: None = None,
            mode: str | None = None,
            unique_indices: bool = False,
            indices_are_sorted: bool = False,
            fill_value: complex | None = None,
        ) -> jax.Array:
            """Return the elements at indices of an axis, by default of the flat value."""
            ...

        def choose(
            self, choices: Sequence[ArrayLike], out: None = None, mode: str = "raise"
        ) -> jax.Array:
            """Return elements of `choices`; the value says for each from which."""
            ...

        def compress(
            self,
            condition: ArrayLike,
            axis: int | None = None,
            *,
            out: None = None,
            size: int | None = None,
            fill_value: ArrayLike = 0,
        ) -> jax.Array:
            """Return the slices of an axis for which a condition holds."""
            ...

        def nonzero(
            self,
            *,
            fill_value: ArrayLike | tuple[ArrayLike, ...] | None = None,
            size: int | None = None,
        ) -> tuple[jax.Array, ...]:
            """Return the indices of the elements that are not zero, an array for each axis."""
            ...

        def sort(
            self,
            axis: int | None = -1,
            *,
            kind: None = None,
            order: None = None,
            stable: bool = True,
            descending: bool = False,
        ) -> jax.Array:
            """Return the elements sorted along an axis."""
            ...

        def argsort(
            self,
            axis: int | None = -1,
            *,
            kind: None = None,
            order: None = None,
            stable: bool = True,
            descending: bool = False,
        ) -> jax.Array:
            """Return the indices that sort the elements along an axis."""
            ...

        def argpartition(self, kth: int, axis: int = -1) -> jax.Array:
            """Return the indices that put the `kth` element in its sorted place."""
            ...

        def argmax(
            self, axis: int | None = None, out: None = None, keepdims: bool | None = None
        ) -> jax.Array:
            """Return the index of the largest element."""
            ...

        def argmin(
            self, axis: int | None = None, out: None = None, keepdims: bool | None = None
        ) -> jax.Array:
            """Return the index of the smallest element."""
            ...

        def searchsorted(
            self,
            v: ArrayLike,
            side: str = "left",
            sorter: ArrayLike | None = None,
            *,
            method: str = "scan",
        ) -> jax.Array:
            """Return where in the sorted value elements would have to be inserted."""
            ...

        # -- elementwise and linear algebra --

        def clip(
            self,
            min: ArrayLike | None = None,
            max: ArrayLike | None = None,
        ) -> jax.Array:
            """Return the elements, limited to a range."""
            ...

        def round(self, decimals: int = 0, out: None = None) -> jax.Array:
            """Return the elements rounded to a number of decimals."""
            ...

        def conj(self) -> jax.Array:
            """Return the complex conjugate."""
            ...

        def conjugate(self) -> jax.Array:
            """Return the complex conjugate."""
            ...

        def dot(
            self,
            b: ArrayLike,
            *,
            precision: Any = None,
            preferred_element_type: DTypeLike | None = None,
        ) -> jax.Array:
            """Return the dot product with an array."""
            ...

        def trace(
            self,
            offset: int | ArrayLike = 0,
            axis1: int = 0,
            axis2: int = 1,
            dtype: DTypeLike | None = None,
            out: None = None,
        ) -> jax.Array:
            """Return the sum of a diagonal."""
            ...

        def cumsum(
            self, axis: Axis = None, dtype: DTypeLike | None = None, out: None = None
        ) -> jax.Array:
            """Return the running sum along an axis."""
            ...

        def cumprod(
            self, axis: Axis = None, dtype: DTypeLike | None = None, out: None = None
        ) -> jax.Array:
            """Return the running product along an axis."""
            ...

        # -- reductions --

        def all(
            self,
            axis: Axis = None,
            out: None = None,
            keepdims: bool = False,
            *,
            where: ArrayLike | None = None,
        ) -> jax.Array:
            """Whether all elements are true."""
            ...

        def any(
            self,
            axis: Axis = None,
            out: None = None,
            keepdims: bool = False,
            *,
            where: ArrayLike | None = None,
        ) -> jax.Array:
            """Whether some element is true."""
            ...

        def max(
            self,
            axis: Axis = None,
            out: None = None,
            keepdims: bool = False,
            initial: ArrayLike | None = None,
            where: ArrayLike | None = None,
        ) -> jax.Array:
            """Return the largest element."""
            ...

        def min(
            self,
            axis: Axis = None,
            out: None = None,
            keepdims: bool = False,
            initial: ArrayLike | None = None,
            where: ArrayLike | None = None,
        ) -> jax.Array:
            """Return the smallest element."""
            ...

        def mean(
            self,
            axis: Axis = None,
            dtype: DTypeLike | None = None,
            out: None = None,
            keepdims: bool = False,
            *,
            where: ArrayLike | None = None,
        ) -> jax.Array:
            """Return the mean of the elements."""
            ...

        def prod(
            self,
            axis: Axis = None,
            dtype: DTypeLike | None = None,
            out: None = None,
            keepdims: bool = False,
            initial: ArrayLike | None = None,
            where: ArrayLike | None = None,
            promote_integers: bool = True,
        ) -> jax.Array:
            """Return the product of the elements."""
            ...

        def ptp(self, axis: Axis = None, out: None = None, keepdims: bool = False) -> jax.Array:
            """Return the range of the elements: the largest less the smallest."""
            ...

        def std(
            self,
            axis: Axis = None,
            dtype: DTypeLike | None = None,
            out: None = None,
            ddof: int = 0,
            keepdims: bool = False,
            *,
            where: ArrayLike | None = None,
            correction: float | None = None,
        ) -> jax.Array:
            """Return the standard deviation of the elements."""
            ...

        def sum(
            self,
            axis: Axis = None,
            dtype: DTypeLike | None = None,
            out: None = None,
            keepdims: bool = False,
            initial: ArrayLike | None = None,
            where: ArrayLike | None = None,
            promote_integers: bool = True,
        ) -> jax.Array:
            """Return the sum of the elements."""
            ...

        def var(
            self,
            axis: Axis = None,
            dtype: DTypeLike | None = None,
            out: None = None,
            ddof: int = 0,
            keepdims: bool = False,
            *,
            where: ArrayLike | None = None,
            correction: float | None = None,
        ) -> jax.Array:
            """Return the variance of the elements."""
            ...
