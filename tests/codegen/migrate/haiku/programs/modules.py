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
