"""Models in the style of libraries of pretrained transformers: configs, caches, tied heads."""

from dataclasses import dataclass
from typing import Any, Optional

import jax
import jax.numpy as jnp
import numpy as np
from flax import linen as nn
from flax import struct
from jax import lax

from typed_nnx_codegen.verify.examples import Build, Example


@dataclass(frozen=True)
class LanguageConfig:
    vocab_size: int = 11
    hidden_size: int = 6
    feed_forward_size: int = 10
    attention_heads: int = 2
    layers: int = 2
    max_positions: int = 16
    tied: bool = True
    pooled: bool = True
    layer_drop: float = 0.0


class Numbered:
    """A record that numbers find the fields of, too."""

    def __getitem__(self, place):
        return [one for one in vars(self).values() if one is not None][place]


@struct.dataclass
class LayersOutput(Numbered):
    last: Any
    every: Optional[Any] = None


@struct.dataclass
class LogitsOutput(Numbered):
    logits: Any
    every: Optional[Any] = None


class CallMadeCache(nn.Module):
    """Keys and values stay in a cache from the call on that asks for one."""

    config: LanguageConfig
    causal: bool = True

    def setup(self):
        self.width = self.config.hidden_size
        self.head_size = self.width // self.config.attention_heads
        self.query = nn.Dense(self.width)
        self.key = nn.Dense(self.width)
        self.value = nn.Dense(self.width)
        self.out = nn.Dense(self.width)
        if self.causal:
            ones = jnp.ones((1, self.config.max_positions), dtype="bool")
            self.causal_mask = nn.make_causal_mask(ones, dtype="bool")

    def _split(self, x):
        return x.reshape(x.shape[:2] + (self.config.attention_heads, self.head_size))

    @nn.compact
    def _through_cache(self, key, value, query, mask):
        is_there = self.has_variable("cache", "keys")
        keys = self.variable("cache", "keys", jnp.zeros, key.shape, key.dtype)
        values = self.variable("cache", "values", jnp.zeros, value.shape, value.dtype)
        position = self.variable("cache", "position", lambda: jnp.array(0, dtype=jnp.int32))
        if is_there:
            *batch, longest, _, _ = keys.value.shape
            start = (0,) * len(batch) + (position.value, 0, 0)
            key = lax.dynamic_update_slice(keys.value, key, start)
            value = lax.dynamic_update_slice(values.value, value, start)
            seen = position.value + query.shape[1]
            shape = tuple(batch) + (1, query.shape[1], longest)
            mask = nn.combine_masks(jnp.broadcast_to(jnp.arange(longest) < seen, shape), mask)
            keys.value, values.value = key, value
            position.value = seen
        return key, value, mask

    def __call__(self, x, init_cache: bool = False):
        query, key, value = (
            self._split(self.query(x)),
            self._split(self.key(x)),
            self._split(self.value(x)),
        )
        mask = None
        if self.causal:
            if self.has_variable("cache", "keys"):
                start = self.variables["cache"]["position"]
                longest = self.variables["cache"]["keys"].shape[1]
                size = (1, 1, query.shape[1], longest)
                mask = lax.dynamic_slice(self.causal_mask, (0, 0, start, 0), size)
            else:
                mask = self.causal_mask[:, :, : query.shape[1], : key.shape[1]]
            mask = jnp.broadcast_to(mask, (x.shape[0],) + mask.shape[1:])
        if self.causal and (self.has_variable("cache", "keys") or init_cache):
            key, value, mask = self._through_cache(key, value, query, mask)
        attended = nn.dot_product_attention(query, key, value, mask=mask)
        return self.out(attended.reshape(attended.shape[:2] + (self.width,)))


class PretrainedLayer(nn.Module):
    config: LanguageConfig

    def setup(self):
        self.attention = CallMadeCache(self.config)
        self.first_norm = nn.LayerNorm(epsilon=1e-5)
        self.up = nn.Dense(self.config.feed_forward_size)
        self.down = nn.Dense(self.config.hidden_size)
        self.last_norm = nn.LayerNorm(epsilon=1e-5)

    def __call__(self, x, init_cache: bool = False, output_inner: bool = False):
        x = self.first_norm(x + self.attention(x, init_cache=init_cache))
        inner = nn.gelu(self.up(x))
        outputs = (self.last_norm(x + self.down(inner)),)
        if output_inner:
            outputs = (inner,) + outputs
        return outputs


class PretrainedLayers(nn.Module):
    """What a layer returns last goes on; a layer may be skipped."""

    config: LanguageConfig

    def setup(self):
        self.layers = [PretrainedLayer(self.config, name=str(i)) for i in range(self.config.layers)]

    def __call__(
        self,
        x,
        init_cache: bool = False,
        output_every: bool = False,
        deterministic: bool = True,
        return_dict: bool = True,
    ):
        every = () if output_every else None
        for layer in self.layers:
            if output_every:
                every = every + (x,)
            if not deterministic and self.config.layer_drop > 1:
                outputs = (None, None)
            else:
                outputs = layer(x, init_cache, output_every)
            x = outputs[-1]
        outputs = (x, every)
        if not return_dict:
            return tuple(one for one in outputs if one is not None)
        return LayersOutput(last=x, every=every)


class SharedLayers(nn.Module):
    """Few layers, each called more than once."""

    config: LanguageConfig
    groups: int = 2
    depth: int = 4

    def setup(self):
        self.layers = [PretrainedLayers(self.config, name=str(i)) for i in range(self.groups)]

    def __call__(self, x):
        for i in range(self.depth):
            group = int(i / (self.depth / self.groups))
            x = self.layers[group](x, return_dict=False)[0]
        return x


