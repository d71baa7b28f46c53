"""Layers for code that was migrated from Linen, where those of NNX compute in another way."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

import typed_nnx as nnx

# Arguments are passed on as they are: their types are those of the layers that take them.
# pyright: reportAttributeAccessIssue=false
# They have the parameters that these have, with the same defaults.
# ruff: noqa: B008, PLR0913


def keep_dtypes(arrays: Any, *, dtype: Any = None, inexact: bool = True) -> Any:
    """Return arrays as they are: like Linen, the layer brings only its result to its dtype."""
    return arrays


def in_dtype_of_inputs(arrays: Any, *, dtype: Any = None, inexact: bool = True) -> Any:
    """Return arrays in the dtype of the first one: what a layer computes with its inputs in."""
    return nnx.nn.dtypes.promote_dtype(arrays, dtype=arrays[0].dtype, inexact=inexact)


def with_accepted_arguments(attention_fn: Callable[..., Any]) -> Callable[..., Any]:
    """Return an attention function that is called without the arguments that it does not name."""
    names = inspect.signature(attention_fn).parameters

    def attend(
        query: Any,
        key: Any,
        value: Any,
        *,
        module: Any = None,
        is_causal: bool = False,
        **kwargs: Any,
    ) -> Any:
        kept = {name: given for name, given in kwargs.items() if name in names}
        if module is not None:
            kept["module"] = module
        return attention_fn(query, key, value, **kept)

    return attend


def attention_in_its_dtype(
    query: jax.Array,
    key: jax.Array,
    value: jax.Array,
    *,
    mask: Any = None,
    broadcast_dropout: bool = True,
    dropout_rng: Any = None,
    dropout_rate: float = 0.0,
    deterministic: bool = False,
    dtype: Any = None,
    precision: Any = None,
    module: Any = None,
    is_causal: bool = False,
) -> jax.Array:
    """Attend like Linen: products and softmax are in the dtype of the layer, not in float32."""
    weights = nnx.nn.attention.dot_product_attention_weights(
        query,
        key,
        mask=mask,
        broadcast_dropout=broadcast_dropout,
        dropout_rng=dropout_rng,
        dropout_rate=dropout_rate,
        deterministic=deterministic,
        dtype=dtype,
        precision=precision,
        module=module,
        is_causal=is_causal,
    )
    return jnp.einsum("...hqk,...khd->...qhd", weights, value, precision=precision)


class LinenWeightNorm(nnx.Module):
    """Calls a layer with its weights scaled to a norm; like Linen's it keeps them as they are."""

    def __init__(
        self,
        layer_instance: nnx.Module,
        *,
        epsilon: float = 1e-12,
        dtype: Any = None,
        param_dtype: Any = jnp.float32,
        use_scale: bool = True,
        scale_init: Any = nnx.initializers.ones_init(),
        feature_axes: Any = -1,
        variable_filter: Any = ("kernel",),
        rngs: nnx.Rngs,
    ) -> None:
        self.layer_instance = layer_instance
        self.epsilon = epsilon
        self.dtype = dtype
        self.feature_axes = feature_axes
        self.variable_filter: tuple[str, ...] | None = (
            None if variable_filter is None else tuple(variable_filter)
        )
        self.scales: nnx.Dict[Any] = nnx.Dict()
        for path, weight in nnx.to_flat_state(nnx.state(layer_instance, nnx.Param)):
            if use_scale and self.normalizes(path):
                shape = tuple(weight.shape[axis] for axis in self.kept_axes(weight.ndim))
                scale = nnx.Param(scale_init(rngs.params(), shape, param_dtype))
                self.scales["_".join(map(str, path))] = scale

    def normalizes(self, path: Any) -> bool:
        """Whether the weight at a path of the layer is normalized."""
        names = self.variable_filter
        return not names or any(name in "/".join(map(str, path)) for name in names)

    def kept_axes(self, rank: int) -> tuple[int, ...]:
        """Return the axes that have a norm for each element."""
        axes = () if self.feature_axes is None else self.feature_axes
        axes = (axes,) if isinstance(axes, int) else axes
        return tuple({axis % rank for axis in axes})

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the layer with normalized weights."""
        layer = nnx.clone(self.layer_instance)
        for path, weight in nnx.to_flat_state(nnx.state(layer, nnx.Param)):
            if not self.normalizes(path):
                continue
            value = weight[...]
            kept = self.kept_axes(value.ndim)
            others = tuple(axis for axis in range(value.ndim) if axis not in kept)
            square = (value * value).sum(axis=others, keepdims=True)
            normalized = value * jax.lax.rsqrt(square + self.epsilon)
            dtypes = [value.dtype]
            name = "_".join(map(str, path))
            if name in self.scales:
                scale = self.scales[name][...]
                shape = [size if axis in kept else 1 for axis, size in enumerate(value.shape)]
                normalized = normalized * scale.reshape(shape)
                dtypes.append(scale.dtype)
            weight.set_value(jnp.asarray(normalized, self.dtype or jnp.result_type(*dtypes)))
        output = layer(*args, **kwargs)
        nnx.update(self.layer_instance, nnx.state(layer, nnx.Not(nnx.Param)))
        return output


class LinenSpectralNorm(nnx.Module):
    """Calls a layer with weights of spectral norm 1; like Linen's it keeps them as they are."""

    def __init__(
        self,
        layer_instance: nnx.Module,
        *,
        n_steps: int = 1,
        epsilon: float = 1e-12,
        dtype: Any = None,
        param_dtype: Any = jnp.float32,
        error_on_non_matrix: bool = False,
        rngs: nnx.Rngs,
    ) -> None:
        self.layer_instance = layer_instance
        self.n_steps = n_steps
        self.epsilon = epsilon
        self.dtype = dtype
        self.error_on_non_matrix = error_on_non_matrix
        self.u: nnx.Dict[Any] = nnx.Dict()
        self.sigma: nnx.Dict[Any] = nnx.Dict()
        for path, weight in nnx.to_flat_state(nnx.state(layer_instance, nnx.Param)):
            if weight.ndim > 1 and n_steps > 0:
                name = "_".join(map(str, path))
                start = jax.random.normal(rngs.params(), (1, weight.shape[-1]), param_dtype)
                self.u[name] = nnx.BatchStat(start)
                self.sigma[name] = nnx.BatchStat(jnp.ones((), param_dtype))

    def __call__(self, *args: Any, update_stats: bool, **kwargs: Any) -> Any:
        """Call the layer with normalized weights."""
        layer = nnx.clone(self.layer_instance)
        for path, weight in nnx.to_flat_state(nnx.state(layer, nnx.Param)):
            name = "_".join(map(str, path))
            if name in self.u:
                weight.set_value(self.normalized(name, weight[...], update_stats))
        output = layer(*args, **kwargs)
        nnx.update(self.layer_instance, nnx.state(layer, nnx.Not(nnx.Param)))
        return output

    def normalized(self, name: str, weight: jax.Array, update_stats: bool) -> jax.Array:
        """Return a weight divided by its largest singular value, found by power iteration."""
        if weight.ndim > 2 and self.error_on_non_matrix:
            raise ValueError(f"{name} has {weight.ndim} axes, not 2")  # as in Linen

        def unit(vector: jax.Array) -> jax.Array:
            return vector * jax.lax.rsqrt((vector * vector).sum(keepdims=True) + self.epsilon)

        matrix = weight.reshape(-1, weight.shape[-1])
        left = right = self.u[name][...]
        for _ in range(self.n_steps):
            left = unit(right @ matrix.T)
            right = unit(left @ matrix)
        left, right = jax.lax.stop_gradient((left, right))
        sigma = (left @ matrix @ right.T)[0, 0]
        result = (matrix / jnp.where(sigma != 0, sigma, 1)).reshape(weight.shape)
        if update_stats:
            self.u[name][...] = right
            self.sigma[name][...] = sigma
        return jnp.asarray(result, self.dtype or jnp.result_type(weight, left, right, sigma))


