"""Modules of Haiku that are run as they are and migrated."""

import dataclasses

import haiku as hk
import jax
import jax.numpy as jnp


class Linear(hk.Module):
    """As in the documentation of Haiku."""

    def __init__(self, output_size, name=None):
        super().__init__(name=name)
        self.output_size = output_size

    def __call__(self, x):
        j, k = x.shape[-1], self.output_size
        w_init = hk.initializers.TruncatedNormal(1.0 / jnp.sqrt(j))
        w = hk.get_parameter("w", shape=[j, k], dtype=x.dtype, init=w_init)
        b = hk.get_parameter("b", shape=[k], dtype=x.dtype, init=jnp.ones)
        return jnp.dot(x, w) + b


class Counting(hk.Module):
    def __init__(self, size=4, *, scale: float = 2.0, name="counts"):
        super().__init__(name=name)
        self._size = size
        self._scale = scale
        self._inner = Linear(size, name="inner")

    def __call__(self, x):
        count = hk.get_state("count", [], jnp.int32, init=hk.initializers.Constant(3))
        hk.set_state("count", count + 1)
        mean = hk.get_state("mean", [self._size], x.dtype, init=jnp.zeros)
        y = self._inner(x) * self._scale
        hk.set_state("mean", 0.9 * mean + 0.1 * y.mean(0))
        return y + mean * count


class Autoencoder(hk.Module):
    def __init__(self, latent, name=None):
        super().__init__(name=name)
        self.latent = latent
        self.up = hk.nets.MLP([7, 5], activate_final=True)

    def encode(self, x):
        x = hk.Linear(6)(x)
        x = jax.nn.relu(x)
        return hk.Linear(self.latent)(x)

    def decode(self, z):
        z = self.up(z)
        return hk.Linear(3, with_bias=False)(z)

    def __call__(self, x):
        return self.decode(self.encode(x))


class Shared(hk.Module):
    def __init__(self, width: int, name=None):
        super().__init__(name=name)
        self.width = width
        self.layer = hk.Linear(width, w_init=hk.initializers.RandomNormal(0.1), b_init=jnp.zeros)
        self.blocks = [Linear(width, name=f"block_{i}") for i in range(2)]

    def __call__(self, x):
        x = self.layer(x)
        for _ in range(2):
            x = jnp.tanh(self.layer(x))
        for block in self.blocks:
            x = block(x)
        return x


class Stack(hk.Module):
    def __init__(self, sizes: tuple[int, ...], with_norm: bool = True, name=None):
        super().__init__(name=name)
        layers = []
        for i, size in enumerate(sizes):
            layers.append(hk.Linear(size, name="layer_%d" % i))
        self.layers = layers
        self.sizes = tuple(sizes)
        self.with_norm = with_norm
        if with_norm:
            self.norm = hk.LayerNorm(-1, True, True)

    def __call__(self, x):
        for i, layer in enumerate(self.layers):
            x = layer(x)
            if i < len(self.layers) - 1:
                x = jax.nn.relu(x)
        if self.with_norm:
            x = self.norm(x)
        return x


@dataclasses.dataclass
class Block(hk.Module):
    heads: int
    key_size: int
    widening: int = 4
    name: str | None = None

    def __call__(self, x, mask=None):
        init = hk.initializers.VarianceScaling(0.5)
        size = x.shape[-1]
        for _ in range(2):
            attention = hk.MultiHeadAttention(
                num_heads=self.heads, key_size=self.key_size, model_size=size, w_init=init
            )
            h = hk.LayerNorm(axis=-1, create_scale=True, create_offset=True)(x)
            x = x + attention(h, h, h, mask=mask)
            dense = hk.Sequential(
                [hk.Linear(self.widening * size, w_init=init), jax.nn.gelu, hk.Linear(size)]
            )
            x = x + dense(hk.LayerNorm(axis=-1, create_scale=True, create_offset=True)(x))
        return x


