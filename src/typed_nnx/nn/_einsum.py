"""`Einsum`: a product of inputs and kernel by Einstein's notation, plus a bias."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from typed_nnx._core.module import Module
from typed_nnx._core.rngs import Rngs
from typed_nnx._core.variable_types import Param
from typed_nnx.errors import LayerArgumentError
from typed_nnx.nn._linear import accumulate_in
from typed_nnx.nn._parameters import (
    NO_METADATA,
    Metadata,
    bias_init,
    kernel_init,
    new_param,
    optional_param,
)
from typed_nnx.nn._typing import (
    Array,
    Dtype,
    EinsumT,
    Initializer,
    PrecisionLike,
    PromoteDtypeFn,
    Shape,
    Sharding,
)
from typed_nnx.nn.dtypes import promote_dtype


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
        dtype: The dtype to compute in; None means what inputs and parameters promote to.
        param_dtype: The dtype of the parameters.
        precision: Precision of the product, as of `jax.lax.dot_general`.
        kernel_init: Initializer of `kernel`.
        bias_init: Initializer of `bias`.
        promote_dtype: What brings inputs and parameters to one dtype.
        einsum_op: What computes the product, in place of `jax.numpy.einsum`.
        preferred_element_type: The dtype that the product accumulates in and returns.
        rngs: Gives two keys of the stream ``params`` (one without a bias).
        kernel_metadata: Metadata of `kernel`, such as ``out_sharding``.
        bias_metadata: Metadata of `bias`.

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
        self.kernel = new_param(self, rngs, kernel_init, kernel_shape, param_dtype, kernel_metadata)
        if isinstance(bias_shape, int):
            bias_shape = (bias_shape,)
        wanted = bias_shape is not None
        self.bias = optional_param(
            wanted, self, rngs, bias_init, bias_shape or (), param_dtype, bias_metadata
        )
        self.einsum_str: str = equation.text
        self.kernel_shape: tuple[int, ...] = tuple(kernel_shape)
        self.bias_shape: tuple[int, ...] | None = None if bias_shape is None else tuple(bias_shape)
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
            (inputs, self.kernel[...], None if self.bias is None else self.bias[...]),
            dtype=self.dtype,
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
