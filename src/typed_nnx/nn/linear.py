"""``nnx.nn.linear``: layers that are linear in their inputs."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from typed_nnx._core.fields import data
from typed_nnx._core.metadata import VariableMetadata
from typed_nnx._core.modules import Module as Module
from typed_nnx._core.rngs import Rngs
from typed_nnx._core.variable_types import Param
from typed_nnx.errors import LayerArgumentError, LayerInputError
from typed_nnx.nn._conv import Conv as Conv
from typed_nnx.nn._conv import ConvTranspose as ConvTranspose
from typed_nnx.nn._conv import canonicalize_padding as canonicalize_padding
from typed_nnx.nn._layers import (
    NO_METADATA,
    Array,
    Axis,
    DotGeneralT,
    Dtype,
    EinsumT,
    FrozenMapping,
    Initializer,
    Metadata,
    PrecisionLike,
    PromoteDtypeFn,
    Shape,
    Sharding,
    Size,
    accumulate_in,
    as_tuple,
    bias_init,
    described,
    does_not_fit,
    embedding_init,
    initial_value,
    kernel_init,
    new_param,
    plus_bias,
    read,
    size_held,
)
from typed_nnx.nn.dtypes import promote_dtype

default_kernel_init: Initializer = kernel_init
default_bias_init: Initializer = bias_init
default_embed_init: Initializer = embedding_init


class Linear(Module):
    """An affine map over the last axis: ``inputs @ kernel + bias``.

    >>> layer = Linear(3, 4, rngs=Rngs(0))
    >>> layer(jnp.ones((2, 3))).shape
    (2, 4)

    Args:
        in_features: Size of the last axis of the inputs.
        out_features: Size of the last axis of the result.
        use_bias: Whether to add a bias; without one `bias` is None.
        dtype: The dtype to compute in; None means what inputs and parameters promote to.
        param_dtype: The dtype of the parameters.
        precision: Precision of the product, as of `jax.lax.dot_general`.
        kernel_init: Initializer of `kernel`, [in_features, out_features].
        bias_init: Initializer of `bias`, [out_features].
        dot_general: What computes the product, in place of `jax.lax.dot_general`.
        promote_dtype: What brings inputs and parameters to one dtype.
        preferred_element_type: The dtype that the product accumulates in and returns.
        rngs: Gives two keys of the stream ``params`` (one without a bias).
        kernel_metadata: Metadata of `kernel`, such as ``out_sharding``.
        bias_metadata: Metadata of `bias`.
    """

    kernel: Param[jax.Array]
    bias: Param[jax.Array] | None

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        use_bias: bool = True,
        dtype: Dtype | None = None,
        param_dtype: Dtype = jnp.float32,
        precision: PrecisionLike = None,
        kernel_init: Initializer = kernel_init,
        bias_init: Initializer = bias_init,
        dot_general: DotGeneralT = lax.dot_general,
        promote_dtype: PromoteDtypeFn = promote_dtype,
        preferred_element_type: Dtype | None = None,
        rngs: Rngs,
        kernel_metadata: Metadata = NO_METADATA,
        bias_metadata: Metadata = NO_METADATA,
    ) -> None:
        new = partial(new_param, self, rngs, param_dtype)
        self.kernel = new(kernel_init, (in_features, out_features), kernel_metadata)
        self.bias = new(bias_init, (out_features,), bias_metadata) if use_bias else data(None)
        self.in_features: int = in_features
        self.out_features: int = out_features
        self.use_bias: bool = use_bias
        self.dtype: Dtype | None = dtype
        self.param_dtype: Dtype = param_dtype
        self.precision: PrecisionLike = precision
        self.dot_general: DotGeneralT = dot_general
        self.promote_dtype: PromoteDtypeFn = promote_dtype
        self.preferred_element_type: Dtype | None = preferred_element_type

    def __call__(self, inputs: Array, out_sharding: Sharding = None) -> Array:
        """Return ``inputs @ kernel + bias``: [..., in_features] -> [..., out_features].

        Args:
            inputs: Any dtype, [..., in_features].
            out_sharding: Layout of the result over an explicit mesh.

        Raises:
            LayerInputError: The last axis of `inputs` has another size than the first of `kernel`.
        """
        x, kernel, bias = self.promote_dtype(
            (inputs, self.kernel[...], read(self.bias)), dtype=self.dtype
        )
        # A replacement of jax's product may take other kernels.
        if self.dot_general is lax.dot_general and x.shape[-1:] != kernel.shape[:1]:
            raise does_not_fit(self, inputs, kernel.shape[0], self.out_features)
        result = self.dot_general(
            x,
            kernel,
            (((x.ndim - 1,), (0,)), ((), ())),
            precision=self.precision,
            out_sharding=out_sharding,
            **accumulate_in(self.preferred_element_type),
        )
        return plus_bias(result, bias)


class Einsum(Module):
    """The product of inputs and kernel by Einstein's notation, plus a bias.

    >>> layer = Einsum("bta,ahd->bthd", (6, 2, 3), (2, 3), rngs=Rngs(0))
    >>> layer(jnp.ones((5, 4, 6))).shape
    (5, 4, 2, 3)

    Args:
        einsum_str: ``inputs,kernel->result``; spaces do not count.
        kernel_shape: Shape of `kernel`.
        bias_shape: Shape of `bias`: the sizes of the kernel's axes that the result keeps, in the
            order of the result, or its only size. None means no bias.
        kernel_init: Initializer of `kernel`.
        bias_init: Initializer of `bias`.
        einsum_op: What computes the product, in place of `jax.numpy.einsum`.

    The other arguments are those of `Linear`.

    Raises:
        LayerArgumentError: `einsum_str` does not have two operands and a result.
    """

    kernel: Param[jax.Array]
    bias: Param[jax.Array] | None

    def __init__(
        self,
        einsum_str: str,
        kernel_shape: Shape,
        bias_shape: Shape | int | None = None,
        *,
        dtype: Dtype | None = None,
        param_dtype: Dtype = jnp.float32,
        precision: PrecisionLike = None,
        kernel_init: Initializer = kernel_init,
        bias_init: Initializer = bias_init,
        promote_dtype: PromoteDtypeFn = promote_dtype,
        einsum_op: EinsumT = jnp.einsum,
        preferred_element_type: Dtype | None = None,
        rngs: Rngs,
        kernel_metadata: Metadata = NO_METADATA,
        bias_metadata: Metadata = NO_METADATA,
    ) -> None:
        equation = _Equation.of(type(self).__name__, einsum_str)
        new = partial(new_param, self, rngs, param_dtype)
        self.kernel = new(kernel_init, kernel_shape, kernel_metadata)
        shape = None if bias_shape is None else as_tuple(bias_shape)
        self.bias = data(None) if shape is None else new(bias_init, shape, bias_metadata)
        self.einsum_str: str = equation.text
        self.kernel_shape: tuple[int, ...] = tuple(kernel_shape)
        self.bias_shape: tuple[int, ...] | None = shape
        self.dtype: Dtype | None = dtype
        self.param_dtype: Dtype = param_dtype
        self.precision: PrecisionLike = precision
        self.promote_dtype: PromoteDtypeFn = promote_dtype
        self.einsum_op: EinsumT = einsum_op
        self.preferred_element_type: Dtype | None = preferred_element_type

    def __call__(
        self, inputs: Array, einsum_str: str | None = None, out_sharding: Sharding = None
    ) -> Array:
        """Return the product of `inputs` and `kernel`, plus the bias.

        Args:
            inputs: Any dtype, of the shape that the first operand of the equation says.
            einsum_str: An equation in place of that of the constructor.
            out_sharding: Layout of the result over an explicit mesh.

        Raises:
            LayerArgumentError: `einsum_str` does not have two operands and a result.
        """
        text = self.einsum_str if einsum_str is None else einsum_str
        equation = _Equation.of(type(self).__name__, text)
        inputs, kernel, bias = self.promote_dtype(
            (inputs, self.kernel[...], read(self.bias)), dtype=self.dtype
        )
        result = self.einsum_op(
            equation.text,
            inputs,
            kernel,
            precision=self.precision,
            out_sharding=out_sharding,
            **accumulate_in(self.preferred_element_type),
        )
        if bias is None:
            return result
        return result + bias.reshape(equation.shape_of_bias(kernel.shape, result.ndim))


class _Equation(NamedTuple):
    """An equation with its two operands and its result taken apart."""

    text: str
    kernel: str
    result: str

    @classmethod
    def of(cls, layer: str, text: str) -> _Equation:
        plain = text.replace(" ", "")
        operands, arrow, result = plain.partition("->")
        if not arrow or operands.count(",") != 1:
            raise LayerArgumentError(
                layer,
                "einsum_str",
                repr(text),
                "an equation with two operands, the inputs and the kernel, and a result",
                'einsum_str="bta,ahd->bthd"',
            )
        return cls(plain, operands.partition(",")[2], result)

    def shape_of_bias(self, kernel_shape: tuple[int, ...], ndim: int) -> tuple[int, ...]:
        """Return the shape in which the bias broadcasts against a result of rank `ndim`.

        An axis of the result has the size it has in the kernel, and 1 where the kernel lacks it.
        """
        sizes = dict(zip(_axes(self.kernel, len(kernel_shape)), kernel_shape, strict=True))
        return tuple([sizes.get(axis, 1) for axis in _axes(self.result, ndim)])


def _axes(labels: str, ndim: int) -> list[str | int]:
    """Return a name for each axis of an operand: its label, or its place from the end of ``...``."""
    before, dots, after = labels.partition("...")
    hidden = ndim - len(before) - len(after)
    return [*before, *(range(-hidden, 0) if dots else ()), *after]


# Its types do not know that it takes the function and options together.
_auto_axes: Any = jax.sharding.auto_axes


class Embed(Module):
    """A table of `num_embeddings` vectors, looked up by number.

    >>> table = Embed(10, 3, rngs=Rngs(0))
    >>> table(jnp.array([[1, 5]])).shape
    (1, 2, 3)

    Args:
        num_embeddings: How many vectors there are.
        features: Size of each.
        dtype: The dtype of the result; None means that of the table.
        param_dtype: The dtype of the table.
        embedding_init: Initializer of `embedding`, [num_embeddings, features].
        promote_dtype: What brings table and queries to one dtype.
        rngs: Gives one key of the stream ``params``.
        embedding_metadata: Metadata of `embedding`, such as ``out_sharding``.
    """

    embedding: Param[jax.Array]

    def __init__(
        self,
        num_embeddings: int,
        features: int,
        *,
        dtype: Dtype | None = None,
        param_dtype: Dtype = jnp.float32,
        embedding_init: Initializer = embedding_init,
        promote_dtype: PromoteDtypeFn = promote_dtype,
        rngs: Rngs,
        embedding_metadata: Metadata = NO_METADATA,
    ) -> None:
        shape = (num_embeddings, features)
        self.embedding = new_param(
            self, rngs, param_dtype, embedding_init, shape, embedding_metadata
        )
        self.num_embeddings: int = num_embeddings
        self.features: int = features
        # Not `or`: numpy's dtypes are false.
        self.dtype: Dtype = self.embedding.dtype if dtype is None else dtype
        self.param_dtype: Dtype = param_dtype
        self.promote_dtype: PromoteDtypeFn = promote_dtype

    def __call__(self, inputs: Array, out_sharding: Sharding = None) -> Array:
        """Return the vectors of `inputs`: integer [...] -> [..., features].

        A number that the table does not have gives NaN; a negative one counts from the end.

        Args:
            inputs: Which vectors.
            out_sharding: Layout of the result over an explicit mesh.

        Raises:
            LayerInputError: `inputs` are not integers.
        """
        if not jnp.issubdtype(jnp.result_type(inputs), jnp.integer):
            raise LayerInputError(
                type(self).__name__,
                "inputs",
                described(inputs),
                "integers, signed or unsigned",
                "inputs.astype(jnp.int32)",
            )
        (embedding,) = self.promote_dtype((self.embedding[...],), dtype=self.dtype, inexact=False)
        if self.num_embeddings == embedding.shape[0] == 1:
            # The only vector there is: the gradient is a sum, where a lookup would scatter. The one
            # vector of a slice is looked up: numbers may be those of other slices.
            return jnp.broadcast_to(embedding, (*jnp.shape(inputs), embedding.shape[1]))
        if out_sharding is None:
            return jnp.take(embedding, inputs, axis=0)
        laid_out: Array = _auto_axes(
            lambda table, numbers: jnp.take(table, numbers, axis=0), out_sharding=out_sharding
        )(embedding, inputs)
        return laid_out

    def attend(self, query: Array, out_sharding: Sharding = None) -> Array:
        """Return the product of each query with each vector: [..., features] -> [..., vectors].

        As the last layer of a language model it gives logits over the table that embeds the words.

        Args:
            query: Any dtype, [..., features].
            out_sharding: Layout of the result over an explicit mesh.

        Raises:
            LayerInputError: The last axis of `query` has another size than that of `embedding`.

        Source: Press and Wolf, "Using the Output Embedding to Improve Language Models", 2017.
        """
        features = self.embedding.shape[-1]
        if jnp.shape(query)[-1:] != (features,):
            raise LayerInputError(
                f"{type(self).__name__}.attend",
                "query",
                described(query),
                f"a last axis of size {size_held(self, 'features', features, 'embedding')}",
                f"a query of shape (..., {features})",
            )
        query, embedding = self.promote_dtype((query, self.embedding[...]), dtype=self.dtype)
        return jnp.dot(query, embedding.T, out_sharding=out_sharding)


class LinearGeneral(Module):
    """An affine map from some axes of the inputs to new last axes.

    >>> heads = LinearGeneral(8, (2, 4), rngs=Rngs(0))
    >>> heads(jnp.ones((5, 8))).shape
    (5, 2, 4)
    >>> joined = LinearGeneral((2, 4), 8, axis=(-2, -1), rngs=Rngs(0))
    >>> joined(jnp.ones((5, 2, 4))).shape
    (5, 8)

    Args:
        in_features: Size of each axis in `axis`, in the order in which the inputs have them.
        out_features: Sizes of the axes that take their place, at the end.
        axis: The axes of the inputs to contract.
        batch_axis: Leading axes, from 0 on, with their sizes: each index there has its own kernel
            and bias.
        kernel_init: Initializer of `kernel`, [*batch, *in_features, *out_features]; it is asked
            for [batch * in, out], so that its fans count all the axes of each side.
        bias_init: Initializer of `bias`, [*batch, *out_features].
        dot_general_cls: A function that makes `dot_general` anew for each call.

    The other arguments are those of `Linear`.

    Raises:
        LayerArgumentError: `in_features` and `axis` differ in length, or the batch axes are not
            the first ones.
    """

    kernel: Param[jax.Array]
    bias: Param[jax.Array] | None

    def __init__(
        self,
        in_features: Size | Sequence[Size],
        out_features: Size | Sequence[Size],
        *,
        axis: Axis | Sequence[Axis] = -1,
        batch_axis: Mapping[Axis, Size] = FrozenMapping(),
        use_bias: bool = True,
        dtype: Dtype | None = None,
        param_dtype: Dtype = jnp.float32,
        kernel_init: Initializer = kernel_init,
        bias_init: Initializer = bias_init,
        precision: PrecisionLike = None,
        promote_dtype: PromoteDtypeFn = promote_dtype,
        dot_general: DotGeneralT | None = None,
        dot_general_cls: Callable[[], DotGeneralT] | None = None,
        preferred_element_type: Dtype | None = None,
        rngs: Rngs,
        kernel_metadata: Metadata = NO_METADATA,
        bias_metadata: Metadata = NO_METADATA,
    ) -> None:
        self.in_features: tuple[int, ...] = as_tuple(in_features)
        self.out_features: tuple[int, ...] = as_tuple(out_features)
        self.axis: tuple[int, ...] = as_tuple(axis)
        self.batch_axis: FrozenMapping[Axis, Size] = FrozenMapping(batch_axis)
        self.use_bias: bool = use_bias
        self.dtype: Dtype | None = dtype
        self.param_dtype: Dtype = param_dtype
        self.precision: PrecisionLike = precision
        self.dot_general: DotGeneralT | None = dot_general
        self.dot_general_cls: Callable[[], DotGeneralT] | None = dot_general_cls
        self.promote_dtype: PromoteDtypeFn = promote_dtype
        self.preferred_element_type: Dtype | None = preferred_element_type
        _check(self)
        batch, fan_in = tuple(self.batch_axis.values()), math.prod(self.in_features)
        out = math.prod(self.out_features)
        value = partial(initial_value, self, rngs, param_dtype)
        kernel = value(kernel_init, (math.prod(batch) * fan_in, out))
        shape = (*batch, *self.in_features, *self.out_features)
        self.kernel = Param(_reshaped(kernel, shape), **kernel_metadata)
        self.bias = data(None)
        if use_bias:
            bias = value(bias_init, (math.prod(batch) * out,))
            self.bias = Param(_reshaped(bias, (*batch, *self.out_features)), **bias_metadata)

    def __call__(self, inputs: Array, out_sharding: Sharding = None) -> Array:
        """Return the inputs with the axes `axis` contracted, and `out_features` as last axes.

        Args:
            inputs: Any dtype; each axis in `axis` with the size that `kernel` has there.
            out_sharding: Layout of the result over an explicit mesh.

        Raises:
            LayerInputError: An axis of `inputs` is missing or has another size.
        """
        x, kernel, bias = self.promote_dtype(
            (inputs, self.kernel[...], read(self.bias)), dtype=self.dtype
        )
        dot_general = lax.dot_general if self.dot_general is None else self.dot_general
        if self.dot_general_cls is not None:
            dot_general = self.dot_general_cls()
        # A replacement of jax's product may take other kernels.
        sizes = kernel.shape if dot_general is lax.dot_general else None
        axes, batch = _axes_of(self, inputs, sizes)
        contracted = tuple(range(len(batch), len(batch) + len(axes)))
        result = dot_general(
            x,
            kernel,
            ((axes, contracted), (batch, batch)),
            precision=self.precision,
            out_sharding=out_sharding,
            **accumulate_in(self.preferred_element_type),
        )
        return plus_bias(result, bias, len(batch))


def _check(layer: LinearGeneral) -> None:
    name = type(layer).__name__
    if len(layer.in_features) != len(layer.axis):
        raise LayerArgumentError(
            name,
            "axis",
            repr(layer.axis),
            f"one axis for each of in_features={layer.in_features}",
            f"nnx.{name}((4, 5), 8, axis=(-2, -1), ...)",
        )
    if sorted(layer.batch_axis) != list(range(len(layer.batch_axis))):
        raise LayerArgumentError(
            name,
            "batch_axis",
            repr(layer.batch_axis),
            "the first axes, counted from 0 without a gap",
            f"nnx.{name}(..., batch_axis={{0: 7}}, ...), and move those axes of the inputs first",
        )


def _reshaped(value: Any, shape: tuple[int, ...]) -> Any:
    """Return what an initializer made in another shape, with its metadata if it has any."""
    if isinstance(value, VariableMetadata):
        return dataclasses.replace(value, raw_value=jnp.reshape(value.raw_value, shape))
    return jnp.reshape(value, shape)


def _axes_of(
    layer: LinearGeneral, inputs: Array, sizes: tuple[int, ...] | None
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the contracted axes and the batch axes of `inputs`, counted from the first.

    They must have the sizes of the kernel; `sizes` is None if its shape may be any.
    """
    shape = jnp.shape(inputs)
    ndim = len(shape)
    batch = tuple(sorted(layer.batch_axis))
    ends = len(batch) + len(layer.axis)
    if all(-ndim <= axis < ndim for axis in layer.axis):
        axes = tuple(sorted([axis % ndim for axis in layer.axis]))
        if sizes is None:
            return axes, batch
        if sizes[:ends] == tuple([shape[axis] for axis in (*batch, *axes) if axis < ndim]):
            return axes, batch
    name, kernel = type(layer).__name__, layer.kernel.shape
    raise LayerInputError(
        name,
        "inputs",
        described(inputs),
        f"axes {layer.axis}, in ascending order, of sizes {kernel[len(batch) : ends]}"
        + (f", and batch axes {batch} of sizes {kernel[: len(batch)]}" if batch else ""),
        f"give inputs with these sizes, or another `axis` and `in_features` to nnx.{name}",
    )
