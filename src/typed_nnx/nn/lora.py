"""Low-rank adaptation: a small trainable product beside the weights of a layer."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from typed_nnx._core.modules import A as A
from typed_nnx._core.modules import Module
from typed_nnx._core.rngs import Rngs
from typed_nnx._core.variable import Variable
from typed_nnx._core.variable_types import LoRAParam as LoRAParam
from typed_nnx.errors import LayerArgumentError
from typed_nnx.nn import initializers
from typed_nnx.nn._layers import (
    NO_METADATA,
    Array,
    Dtype,
    Initializer,
    Metadata,
    PromoteDtypeFn,
    Sharding,
    initial_value,
)
from typed_nnx.nn.dtypes import promote_dtype
from typed_nnx.nn.linear import Linear

default_a_initializer: Initializer = initializers.he_uniform()
default_b_initializer: Initializer = initializers.zeros


class LoRA(Module):
    """The product of two thin matrices, added to what another Module gives.

    >>> adapter = LoRA(3, 2, 4, base_module=Linear(3, 4, rngs=Rngs(0)), rngs=Rngs(1))
    >>> adapter(jnp.ones((5, 3))).shape
    (5, 4)

    Args:
        in_features: Size of the last axis of the inputs.
        lora_rank: The rank of the product.
        out_features: Size of the last axis of the result.
        base_module: A Module called on the same inputs, whose result is added.
        dtype: The dtype to compute the product in; None means what inputs and matrices promote to.
        param_dtype: The dtype of the matrices.
        a_initializer: Initializer of `lora_a`, [in_features, lora_rank].
        b_initializer: Initializer of `lora_b`, [lora_rank, out_features]; zeros, so that training
            starts from what the base gives.
        lora_param_type: The type of both Variables, for filters such as an Optimizer's `wrt`.
        promote_dtype: What brings inputs and matrices to one dtype.
        rngs: Gives two keys of the stream ``params``.
        a_metadata: Metadata of `lora_a`, such as ``out_sharding``.
        b_metadata: Metadata of `lora_b`.

    Source: Hu et al., "LoRA: Low-Rank Adaptation of Large Language Models", 2021.
    """

    lora_a: Variable[jax.Array]
    lora_b: Variable[jax.Array]

    def __init__(
        self,
        in_features: int,
        lora_rank: int,
        out_features: int,
        *,
        base_module: Module | None = None,
        dtype: Dtype | None = None,
        param_dtype: Dtype = jnp.float32,
        a_initializer: Initializer = default_a_initializer,
        b_initializer: Initializer = default_b_initializer,
        lora_param_type: type[Variable[Any]] = LoRAParam,
        promote_dtype: PromoteDtypeFn = promote_dtype,
        rngs: Rngs,
        a_metadata: Metadata = NO_METADATA,
        b_metadata: Metadata = NO_METADATA,
    ) -> None:
        self.in_features: int = in_features
        self.out_features: int = out_features
        self.dtype: Dtype | None = dtype
        self.param_dtype: Dtype = param_dtype
        self.lora_param_type: type[Variable[Any]] = lora_param_type
        self.base_module: Module | None = base_module
        self.promote_dtype: PromoteDtypeFn = promote_dtype
        thin_a = initial_value(self, rngs, param_dtype, a_initializer, (in_features, lora_rank))
        self.lora_a = lora_param_type(thin_a, **a_metadata)
        thin_b = initial_value(self, rngs, param_dtype, b_initializer, (lora_rank, out_features))
        self.lora_b = lora_param_type(thin_b, **b_metadata)

    def __call__(self, x: Array, **kwargs: Any) -> Array:
        """Return ``x @ lora_a @ lora_b``, plus what the base gives: [..., in] -> [..., out].

        Args:
            x: Any dtype, [..., in_features].
            **kwargs: Passed on to the base.

        Raises:
            LayerArgumentError: The base cannot be called.
        """
        x, lora_a, lora_b = self.promote_dtype(
            (x, self.lora_a[...], self.lora_b[...]), dtype=self.dtype
        )
        product: Array = x @ lora_a @ lora_b
        if self.base_module is None:
            return product
        if not callable(self.base_module):
            raise LayerArgumentError(
                type(self).__name__,
                "base_module",
                f"a {type(self.base_module).__name__}, which cannot be called",
                "a Module with a method `__call__`",
                f"nnx.{type(self).__name__}(..., base_module=nnx.Linear(...))",
            )
        added: Array = product + self.base_module(x, **kwargs)
        return added


class LoRALinear(Linear):
    """A `Linear` with a low-rank product beside its kernel.

    Args:
        in_features: Size of the last axis of the inputs.
        out_features: Size of the last axis of the result.
        lora_rank: The rank of the product.
        lora_dtype: The dtype to compute the product in; None means what arrays promote to.
        lora_param_dtype: The dtype of the two matrices.
        a_initializer: Initializer of ``lora.lora_a``, [in_features, lora_rank].
        b_initializer: Initializer of ``lora.lora_b``, [lora_rank, out_features].
        lora_param_type: The type of both Variables.
        lora_promote_dtype: What brings inputs and matrices to one dtype.
        rngs: Gives the keys of `Linear`, then two for the matrices.
        a_metadata: Metadata of ``lora.lora_a``.
        b_metadata: Metadata of ``lora.lora_b``.
        **kwargs: As of `Linear`.

    Source: Hu et al., "LoRA: Low-Rank Adaptation of Large Language Models", 2021.
    """

    lora: LoRA

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        lora_rank: int,
        lora_dtype: Dtype | None = None,
        lora_param_dtype: Dtype = jnp.float32,
        a_initializer: Initializer = default_a_initializer,
        b_initializer: Initializer = default_b_initializer,
        lora_param_type: type[Variable[Any]] = LoRAParam,
        lora_promote_dtype: PromoteDtypeFn = promote_dtype,
        rngs: Rngs,
        a_metadata: Metadata = NO_METADATA,
        b_metadata: Metadata = NO_METADATA,
        **kwargs: Any,
    ) -> None:
        super().__init__(in_features, out_features, rngs=rngs, **kwargs)
        self.lora = LoRA(
            in_features,
            lora_rank,
            out_features,
            dtype=lora_dtype,
            param_dtype=lora_param_dtype,
            a_initializer=a_initializer,
            b_initializer=b_initializer,
            lora_param_type=lora_param_type,
            promote_dtype=lora_promote_dtype,
            rngs=rngs,
            a_metadata=a_metadata,
            b_metadata=b_metadata,
        )

    def __call__(self, x: Array, out_sharding: Sharding = None) -> Array:
        """Return what the Linear gives, plus the low-rank product.

        Args:
            x: Any dtype, [..., in_features].
            out_sharding: Layout of the Linear's result over an explicit mesh.
        """
        return super().__call__(x, out_sharding=out_sharding) + self.lora(x)
