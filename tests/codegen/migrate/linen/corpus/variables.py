"""Collections other than parameters."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example


class ExponentialAverage(nn.Module):
    """Whether it is its first call it learns by `has_variable`."""

    decay: float = 0.9

    @nn.compact
    def __call__(self, x, update: bool = True):
        is_initialized = self.has_variable("ema", "mean")
        mean = self.variable("ema", "mean", lambda s: jnp.zeros(s), x.shape[1:])
        if update and is_initialized:
            mean.value = self.decay * mean.value + (1 - self.decay) * x.mean(0)
        return x - mean.value


class SownActivations(nn.Module):
    features: int

    @nn.compact
    def __call__(self, x):
        h = nn.relu(nn.Dense(self.features)(x))
        self.sow("intermediates", "hidden", h)
        h = nn.Dense(self.features)(h)
        self.sow("intermediates", "hidden", h)
        self.sow("losses", "l2", (h**2).sum(), reduce_fn=jnp.add, init_fn=lambda: 0.0)
        return nn.Dense(1)(h)


class CachedAttention(nn.Module):
    """One token a call; keys and values stay in a cache."""

    num_heads: int
    max_length: int
    decode: bool = False

    @nn.compact
    def _concatenate_to_cache(self, key, value, query):
        is_initialized = self.has_variable("cache", "cached_key")
        shape = (key.shape[0], self.max_length) + key.shape[2:]
        cached_key = self.variable("cache", "cached_key", jnp.zeros, shape, key.dtype)
        cached_value = self.variable("cache", "cached_value", jnp.zeros, shape, value.dtype)
        cache_index = self.variable("cache", "cache_index", lambda: jnp.array(0, dtype=jnp.int32))
        mask = None
        if is_initialized:
            cur_index = cache_index.value
            indices = (0, cur_index, 0, 0)
            key = jax.lax.dynamic_update_slice(cached_key.value, key, indices)
            value = jax.lax.dynamic_update_slice(cached_value.value, value, indices)
            cached_key.value = key
            cached_value.value = value
            cache_index.value = cache_index.value + query.shape[1]
            mask = jnp.broadcast_to(
                jnp.arange(self.max_length) < cur_index + query.shape[1],
                (key.shape[0], 1, query.shape[1], self.max_length),
            )
        return key, value, mask

    @nn.compact
    def __call__(self, x):
        b, t, d = x.shape
        head_dim = d // self.num_heads
        query = nn.DenseGeneral((self.num_heads, head_dim), name="query")(x)
        key = nn.DenseGeneral((self.num_heads, head_dim), name="key")(x)
        value = nn.DenseGeneral((self.num_heads, head_dim), name="value")(x)
        mask = None
        if self.decode:
            key, value, mask = self._concatenate_to_cache(key, value, query)
        out = nn.dot_product_attention(query, key, value, mask=mask)
        return nn.DenseGeneral(features=d, axis=(-2, -1), name="out")(out)


class PositionCache(nn.Module):
    """A position that goes on with every call."""

    vocab: int
    features: int
    decode: bool = False

    def setup(self):
        self.embed = nn.Embed(self.vocab, self.features)
        self.table = self.param("table", nn.initializers.normal(0.1), (8, self.features))
        if self.decode:
            self.index = self.variable("cache", "index", lambda: jnp.zeros((), jnp.int32))

    def __call__(self, tokens):
        x = self.embed(tokens)
        start = 0
        if self.decode:
            start = self.index.value
            if not self.is_initializing():
                self.index.value = start + tokens.shape[1]
        return x + jax.lax.dynamic_slice(self.table, (start, 0), (tokens.shape[1], x.shape[-1]))


class FreshNoise(nn.Module):
    """Adds noise where a stream for it is there."""

    std: float = 0.1

    @nn.compact
    def __call__(self, x):
        if self.has_rng("noise"):
            x = x + self.std * jax.random.normal(self.make_rng("noise"), x.shape)
        return nn.Dense(x.shape[-1])(x)


class StochasticDepth(nn.Module):
    """Drops whole examples; a field or an argument says whether."""

    drop_prob: float = 0.1
    deterministic: bool | None = None

    @nn.compact
    def __call__(self, x, deterministic: bool | None = None):
        deterministic = nn.merge_param("deterministic", self.deterministic, deterministic)
        if deterministic or self.drop_prob == 0.0:
            return x
        keep = 1.0 - self.drop_prob
        shape = (x.shape[0],) + (1,) * (x.ndim - 1)
        mask = jax.random.bernoulli(self.make_rng("dropout"), keep, shape)
        return x * mask / keep


class SpectralState(nn.Module):
    """Power iteration in a collection of the module's own."""

    features: int

    @nn.compact
    def __call__(self, x, train: bool = False):
        kernel = self.param("kernel", nn.initializers.orthogonal(), (x.shape[-1], self.features))
        u = self.variable("spectral", "u", lambda: jnp.ones((self.features,)) / self.features**0.5)
        v = kernel @ u.value
        v = v / jnp.linalg.norm(v)
        new_u = v @ kernel
        sigma = jnp.linalg.norm(new_u)
        if train and not self.is_initializing():
            u.value = jax.lax.stop_gradient(new_u / sigma)
        return x @ (kernel / jax.lax.stop_gradient(sigma))


