"""Layers for code that was migrated from Haiku, where those of NNX compute in another way."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

import typed_nnx as nnx

# They have the parameters of Haiku's layers, with the same defaults, behind the sizes of inputs.
# ruff: noqa: PLR0913


def haiku_kernel(key: jax.Array, shape: Sequence[int], dtype: Any = jnp.float32) -> jax.Array:
    """Return a first kernel as Haiku's `Linear` and `ConvND` draw it, of any shape."""
    drawn = jax.random.truncated_normal(key, -2.0, 2.0, tuple(shape), dtype)
    return drawn / math.sqrt(math.prod(shape[:-1]))


class HaikuMovingAverage(nnx.Module):
    """An exponential moving average as Haiku keeps it, with its bias towards zero removed."""

    def __init__(
        self,
        shape: Sequence[int],
        decay: Any,
        zero_debias: bool = True,
        warmup_length: int = 0,
        *,
        dtype: Any = jnp.float32,
    ) -> None:
        self.decay = decay
        self.zero_debias = zero_debias
        self.warmup_length = warmup_length
        self.counter: nnx.BatchStat[jax.Array] = nnx.BatchStat(jnp.array(-warmup_length, jnp.int32))
        self.hidden: nnx.BatchStat[jax.Array] = nnx.BatchStat(jnp.zeros(tuple(shape), dtype))
        self.average: nnx.BatchStat[jax.Array] = nnx.BatchStat(jnp.zeros(tuple(shape), dtype))

    def initialize(self, shape: Any, dtype: Any = jnp.float32) -> None:
        """Do nothing: the constructor makes the state."""

    def __call__(self, value: jax.Array, update_stats: bool = True) -> jax.Array:
        """Return the average with a new value, and keep it if asked to."""
        counter = self.counter[...] + 1
        decay = jnp.asarray(self.decay, value.dtype)
        if self.warmup_length > 0:
            decay = jnp.where(counter <= 0, jnp.zeros_like(decay), decay)
        hidden = self.hidden[...] * decay + value * (1 - decay)
        average = hidden / (1 - jnp.power(decay, counter)) if self.zero_debias else hidden
        if update_stats:
            self.counter.set_value(counter)
            self.hidden.set_value(hidden)
            self.average.set_value(average)
        return average


class HaikuBatchNorm(nnx.Module):
    """Batch normalization with the moving averages of Haiku."""

    def __init__(
        self,
        num_features: int,
        create_scale: bool,
        create_offset: bool,
        decay_rate: Any,
        eps: float = 1e-5,
        scale_init: Any = None,
        offset_init: Any = None,
        cross_replica_axis: Any = None,
        cross_replica_axis_index_groups: Any = None,
        *,
        rngs: nnx.Rngs,
    ) -> None:
        shape = (num_features,)
        ones, zeros = nnx.initializers.ones_init(), nnx.initializers.zeros_init()
        scale_init, offset_init = scale_init or ones, offset_init or zeros
        self.scale: nnx.Param[jax.Array] | None = (
            nnx.Param(scale_init(rngs.params(), shape)) if create_scale else None
        )
        self.offset: nnx.Param[jax.Array] | None = (
            nnx.Param(offset_init(rngs.params(), shape)) if create_offset else None
        )
        self.eps = eps
        self.cross_replica_axis = cross_replica_axis
        self.cross_replica_axis_index_groups = cross_replica_axis_index_groups
        self.mean_ema: HaikuMovingAverage = HaikuMovingAverage(shape, decay_rate)
        self.var_ema: HaikuMovingAverage = HaikuMovingAverage(shape, decay_rate)

    def __call__(
        self,
        inputs: jax.Array,
        is_training: bool,
        test_local_stats: bool = False,
        scale: Any = None,
        offset: Any = None,
    ) -> jax.Array:
        """Return the inputs normalized over all axes but the last one."""
        axes = tuple(range(inputs.ndim - 1))
        if is_training or test_local_stats:
            mean = jnp.mean(inputs, axes)
            squares = jnp.mean(jnp.square(inputs), axes)
            if self.cross_replica_axis:
                across: Any = jax.lax.pmean
                axis, groups = self.cross_replica_axis, self.cross_replica_axis_index_groups
                mean, squares = across((mean, squares), axis, axis_index_groups=groups)
            var = squares - jnp.square(mean)
        else:
            mean = self.mean_ema.average[...].astype(inputs.dtype)
            var = self.var_ema.average[...].astype(inputs.dtype)
        if is_training:
            self.mean_ema(mean)
            self.var_ema(var)
        factor = jax.lax.rsqrt(var + jnp.asarray(self.eps, var.dtype))
        scale = scale if self.scale is None else self.scale[...]
        offset = offset if self.offset is None else self.offset[...]
        if scale is not None:
            factor = factor * scale
        outputs = (inputs - jnp.expand_dims(mean, axes)) * jnp.expand_dims(factor, axes)
        return outputs if offset is None else outputs + jnp.broadcast_to(offset, outputs.shape)


