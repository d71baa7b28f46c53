"""The attributes and methods of an array that a Variable passes on to its value."""
# ruff: noqa: A002 -- declarations with the names and meanings of jax.Array, documented there

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from typed_nnx._core.value_holder import ValueHolder

if TYPE_CHECKING:
    import jax
    import numpy as np
    from jax.sharding import NamedSharding, PartitionSpec, Sharding
    from jax.typing import ArrayLike, DTypeLike

    from typed_nnx._core.index_update import IndexUpdates

    Axis = int | Sequence[int] | None
    Device = Any  # jax.Device is a variable without a type for pyright

A = TypeVar("A")

# Array protocols that their users look up on the instance. Other private names stay unknown, else
# `copy.deepcopy` or a pretty printer would find the value's hooks and take the value for us.
_FORWARDED_PROTOCOLS = frozenset(
    {"__dlpack__", "__dlpack_device__", "__array_namespace__", "__cuda_array_interface__"}
)


class ArrayMethods(ValueHolder[A]):
    """The public interface of ``jax.Array``, looked up on the value.

    At run time only ``shape`` is defined here. The rest is found by ``__getattr__`` so that
    metadata of the same name comes first (a subclass looks there before it calls ``super()``) and
    so that the value answers with its own signature, whether it is a jax or numpy array, a tracer
    or something else. The declarations below are what type checkers and editors see; a method
    means what the method of ``jax.Array`` of that name means.
    """

    __slots__ = ()

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the value."""
        value: Any = self.get_value()
        shape: tuple[int, ...] = value.shape
        return shape

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") or name in _FORWARDED_PROTOCOLS:
            value = self.get_value()
            try:
                return getattr(value, name)
            except AttributeError as error:
                owner = f"{type(self).__name__!r} object has no attribute {name!r}"
                raise AttributeError(
                    f"{owner}, nor has its value of type {type(value).__name__!r}",
                    name=name,
                    obj=self,
                ) from error
        raise AttributeError(
            f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self
        )

    if TYPE_CHECKING:
        # -- attributes --

        @property
        def dtype(self) -> np.dtype[Any]: ...
        @property
        def ndim(self) -> int: ...
        @property
        def size(self) -> int: ...
        @property
        def itemsize(self) -> int: ...
        @property
        def nbytes(self) -> int: ...
        @property
        def weak_type(self) -> bool: ...
        @property
        def T(self) -> jax.Array: ...
        @property
        def mT(self) -> jax.Array: ...
        @property
        def real(self) -> jax.Array: ...
        @property
        def imag(self) -> jax.Array: ...
        @property
        def at(self) -> IndexUpdates: ...
        @property
        def is_fully_addressable(self) -> bool: ...
        @property
        def is_fully_replicated(self) -> bool: ...
        @property
        def committed(self) -> bool: ...

        # -- conversion, memory and devices --

        def astype(
            self,
            dtype: DTypeLike | None,
            copy: bool = False,
            device: Device | Sharding | None = None,
        ) -> jax.Array: ...
        def view(self, dtype: DTypeLike | None = None, type: None = None) -> jax.Array: ...
        def item(self, *args: int) -> bool | int | float | complex: ...
        def tolist(self) -> Any: ...
        def tobytes(self, order: str = "C") -> bytes: ...
        def byteswap(self) -> jax.Array: ...
        def to_device(
            self, device: Device | Sharding, *, stream: int | None = None
        ) -> jax.Array: ...
        def devices(self) -> set[Device]: ...
        def addressable_data(self, index: int) -> jax.Array: ...
        def block_until_ready(self) -> jax.Array: ...
        def copy_to_host_async(self) -> None: ...
        def is_ready(self) -> bool: ...
        def is_deleted(self) -> bool: ...
        def delete(self) -> None: ...

        # -- shape --

        def reshape(
            self,
            *args: Any,
            order: str = "C",
            out_sharding: NamedSharding | PartitionSpec | None = None,
        ) -> jax.Array: ...
        def flatten(
            self,
            order: str = "C",
            *,
            out_sharding: NamedSharding | PartitionSpec | None = None,
        ) -> jax.Array: ...
        def ravel(
            self,
            order: str = "C",
            *,
            out_sharding: NamedSharding | PartitionSpec | None = None,
        ) -> jax.Array: ...
        def transpose(self, *args: Any) -> jax.Array: ...
        def squeeze(self, axis: Axis = None) -> jax.Array: ...
        def swapaxes(self, axis1: int, axis2: int) -> jax.Array: ...
        def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> jax.Array: ...
        def repeat(
            self,
            repeats: ArrayLike,
            axis: int | None = None,
            *,
            total_repeat_length: int | None = None,
            out_sharding: NamedSharding | PartitionSpec | None = None,
        ) -> jax.Array: ...

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
        ) -> jax.Array: ...
        def choose(
            self, choices: Sequence[ArrayLike], out: None = None, mode: str = "raise"
        ) -> jax.Array: ...
        def compress(
            self,
            condition: ArrayLike,
            axis: int | None = None,
            *,
            out: None = None,
            size: int | None = None,
            fill_value: ArrayLike = 0,
        ) -> jax.Array: ...
        def nonzero(
            self,
            *,
            fill_value: ArrayLike | tuple[ArrayLike, ...] | None = None,
            size: int | None = None,
        ) -> tuple[jax.Array, ...]: ...
        def sort(
            self,
            axis: int | None = -1,
            *,
            kind: None = None,
            order: None = None,
            stable: bool = True,
            descending: bool = False,
        ) -> jax.Array: ...
        def argsort(
            self,
            axis: int | None = -1,
            *,
            kind: None = None,
            order: None = None,
            stable: bool = True,
            descending: bool = False,
        ) -> jax.Array: ...
        def argpartition(self, kth: int, axis: int = -1) -> jax.Array: ...
        def argmax(
            self, axis: int | None = None, out: None = None, keepdims: bool | None = None
        ) -> jax.Array: ...
        def argmin(
            self, axis: int | None = None, out: None = None, keepdims: bool | None = None
        ) -> jax.Array: ...
        def searchsorted(
            self,
            v: ArrayLike,
            side: str = "left",
            sorter: ArrayLike | None = None,
            *,
            method: str = "scan",
        ) -> jax.Array: ...

        # -- elementwise and linear algebra --

        def clip(
            self,
            min: ArrayLike | None = None,
            max: ArrayLike | None = None,
        ) -> jax.Array: ...
        def round(self, decimals: int = 0, out: None = None) -> jax.Array: ...
        def conj(self) -> jax.Array: ...
        def conjugate(self) -> jax.Array: ...
        def dot(
            self,
            b: ArrayLike,
            *,
            precision: Any = None,
            preferred_element_type: DTypeLike | None = None,
        ) -> jax.Array: ...
        def trace(
            self,
            offset: int | ArrayLike = 0,
            axis1: int = 0,
            axis2: int = 1,
            dtype: DTypeLike | None = None,
            out: None = None,
        ) -> jax.Array: ...
        def cumsum(
            self, axis: Axis = None, dtype: DTypeLike | None = None, out: None = None
        ) -> jax.Array: ...
        def cumprod(
            self, axis: Axis = None, dtype: DTypeLike | None = None, out: None = None
        ) -> jax.Array: ...

        # -- reductions --

        def all(
            self,
            axis: Axis = None,
            out: None = None,
            keepdims: bool = False,
            *,
            where: ArrayLike | None = None,
        ) -> jax.Array: ...
        def any(
            self,
            axis: Axis = None,
            out: None = None,
            keepdims: bool = False,
            *,
            where: ArrayLike | None = None,
        ) -> jax.Array: ...
        def max(
            self,
            axis: Axis = None,
            out: None = None,
            keepdims: bool = False,
            initial: ArrayLike | None = None,
            where: ArrayLike | None = None,
        ) -> jax.Array: ...
        def min(
            self,
            axis: Axis = None,
            out: None = None,
            keepdims: bool = False,
            initial: ArrayLike | None = None,
            where: ArrayLike | None = None,
        ) -> jax.Array: ...
        def mean(
            self,
            axis: Axis = None,
            dtype: DTypeLike | None = None,
            out: None = None,
            keepdims: bool = False,
            *,
            where: ArrayLike | None = None,
        ) -> jax.Array: ...
        def prod(
            self,
            axis: Axis = None,
            dtype: DTypeLike | None = None,
            out: None = None,
            keepdims: bool = False,
            initial: ArrayLike | None = None,
            where: ArrayLike | None = None,
            promote_integers: bool = True,
        ) -> jax.Array: ...
        def ptp(self, axis: Axis = None, out: None = None, keepdims: bool = False) -> jax.Array: ...
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
        ) -> jax.Array: ...
        def sum(
            self,
            axis: Axis = None,
            dtype: DTypeLike | None = None,
            out: None = None,
            keepdims: bool = False,
            initial: ArrayLike | None = None,
            where: ArrayLike | None = None,
            promote_integers: bool = True,
        ) -> jax.Array: ...
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
        ) -> jax.Array: ...