class PretrainedBody(nn.Module):
    config: LanguageConfig

    def setup(self):
        self.embed = nn.Embed(self.config.vocab_size, self.config.hidden_size)
        self.layers = PretrainedLayers(self.config)
        if self.config.pooled:
            self.pooler = nn.Dense(self.config.hidden_size, name="pooler")
        else:
            self.pooler = None

    def __call__(self, tokens, init_cache: bool = False, return_dict: bool = True):
        outputs = self.layers(self.embed(tokens), init_cache=init_cache, return_dict=return_dict)
        pooled = nn.tanh(self.pooler(outputs[0][:, 0])) if self.config.pooled else None
        if not return_dict:
            return (outputs[0], pooled) + outputs[1:]
        return LayersOutput(last=outputs.last, every=pooled)


class TiedHead(nn.Module):
    """The table of the embedding comes in with the call."""

    config: LanguageConfig

    def setup(self):
        self.transform = nn.Dense(self.config.hidden_size)
        self.decoder = nn.Dense(self.config.vocab_size, use_bias=False)
        self.bias = self.param("bias", nn.initializers.normal(1.0), (self.config.vocab_size,))

    def __call__(self, x, shared=None):
        x = nn.gelu(self.transform(x))
        if shared is not None:
            x = self.decoder.apply({"params": {"kernel": shared.T}}, x)
        else:
            x = self.decoder(x)
        return x + self.bias


class TableDecoder(nn.Module):
    config: LanguageConfig

    @nn.compact
    def __call__(self, x, kernel):
        bias = self.param("bias", nn.initializers.normal(1.0), (self.config.vocab_size,))
        return x @ kernel + bias


class TiedLanguageModel(nn.Module):
    config: LanguageConfig

    def setup(self):
        self.body = PretrainedBody(self.config)
        self.head = TiedHead(self.config)

    def __call__(self, tokens, init_cache: bool = False, return_dict: bool = True):
        outputs = self.body(tokens, init_cache=init_cache, return_dict=return_dict)
        shared = None
        if self.config.tied:
            shared = self.body.variables["params"]["embed"]["embedding"]
        logits = self.head(outputs[0], shared=shared)
        if not return_dict:
            return (logits,) + outputs[1:]
        return LogitsOutput(logits=logits, every=outputs.every)


class DecoderByConfig(nn.Module):
    """Its decoder is of one class or another, and is called as that one is."""

    config: LanguageConfig

    def setup(self):
        self.embed = nn.Embed(self.config.vocab_size, self.config.hidden_size)
        if self.config.tied:
            self.decoder = TableDecoder(self.config)
        else:
            self.decoder = nn.Dense(self.config.vocab_size)

    def __call__(self, tokens):
        x = self.embed(tokens)
        if self.config.tied:
            return self.decoder(x, self.embed.variables["params"]["embedding"].T)
        return self.decoder(x)


class FunctionalWholeTree(nn.Module):
    """Layers with parameters that are all computed."""

    features: int

    def setup(self):
        self.layer = nn.Dense(self.features)
        self.norm = nn.LayerNorm()

    def __call__(self, x):
        kernel = jnp.outer(jnp.arange(1.0, x.shape[-1] + 1), jnp.ones(self.features))
        given = {
            "params": {"kernel": kernel / kernel.size, "bias": jnp.arange(self.features) * 1.0}
        }
        y = self.layer.apply(given, x)
        return self.norm.apply({"params": {"scale": jax.nn.relu(y[0]), "bias": y[1]}}, y)


TOKENS = jnp.asarray([[3, 7, 1, 9, 2], [4, 4, 8, 0, 6]])
X = jnp.sin(jnp.arange(np.prod((2, 5, 6)), dtype=jnp.float32) + 1).reshape(2, 5, 6)


def config(**settings):
    """Return a small configuration."""
    return Build("LanguageConfig", **settings)


EXAMPLES = [
    Example(Build("CallMadeCache", config()), X),
    Example(Build("CallMadeCache", config()), X, init_cache=True, mutable=("cache",)),
    Example(Build("CallMadeCache", config(), causal=False), X),
    Example(Build("PretrainedLayer", config()), X, output_inner=True),
    Example(Build("PretrainedLayers", config()), X),
    Example(Build("PretrainedLayers", config()), X, output_every=True, return_dict=False),
    Example(Build("PretrainedLayers", config()), X, init_cache=True, mutable=("cache",)),
    Example(Build("SharedLayers", config()), X),
    Example(Build("PretrainedBody", config()), TOKENS),
    Example(Build("PretrainedBody", config(pooled=False)), TOKENS),
    Example(Build("TiedHead", config()), X),
    Example(Build("TiedHead", config()), X, jnp.sin(jnp.arange(66.0)).reshape(11, 6)),
    Example(Build("TiedLanguageModel", config()), TOKENS),
    Example(Build("TiedLanguageModel", config(tied=False)), TOKENS, return_dict=False),
    Example(Build("TiedLanguageModel", config()), TOKENS, init_cache=True, mutable=("cache",)),
    Example(Build("DecoderByConfig", config()), TOKENS),
    Example(Build("DecoderByConfig", config(tied=False)), TOKENS),
    Example(Build("FunctionalWholeTree", 4), X[:, 0]),
    Example(Build("TableDecoder", config()), X, jnp.sin(jnp.arange(66.0)).reshape(6, 11)),
]