class HaikuMultiHeadAttention(nnx.Module):
    """Attention with the parameters of Haiku's: one product for all heads."""

    def __init__(
        self,
        query_features: int,
        key_features: int,
        value_features: int,
        num_heads: int,
        key_size: int,
        *,
        w_init: Any,
        with_bias: bool = True,
        b_init: Any = None,
        value_size: int | None = None,
        model_size: int | None = None,
        rngs: nnx.Rngs,
    ) -> None:
        def layer(in_features: int, out_features: int) -> nnx.Linear:
            return nnx.Linear(
                in_features,
                out_features,
                use_bias=with_bias,
                kernel_init=w_init,
                bias_init=b_init or nnx.initializers.zeros_init(),
                rngs=rngs,
            )

        self.num_heads = num_heads
        self.key_size = key_size
        value_size = value_size or key_size
        self.query: nnx.Linear = layer(query_features, num_heads * key_size)
        self.key: nnx.Linear = layer(key_features, num_heads * key_size)
        self.value: nnx.Linear = layer(value_features, num_heads * value_size)
        self.linear: nnx.Linear = layer(num_heads * value_size, model_size or key_size * num_heads)

    def __call__(
        self, query: jax.Array, key: jax.Array, value: jax.Array, mask: Any = None
    ) -> jax.Array:
        """Return what the queries find, `[..., time, model_size]`."""

        def heads(array: jax.Array) -> jax.Array:
            return array.reshape((*array.shape[:-1], self.num_heads, -1))

        logits = jnp.einsum("...thd,...Thd->...htT", heads(self.query(query)), heads(self.key(key)))
        logits = logits / jnp.sqrt(self.key_size).astype(key.dtype)
        if mask is not None:
            logits = jnp.where(mask, logits, -1e30)
        found = jnp.einsum(
            "...htT,...Thd->...thd", jax.nn.softmax(logits), heads(self.value(value))
        )
        return self.linear(found.reshape((*query.shape[:-1], -1)))


class HaikuMLP(nnx.Module):
    """A multi-layer perceptron, as `hk.nets.MLP`."""

    def __init__(
        self,
        in_features: int,
        output_sizes: Sequence[int],
        w_init: Any = None,
        b_init: Any = None,
        with_bias: bool = True,
        activation: Callable[[jax.Array], jax.Array] = jax.nn.relu,
        activate_final: bool = False,
        *,
        rngs: nnx.Rngs,
    ) -> None:
        self.activation = activation
        self.activate_final = activate_final
        self.layers: nnx.List[nnx.Linear] = nnx.List([])
        for features in output_sizes:
            layer = nnx.Linear(
                in_features,
                features,
                use_bias=with_bias,
                kernel_init=w_init or haiku_kernel,
                bias_init=b_init or nnx.initializers.zeros_init(),
                rngs=rngs,
            )
            self.layers.append(layer)
            in_features = features

    def __call__(
        self, inputs: jax.Array, dropout_rate: float | None = None, rng: Any = None
    ) -> jax.Array:
        """Return the outputs of the last layer; between layers some may be dropped."""
        out = inputs
        for place, layer in enumerate(self.layers):
            out = layer(out)
            if place < len(self.layers) - 1 or self.activate_final:
                if dropout_rate is not None:
                    rng, key = jax.random.split(rng)
                    out = haiku_dropout(key, dropout_rate, out)
                out = self.activation(out)
        return out


def haiku_dropout(
    rng: jax.Array, rate: float, x: jax.Array, broadcast_dims: Sequence[int] = ()
) -> jax.Array:
    """Return an array with some of its items dropped, and the others scaled."""
    shape = [1 if axis in broadcast_dims else size for axis, size in enumerate(x.shape)]
    keep = jax.random.bernoulli(rng, 1.0 - rate, tuple(shape))
    return keep * x / (1.0 - rate)


