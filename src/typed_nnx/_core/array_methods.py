"""The attributes and methods of an array that a Variable passes on to its value."""
# ruff: noqa: A002 -- declarations with the names and meanings of jax.Array, documented there

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from typed_nnx._core.array_computations import ArrayComputations

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


class ArrayMethods(ArrayComputations[A]):
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
        def dtype(self) -> np.dtype[Any]:
            """The dtype of the value."""
            ...

        @property
        def ndim(self) -> int:
            """The number of axes."""
            ...

        @property
        def size(self) -> int:
            """The number of elements."""
            ...

        @property
        def itemsize(self) -> int:
            """The number of bytes of one element."""
            ...

        @property
        def nbytes(self) -> int:
            """The number of bytes of all elements."""
            ...

        @property
        def weak_type(self) -> bool:
            """Whether the dtype gives way to that of another operand."""
            ...

        @property
        def T(self) -> jax.Array:
            """The value with its axes in reverse order."""
            ...

        @property
        def mT(self) -> jax.Array:
            """The value with its last two axes swapped."""
            ...

        @property
        def real(self) -> jax.Array:
            """The real part."""
            ...

        @property
        def imag(self) -> jax.Array:
            """The imaginary part."""
            ...

        @property
        def at(self) -> IndexUpdates:
            """Updates of elements: ``variable.at[index].set(x)`` returns a changed copy."""
            ...

        @property
        def is_fully_addressable(self) -> bool:
            """Whether this process can reach all shards."""
            ...

        @property
        def is_fully_replicated(self) -> bool:
            """Whether each device holds the whole value."""
            ...

        @property
        def committed(self) -> bool:
            """Whether the value was placed on its devices explicitly."""
            ...

        # -- conversion, memory and devices --

        def astype(
            self,
            dtype: DTypeLike | None,
            copy: bool = False,
            device: Device | Sharding | None = None,
        ) -> jax.Array:
            """Return the value with another dtype."""
            ...

        def view(self, dtype: DTypeLike | None = None, type: None = None) -> jax.Array:
            """Return the same bits read as another dtype."""
            ...

        def item(self, *args: int) -> bool | int | float | complex:
            """Return one element, by default the only one, as a Python number."""
            ...

        def tolist(self) -> Any:
            """Return the elements as a Python number or nested lists of them."""
            ...

        def tobytes(self, order: str = "C") -> bytes:
            """Return the bytes of all elements."""
            ...

        def byteswap(self) -> jax.Array:
            """Return the value with the bytes of each element in reverse order."""
            ...

        def to_device(self, device: Device | Sharding, *, stream: int | None = None) -> jax.Array:
            """Return the value on another device."""
            ...

        def devices(self) -> set[Device]:
            """Return the devices that hold the value."""
            ...

        def addressable_data(self, index: int) -> jax.Array:
            """Return the part of the value in one shard that this process can reach."""
            ...

        def block_until_ready(self) -> jax.Array:
            """Wait until the value is computed, and return it."""
            ...

        def copy_to_host_async(self) -> None:
            """Begin to copy the value to the host."""
            ...

        def is_ready(self) -> bool:
            """Whether the value is computed."""
            ...

        def is_deleted(self) -> bool:
            """Whether the memory of the value was freed or donated."""
            ...

        def delete(self) -> None:
            """Free the memory of the value."""
            ...

        # -- shape --

        def reshape(
            self,
            *args: Any,
            order: str = "C",
            out_sharding: NamedSharding | PartitionSpec | None = None,
        ) -> jax.Array:
            """Return the elements in another shape."""
            ...

        def flatten(
            self,
            order: str = "C",
            *,
            out_sharding: NamedSharding | PartitionSpec | None = None,
        ) -> jax.Array:
            """Return the elements in one axis."""
            ...

        def ravel(
            self,
            order: str = "C",
            *,
            out_sharding: NamedSharding | PartitionSpec | None = None,
        ) -> jax.Array:
            """Return the elements in one axis."""
            ...

        def transpose(self, *args: Any) -> jax.Array:
            """Return the value with its axes in another order, by default reversed."""
            ...

        def squeeze(self, axis: Axis = None) -> jax.Array:
            """Return the value without axes of length 1."""
            ...

        def swapaxes(self, axis1: int, axis2: int) -> jax.Array:
            """Return the value with two axes swapped."""
            ...

        def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> jax.Array:
            """Return the diagonal of two axes."""
            ...

        def repeat(
            self,
            repeats: ArrayLike,
            axis: int | None = None,
            *,
            total_repeat_length: int | None = None,
            out_sharding: NamedSharding | PartitionSpec | None = None,
        ) -> jax.Array:
            """Return the value with each element repeated."""
            ...
