"""What all layers share: the types of their arguments, their parameters, their settings and streams."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Protocol, TypeAlias, TypeVar

import jax
import jax.numpy as jnp
from jax import lax
from jax.core import Tracer
from jax.nn import initializers
from jax.typing import DTypeLike

from typed_nnx._core.rngs import Rngs, RngStream
from typed_nnx._core.variable import Variable
from typed_nnx._core.variable_types import Param
from typed_nnx.errors import LayerInputError, RngsTypeError, UnsetModeError

# -- types -----------------------------------------------------------------------------------------

Array: TypeAlias = jax.Array
Dtype: TypeAlias = DTypeLike
Shape: TypeAlias = Sequence[int]
Size: TypeAlias = int
Axis: TypeAlias = int
Axes: TypeAlias = int | Sequence[int]

PrecisionLike: TypeAlias = (
    str | jax.lax.Precision | tuple[str, str] | tuple[jax.lax.Precision, jax.lax.Precision] | None
)

# An initializer of jax, or one whose result carries metadata (`with_metadata`, `with_partitioning`).
Initializer: TypeAlias = jax.nn.initializers.Initializer | Callable[..., Any]

# Replacements of what a layer computes with take what the original takes, by its names.
DotGeneralT: TypeAlias = Callable[..., Array]
ConvGeneralDilatedT: TypeAlias = Callable[..., Array]
EinsumT: TypeAlias = Callable[..., Array]

LaxPadding: TypeAlias = str | Sequence[tuple[int, int]]
PaddingLike: TypeAlias = str | int | Sequence[int | tuple[int, int]]

AxisIndexGroups: TypeAlias = Sequence[Sequence[int]] | None
"""Groups of devices along a mapped axis, each of which has statistics of its own."""

Sharding: TypeAlias = jax.sharding.NamedSharding | jax.sharding.PartitionSpec | None
"""Where a result is laid out over an explicit mesh."""

Metadata: TypeAlias = Mapping[str, Any]
NO_METADATA: Metadata = MappingProxyType({})

Arrays = TypeVar("Arrays", bound=tuple[Any, ...])
K = TypeVar("K")
V = TypeVar("V")
A = TypeVar("A")


class PromoteDtypeFn(Protocol):
    """A function like `promote_dtype`, which layers call on their inputs and parameters."""

    def __call__(
        self, args: Arrays, /, *, dtype: Dtype | None = None, inexact: bool = True
    ) -> Arrays: ...


class FrozenMapping(Mapping[K, V]):
    """A hashable mapping; equal to any mapping with the same items."""

    __slots__ = ("_items",)

    def __init__(self, items: Mapping[K, V] | None = None) -> None:
        self._items = dict(items or {})

    def __getitem__(self, key: K) -> V:
        return self._items[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(frozenset(self._items.items()))

    def __repr__(self) -> str:
        return repr(self._items)


def as_tuple(value: int | Sequence[int]) -> tuple[int, ...]:
    return tuple(value) if isinstance(value, Sequence) else (value,)


def axes_without(axes: Sequence[int], ndim: int) -> tuple[int, ...]:
    return tuple([axis for axis in range(ndim) if axis not in axes])


def broadcasts(shape: Sequence[int], to: Sequence[int]) -> bool:
    """Whether an array of `shape` broadcasts to the shape `to`."""
    return len(shape) <= len(to) and all(
        size in (1, wanted) for size, wanted in zip(shape[::-1], to[::-1], strict=False)
    )


def as_dtype(value: jax.Array, dtype: Dtype) -> jax.Array:
    """Return the array in a dtype: the array itself if it has it."""
    return value if value.dtype == dtype else lax.convert_element_type(value, dtype)


def described(value: object) -> str:
    """Return dtype and shape of an array as errors show them: ``float32[2,3]``."""
    dtype = getattr(value, "dtype", None)
    if dtype is None:
        return f"{value!r} ({type(value).__name__})"
    return f"{dtype}[{','.join(map(str, getattr(value, 'shape', ())))}]"


def size_held(layer: object, name: str, size: int, parameter: str) -> str:
    """Return the size that a layer works with as errors show it: ``in_features=4``.

    That is the size of `parameter` now. It differs from the attribute `name`, set by the constructor,
    in a `shard_map` and where the parameter was replaced.
    """
    return f"{name}={size}" if getattr(layer, name) == size else f"{size} (as `{parameter}` has)"


def does_not_fit(layer: object, inputs: Array, rows: int, out: int) -> LayerInputError:
    """Return the error of a last axis that has not `rows` elements."""
    features = jnp.shape(inputs)[-1] if jnp.ndim(inputs) else "its number of features"
    return LayerInputError(
        type(layer).__name__,
        "inputs",
        described(inputs),
        f"a last axis of size {size_held(layer, 'in_features', rows, 'kernel')}",
        f"nnx.{type(layer).__name__}({features}, {out}, ...), or inputs of shape (..., {rows})",
    )


# -- parameters: one key of the stream ``params`` each, in the order in which a layer makes them -----

kernel_init: Initializer = initializers.lecun_normal()
embedding_init: Initializer = initializers.variance_scaling(1.0, "fan_in", "normal", out_axis=0)
bias_init: Initializer = initializers.zeros
scale_init: Initializer = initializers.ones

# Whether an initializer is constant, for those that give the same bits compiled and step by step; by
# id, since an initializer need not have a hash. What `kernel_init` draws is clipped before it is
# scaled, so that XLA merges no products; that is not so for `embedding_init` and for complex numbers.
_IS_CONSTANT = {id(kernel_init): False, id(bias_init): True, id(scale_init): True}


def next_key(layer: object, rngs: Rngs) -> jax.Array:
    check_rngs(layer, rngs)
    return rngs.params()


def initial_value(
    layer: object, rngs: Rngs, dtype: Dtype, initializer: Initializer, shape: Sequence[int]
) -> Any:
    """Return what an initializer makes with the next key of ``params``: an array, or one with metadata.

    The key is drawn even where the initializer does not look at it: what the next parameter gets
    must not depend on it.
    """
    size = tuple(shape)
    is_constant = _IS_CONSTANT.get(id(initializer))
    if (
        is_constant is not None
        and type(rngs) is Rngs
        and type(stream := rngs.params) is RngStream
        and jnp.issubdtype(dtype, jnp.floating)
        and all(type(number) is int for number in size)
        and jax.sharding.get_abstract_mesh().empty
    ):
        return stream._filled(initializer, size, jnp.dtype(dtype), is_constant)
    return initializer(next_key(layer, rngs), size, dtype)


def new_param(
    layer: object,
    rngs: Rngs,
    dtype: Dtype,
    initializer: Initializer,
    shape: Sequence[int],
    metadata: Metadata,
) -> Param[jax.Array]:
    return Param(initial_value(layer, rngs, dtype, initializer, shape), **metadata)


# -- calls -----------------------------------------------------------------------------------------


def read(variable: Variable[jax.Array] | None) -> Array | None:
    """Return the value of a Variable; None for a layer that lacks it."""
    return None if variable is None else variable[...]


def accumulate_in(dtype: Dtype | None) -> dict[str, Any]:
    """Return the argument that asks for a dtype of a product; none where none was asked for.

    A replacement of `jax.lax.dot_general` need not know the argument.
    """
    return {} if dtype is None else {"preferred_element_type": dtype}


def plus_bias(result: Array, bias: Array | None, batch: int = 0) -> Array:
    """Return the result plus a bias, whose axes are the first `batch` and the last of the result."""
    if bias is None:
        return result
    between = (1,) * (result.ndim - bias.ndim)
    bias = lax.reshape(bias, (*bias.shape[:batch], *between, *bias.shape[batch:]))
    # In a trace `+` costs four times as much: jax.numpy traces a function of its own.
    is_plain = isinstance(result, Tracer) and result.dtype == bias.dtype
    return lax.add(result, bias) if is_plain else result + bias


def first_set(
    *values: A | None, layer: object, argument: str, why: str, fixes: tuple[str, ...]
) -> A:
    """Return the first of `values`, the strongest first, that is not None.

    Raises:
        UnsetModeError: All are None; it says `why` one must be set, and the `fixes`, lines of code.
    """
    for value in values:
        if value is not None:
            return value
    raise UnsetModeError(type(layer).__name__, argument, why, fixes)


def check_rngs(layer: object, rngs: object) -> None:
    if not isinstance(rngs, Rngs):
        raise RngsTypeError(type(layer).__name__, "rngs", rngs, "an nnx.Rngs")


def kept_stream(layer: object, rngs: Rngs | RngStream | bool) -> RngStream | None:
    """Return the stream that a layer keeps for its carries: a fork of ``carry``, or the one it got.

    True is a stream that starts from seed 0, False is none.
    """
    if isinstance(rngs, Rngs):
        return rngs["carry"].fork()
    if isinstance(rngs, RngStream):
        return rngs
    if not isinstance(rngs, bool):
        raise RngsTypeError(
            type(layer).__name__, "rngs", rngs, "an nnx.Rngs, a stream of one, True or False"
        )
    return RngStream(0, tag="carry") if rngs else None


def called_stream(
    layer: object, rngs: Rngs | RngStream | None, kept: RngStream | None, name: str
) -> RngStream | None:
    """Return the stream of a call: `name` of the streams or the stream it was given, or the one kept."""
    if rngs is None:
        return kept
    if isinstance(rngs, Rngs):
        return rngs[name]
    if isinstance(rngs, RngStream):
        return rngs
    raise RngsTypeError(type(layer).__name__, "rngs", rngs, "an nnx.Rngs, a stream of one or None")