class LinenGRUCell(nnx.RNNCellBase):
    """A gated recurrent unit with the parameters of Linen's: the candidate has a second bias."""

    def __init__(
        self,
        in_features: int,
        hidden_features: int,
        *,
        gate_fn: Any = jax.nn.sigmoid,
        activation_fn: Any = jnp.tanh,
        kernel_init: Any = nnx.initializers.lecun_normal(),
        recurrent_kernel_init: Any = nnx.initializers.orthogonal(),
        bias_init: Any = nnx.initializers.zeros_init(),
        dtype: Any = None,
        param_dtype: Any = jnp.float32,
        carry_init: Any = nnx.initializers.zeros_init(),
        rngs: nnx.Rngs,
    ) -> None:
        def gate(width: int, init: Any, use_bias: bool) -> nnx.Linear:
            return nnx.Linear(
                width,
                hidden_features,
                use_bias=use_bias,
                kernel_init=init,
                bias_init=bias_init,
                dtype=dtype,
                param_dtype=param_dtype,
                rngs=rngs,
            )

        self.hidden_features = hidden_features
        self.gate_fn = gate_fn
        self.activation_fn = activation_fn
        self.param_dtype = param_dtype
        self.carry_init = carry_init
        self.ir: nnx.Linear = gate(in_features, kernel_init, True)
        self.iz: nnx.Linear = gate(in_features, kernel_init, True)
        self.in_: nnx.Linear = gate(in_features, kernel_init, True)
        self.hr: nnx.Linear = gate(hidden_features, recurrent_kernel_init, False)
        self.hz: nnx.Linear = gate(hidden_features, recurrent_kernel_init, False)
        self.hn: nnx.Linear = gate(hidden_features, recurrent_kernel_init, True)

    def __call__(self, carry: Any, inputs: jax.Array) -> tuple[Any, Any]:
        """Return the next carry, and it again as output."""
        reset = self.gate_fn(self.ir(inputs) + self.hr(carry))
        update = self.gate_fn(self.iz(inputs) + self.hz(carry))
        candidate = self.activation_fn(self.in_(inputs) + reset * self.hn(carry))
        carry = (1.0 - update) * candidate + update * carry
        return carry, carry

    def initialize_carry(self, input_shape: Any, rngs: Any = None, carry_init: Any = None) -> Any:
        """Return the first carry."""
        key = jax.random.key(0) if rngs is None else getattr(rngs, "carry", rngs)()
        init = carry_init or self.carry_init
        return init(key, (*input_shape[:-1], self.hidden_features), self.param_dtype)

    @property
    def num_feature_axes(self) -> int:
        """How many of the last axes of the inputs are no batch axes."""
        return 1