class Language(hk.Module):
    def __init__(self, vocab: int, size: int, name=None):
        super().__init__(name=name)
        self.vocab = vocab
        self.size = size

    def __call__(self, tokens):
        init = hk.initializers.TruncatedNormal(stddev=0.02)
        x = hk.Embed(self.vocab, embed_dim=self.size, w_init=init)(tokens)
        x = x + hk.get_parameter("positions", [tokens.shape[1], self.size], init=init)
        return hk.Linear(self.vocab)(Block(2, 3)(x))


class Recurrent(hk.Module):
    def __init__(self, hidden: int, name=None):
        super().__init__(name=name)
        self.lstm = hk.LSTM(hidden)
        self.gru = hk.GRU(hidden)

    def __call__(self, x):
        state = self.lstm.initial_state(x.shape[0])
        out, state = self.lstm(x, state)
        out, state = self.lstm(jnp.tanh(out) if False else x, state)
        h = self.gru.initial_state(x.shape[0])
        y, h = self.gru(out, h)
        rnn = hk.VanillaRNN(3)
        z, _ = rnn(y, rnn.initial_state(x.shape[0]))
        return z, state.cell


class ConvNet(hk.Module):
    def __init__(self, channels: int, name=None):
        super().__init__(name=name)
        self.channels = channels

    def __call__(self, x, is_training):
        x = hk.Conv2D(self.channels, kernel_shape=[3, 3], stride=2, padding="VALID")(x)
        x = hk.BatchNorm(create_scale=True, create_offset=True, decay_rate=0.99)(x, is_training)
        x = hk.max_pool(
            jax.nn.relu(x), window_shape=(1, 2, 2, 1), strides=(1, 2, 2, 1), padding="SAME"
        )
        x = hk.DepthwiseConv2D(2, 3)(x)
        x = hk.GroupNorm(4)(x)
        x = hk.avg_pool(x, window_shape=(2, 2, 1), strides=(1, 1, 1), padding="SAME")
        x = hk.Conv2DTranspose(5, 3, stride=2)(x)
        x = hk.RMSNorm(-1)(x)
        x = hk.InstanceNorm(True, True)(x)
        x = hk.Flatten()(x)
        return hk.Linear(2)(x)


class Unrolled(hk.Module):
    def __init__(self, hidden: int, name=None):
        super().__init__(name=name)
        self.core = hk.LSTM(hidden)

    def __call__(self, xs):
        ys, state = hk.dynamic_unroll(self.core, xs, self.core.initial_state(xs.shape[1]))
        core = hk.GRU(3)
        zs, _ = hk.dynamic_unroll(
            core, ys, core.initial_state(ys.shape[0]), time_major=False, reverse=True
        )
        return hk.Linear(3)(zs), state.cell


class Mobile(hk.Module):
    """Blocks that a loop makes, each with its settings."""

    def __init__(self, strides=(1, 2), channels=(4, 6), name=None):
        super().__init__(name=name)
        self.strides = strides
        self.channels = channels

    def __call__(self, x, is_training: bool):
        for i in range(len(self.strides)):
            x = MobileBlock(self.channels[i], self.strides[i])(x, is_training)
        average = hk.ExponentialMovingAverage(0.9, name="seen")
        x = jnp.mean(x, axis=(1, 2))
        return hk.Linear(3, name="logits")(x) + average(jnp.mean(x))


class MobileBlock(hk.Module):
    def __init__(self, channels: int, stride: int, use_bn: bool = True, name=None):
        super().__init__(name=name)
        self.channels = channels
        self.stride = stride
        self.use_bn = use_bn
        self.with_bias = not use_bn

    def __call__(self, x, is_training: bool):
        x = hk.DepthwiseConv2D(
            channel_multiplier=1,
            kernel_shape=3,
            stride=self.stride,
            padding=((1, 1), (1, 1)),
            with_bias=self.with_bias,
            name="depthwise",
        )(x)
        if self.use_bn:
            x = hk.BatchNorm(True, True, 0.999)(x, is_training)
        return hk.Conv2D(self.channels, (1, 1), with_bias=self.with_bias)(jax.nn.relu(x))