class HaikuVanillaRNN(nnx.Module):
    """A basic recurrent core, as `hk.VanillaRNN`."""

    def __init__(
        self, in_features: int, hidden_size: int, double_bias: bool = True, *, rngs: nnx.Rngs
    ) -> None:
        self.hidden_size = hidden_size
        self.linear: nnx.Linear = nnx.Linear(
            in_features, hidden_size, kernel_init=haiku_kernel, rngs=rngs
        )
        self.linear_1: nnx.Linear = nnx.Linear(
            hidden_size, hidden_size, use_bias=double_bias, kernel_init=haiku_kernel, rngs=rngs
        )

    def __call__(self, inputs: jax.Array, prev_state: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Return the output of a step and the next state."""
        out = jax.nn.relu(self.linear(inputs) + self.linear_1(prev_state))
        return out, out

    def initial_state(self, batch_size: int | None) -> jax.Array:
        """Return the first state."""
        return haiku_zeros(self.hidden_size, batch_size)


def haiku_zeros(size: int, batch_size: int | None) -> jax.Array:
    """Return zeros for a state of some size, with a batch axis or without."""
    return jnp.zeros((size,) if batch_size is None else (batch_size, size))


@jax.tree_util.register_pytree_node_class
class HaikuLSTMState(tuple[jax.Array, jax.Array]):
    """The state of `HaikuLSTM`, a tuple whose items have names."""

    __slots__ = ()

    def __new__(cls, hidden: Any, cell: Any) -> HaikuLSTMState:
        """Return a state."""
        return super().__new__(cls, (hidden, cell))

    @property
    def hidden(self) -> jax.Array:
        """The last output."""
        return self[0]

    @property
    def cell(self) -> jax.Array:
        """What the cell remembers."""
        return self[1]

    def tree_flatten(self) -> tuple[tuple[jax.Array, jax.Array], None]:
        """Return the arrays."""
        return (self[0], self[1]), None

    @classmethod
    def tree_unflatten(cls, aux: None, children: Sequence[Any]) -> HaikuLSTMState:
        """Return the state of arrays."""
        del aux
        return cls(*children)


class HaikuLSTM(nnx.Module):
    """A long short-term memory with the parameters of Haiku's: one product for all gates."""

    def __init__(self, in_features: int, hidden_size: int, *, rngs: nnx.Rngs) -> None:
        self.hidden_size = hidden_size
        self.linear: nnx.Linear = nnx.Linear(
            in_features + hidden_size, 4 * hidden_size, kernel_init=haiku_kernel, rngs=rngs
        )

    def __call__(self, inputs: jax.Array, prev_state: Any) -> tuple[jax.Array, HaikuLSTMState]:
        """Return the output of a step and the next state."""
        hidden, cell = prev_state
        gated = self.linear(jnp.concatenate([inputs, hidden], axis=-1))
        i, g, f, o = jnp.split(gated, 4, axis=-1)
        cell = jax.nn.sigmoid(f + 1) * cell + jax.nn.sigmoid(i) * jnp.tanh(g)
        hidden = jax.nn.sigmoid(o) * jnp.tanh(cell)
        return hidden, HaikuLSTMState(hidden, cell)

    def initial_state(self, batch_size: int | None) -> HaikuLSTMState:
        """Return the first state."""
        zeros = haiku_zeros(self.hidden_size, batch_size)
        return HaikuLSTMState(zeros, zeros)


class HaikuGRU(nnx.Module):
    """A gated recurrent unit with the parameters of Haiku's."""

    def __init__(
        self,
        in_features: int,
        hidden_size: int,
        w_i_init: Any = None,
        w_h_init: Any = None,
        b_init: Any = None,
        *,
        rngs: nnx.Rngs,
    ) -> None:
        init, zeros = nnx.initializers.lecun_normal(), nnx.initializers.zeros_init()
        size = 3 * hidden_size
        self.hidden_size = hidden_size
        self.w_i: nnx.Param[jax.Array] = nnx.Param(
            (w_i_init or init)(rngs.params(), (in_features, size))
        )
        self.w_h: nnx.Param[jax.Array] = nnx.Param(
            (w_h_init or init)(rngs.params(), (hidden_size, size))
        )
        self.b: nnx.Param[jax.Array] = nnx.Param((b_init or zeros)(rngs.params(), (size,)))

    def __call__(self, inputs: jax.Array, state: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Return the output of a step and the next state."""
        split = 2 * self.hidden_size
        w_h, b = self.w_h[...], self.b[...]
        gates = jnp.matmul(inputs, self.w_i[...])
        both = gates[..., :split] + jnp.matmul(state, w_h[:, :split])
        z, r = jnp.split(jax.nn.sigmoid(both + jnp.broadcast_to(b[:split], both.shape)), 2, axis=-1)
        new = gates[..., split:] + jnp.matmul(r * state, w_h[:, split:])
        new = jnp.tanh(new + jnp.broadcast_to(b[split:], new.shape))
        state = (1 - z) * state + z * new
        return state, state

    def initial_state(self, batch_size: int | None) -> jax.Array:
        """Return the first state."""
        return haiku_zeros(self.hidden_size, batch_size)