class LinenMGUCell(nnx.RNNCellBase):
    """A minimal gated unit with the parameters of Linen's."""

    def __init__(
        self,
        in_features: int,
        hidden_features: int,
        *,
        gate_fn: Any = jax.nn.sigmoid,
        activation_fn: Any = jnp.tanh,
        kernel_init: Any = nnx.initializers.lecun_normal(),
        recurrent_kernel_init: Any = nnx.initializers.orthogonal(),
        forget_bias_init: Any = nnx.initializers.ones_init(),
        activation_bias_init: Any = nnx.initializers.zeros_init(),
        dtype: Any = None,
        param_dtype: Any = jnp.float32,
        carry_init: Any = nnx.initializers.zeros_init(),
        reset_gate: bool = True,
        rngs: nnx.Rngs,
    ) -> None:
        def gate(width: int, init: Any, use_bias: bool, bias_init: Any) -> nnx.Linear:
            return nnx.Linear(
                width,
                hidden_features,
                use_bias=use_bias,
                kernel_init=init,
                bias_init=bias_init,
                dtype=dtype,
                param_dtype=param_dtype,
                rngs=rngs,
            )

        self.hidden_features = hidden_features
        self.gate_fn = gate_fn
        self.activation_fn = activation_fn
        self.param_dtype = param_dtype
        self.carry_init = carry_init
        self.reset_gate = reset_gate
        self.if_: nnx.Linear = gate(in_features, kernel_init, True, forget_bias_init)
        self.in_: nnx.Linear = gate(in_features, kernel_init, True, activation_bias_init)
        self.hf: nnx.Linear = gate(
            hidden_features, recurrent_kernel_init, False, activation_bias_init
        )
        self.hn: nnx.Linear = gate(
            hidden_features, recurrent_kernel_init, reset_gate, activation_bias_init
        )

    def __call__(self, carry: Any, inputs: jax.Array) -> tuple[Any, Any]:
        """Return the next carry, and it again as output."""
        forget = self.gate_fn(self.if_(inputs) + self.hf(carry))
        hidden = self.hn(carry)
        if self.reset_gate:
            hidden = hidden * forget
        candidate = self.activation_fn(self.in_(inputs) + hidden)
        carry = (1.0 - forget) * candidate + forget * carry
        return carry, carry

    def initialize_carry(self, input_shape: Any, rngs: Any = None, carry_init: Any = None) -> Any:
        """Return the first carry."""
        key = jax.random.key(0) if rngs is None else getattr(rngs, "carry", rngs)()
        init = carry_init or self.carry_init
        return init(key, (*input_shape[:-1], self.hidden_features), self.param_dtype)

    @property
    def num_feature_axes(self) -> int:
        """How many of the last axes of the inputs are no batch axes."""
        return 1