class Sown(nn.Module):
    features: int = 3

    @nn.compact
    def __call__(self, x):
        h = nn.Dense(self.features)(x)
        self.sow("intermediates", "features", h)
        return nn.tanh(h)


class Streams(nn.Module):
    rate: float = 0.5

    @nn.compact
    def __call__(self, x, noisy: bool = False):
        if self.has_rng("noise"):
            x = x + jax.random.normal(self.make_rng("noise"), x.shape)
        if noisy:
            keep = jax.random.bernoulli(self.make_rng("dropout"), self.rate, x.shape)
            x = jnp.where(keep, x, 0.0)
        return nn.Dense(2)(x)


class CachedHeads(nn.Module):
    """The cache of the library is made in NNX by a method."""

    decode: bool = False

    @nn.compact
    def __call__(self, x):
        return nn.SelfAttention(2, decode=self.decode)(x)


X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)
ONE = jnp.sin(jnp.arange(12.0)).reshape(2, 1, 6)
SEQ = jnp.sin(jnp.arange(2 * 4 * 6.0)).reshape(2, 4, 6)
TOKENS = jnp.arange(6).reshape(2, 3)
ROWS = jnp.sin(jnp.arange(8.0)).reshape(2, 4)
TOKEN = jnp.cos(jnp.arange(8.0)).reshape(2, 1, 4)

EXAMPLES = [
    Example(Build("ExponentialAverage"), X, mutable=("ema",)),
    Example(Build("ExponentialAverage", decay=0.5), X, update=False),
    Example(Build("SownActivations", 4), X, mutable=("intermediates", "losses")),
    Example(Build("SownActivations", 4), X),
    Example(Build("CachedAttention", 2, 5), SEQ),
    Example(Build("CachedAttention", 2, 5, decode=True), ONE, mutable=("cache",)),
    Example(Build("PositionCache", 7, 4), TOKENS),
    Example(Build("PositionCache", 7, 4, decode=True), TOKENS, mutable=("cache",)),
    Example(Build("FreshNoise"), X),
    Example(Build("FreshNoise"), X, rngs=("noise",), name="random"),
    Example(Build("StochasticDepth"), X, deterministic=True),
    Example(Build("StochasticDepth", 0.0, deterministic=False), X),
    Example(Build("StochasticDepth", 0.3), X, False, rngs=("dropout",), name="random"),
    Example(Build("SpectralState", 4), X),
    Example(Build("SpectralState", 4), X, train=True, mutable=("spectral",)),
    Example(Build("Sown"), ROWS, mutable=("intermediates",)),
    Example(Build("Streams"), ROWS),
    Example(Build("Streams"), ROWS, noisy=True, rngs=("dropout", "noise"), name="random"),
    Example(Build("CachedHeads"), ROWS[:, None]),
    Example(Build("CachedHeads", decode=True), TOKEN, mutable=("cache",)),
]