class LinenConvLSTMCell(nnx.RNNCellBase):
    """A convolutional long short-term memory with the parameters of Linen's."""

    def __init__(
        self,
        in_features: int,
        hidden_features: int,
        *,
        kernel_size: Sequence[int],
        strides: Any = None,
        padding: Any = "SAME",
        use_bias: bool = True,
        dtype: Any = None,
        param_dtype: Any = jnp.float32,
        carry_init: Any = nnx.initializers.zeros_init(),
        rngs: nnx.Rngs,
    ) -> None:
        def gates(width: int) -> nnx.Conv:
            return nnx.Conv(
                width,
                4 * hidden_features,
                kernel_size,
                strides,
                padding=padding,
                use_bias=use_bias,
                dtype=dtype,
                param_dtype=param_dtype,
                rngs=rngs,
            )

        self.hidden_features = hidden_features
        self.param_dtype = param_dtype
        self.carry_init = carry_init
        self.spatial_axes: int = len(kernel_size)
        self.ih: nnx.Conv = gates(in_features)
        self.hh: nnx.Conv = gates(hidden_features)

    def __call__(self, carry: Any, inputs: jax.Array) -> tuple[Any, Any]:
        """Return the next carry, cell state and hidden state, and the latter as output."""
        cell, hidden = carry
        gates = self.ih(inputs) + self.hh(hidden)
        enter, candidate, forget, leave = jnp.split(gates, 4, axis=-1)
        cell = jax.nn.sigmoid(forget + 1) * cell + jax.nn.sigmoid(enter) * jnp.tanh(candidate)
        hidden = jax.nn.sigmoid(leave) * jnp.tanh(cell)
        return (cell, hidden), hidden

    def initialize_carry(self, input_shape: Any, rngs: Any = None, carry_init: Any = None) -> Any:
        """Return the first carry."""
        init = carry_init or self.carry_init
        shape = (*input_shape[:-1], self.hidden_features)
        stream = nnx.Rngs(0).carry if rngs is None else getattr(rngs, "carry", rngs)
        return tuple(init(stream(), shape, self.param_dtype) for _ in range(2))

    @property
    def num_feature_axes(self) -> int:
        """How many of the last axes of the inputs are no batch axes."""
        return self.spatial_axes + 1
