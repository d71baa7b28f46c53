"""Attention of the library and of our own."""

from typing import Optional, Tuple

import jax
import jax.numpy as jnp
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example


class CrossAttentionBlock(nn.Module):
    """Queries and keys of different widths."""

    num_heads: int
    qkv_features: Optional[int] = None

    @nn.compact
    def __call__(self, x, context, mask=None, deterministic: bool = True):
        y = nn.MultiHeadDotProductAttention(
            num_heads=self.num_heads,
            qkv_features=self.qkv_features,
            out_features=x.shape[-1],
            dropout_rate=0.2,
        )(nn.LayerNorm()(x), context, mask=mask, deterministic=deterministic)
        return x + y


class NormalizedAttention(nn.Module):
    heads: int

    @nn.compact
    def __call__(self, x):
        mask = nn.make_causal_mask(x[..., 0])
        return nn.MultiHeadDotProductAttention(
            self.heads, normalize_qk=True, kernel_init=nn.initializers.xavier_normal()
        )(x, x, x, mask=mask)


class DecodingAttention(nn.Module):
    """The library's own cache, one token a call."""

    heads: int
    decode: bool = False

    def setup(self):
        self.attention = nn.MultiHeadDotProductAttention(self.heads, decode=self.decode)

    def __call__(self, x):
        return self.attention(x)


class RotaryAttention(nn.Module):
    """Grouped heads, rotation by position, einsum projections."""

    heads: int
    kv_heads: int
    head_dim: int

    def setup(self):
        self.q_einsum = Einsum((self.heads, 6, self.head_dim))
        self.kv_einsum = Einsum((2, self.kv_heads, 6, self.head_dim))
        self.out_einsum = Einsum(shape=(self.heads, self.head_dim, 6))

    def __call__(self, x):
        q = self.q_einsum("BTD,NDH->BTNH", x)
        k, v = self.kv_einsum("BSD,CKDH->CBSKH", x)
        q, k = self._rotate(q), self._rotate(k)
        repeats = self.heads // self.kv_heads
        k, v = jnp.repeat(k, repeats, axis=2), jnp.repeat(v, repeats, axis=2)
        logits = jnp.einsum("BTNH,BSNH->BNTS", q, k) * self.head_dim**-0.5
        length = x.shape[1]
        logits = jnp.where(jnp.tril(jnp.ones((length, length), bool)), logits, -1e9)
        encoded = jnp.einsum("BNTS,BSNH->BTNH", nn.softmax(logits, axis=-1), v)
        return self.out_einsum("BTNH,NHD->BTD", encoded)

    def _rotate(self, x):
        half = x.shape[-1] // 2
        angle = jnp.arange(x.shape[1])[:, None] / 100.0 ** (jnp.arange(half) / half)
        sin, cos = jnp.sin(angle)[:, None], jnp.cos(angle)[:, None]
        a, b = x[..., :half], x[..., half:]
        return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1)


class Einsum(nn.Module):
    """A weight in the shape that one gives it."""

    shape: Tuple[int, ...]

    @nn.compact
    def __call__(self, eqn: str, x: jax.Array) -> jax.Array:
        w = self.param("w", nn.initializers.normal(), self.shape)
        return jnp.einsum(eqn, x, w)


class PerceiverPool(nn.Module):
    """Learned latents that read a long input, several times."""

    num_latents: int
    latent_dim: int
    depth: int = 2
    share: bool = False

    @nn.compact
    def __call__(self, x):
        latents = self.param(
            "latents", nn.initializers.truncated_normal(0.02), (self.num_latents, self.latent_dim)
        )
        z = jnp.tile(latents[None], (x.shape[0], 1, 1))
        shared = CrossAttentionBlock(2, name="shared_cross") if self.share else None
        for i in range(self.depth):
            block = shared if self.share else CrossAttentionBlock(2, name=f"cross_{i}")
            z = block(z, x)
            z = z + nn.Dense(self.latent_dim, name=f"ff_{i}")(nn.LayerNorm(name=f"ln_{i}")(z))
        return z.mean(axis=1)


class TalkingHeads(nn.Module):
    """DenseGeneral over more than one axis."""

    heads: int
    head_dim: int

    @nn.compact
    def __call__(self, x):
        q = nn.DenseGeneral((self.heads, self.head_dim), axis=-1, use_bias=False)(x)
        k = nn.DenseGeneral(features=(self.heads, self.head_dim), use_bias=False)(x)
        logits = jnp.einsum("bqhd,bkhd->bqkh", q, k)
        weights = nn.softmax(nn.Dense(self.heads, use_bias=False, name="mix")(logits), axis=2)
        out = jnp.einsum("bqkh,bkhd->bqhd", weights, q)
        y = nn.DenseGeneral(5, axis=(-2, -1))(out)
        return nn.Einsum((5, 2, 3), "bqd,dne->bqne")(y)


SEQ = jnp.sin(jnp.arange(2 * 4 * 6.0)).reshape(2, 4, 6)
CONTEXT = jnp.cos(jnp.arange(2 * 3 * 5.0)).reshape(2, 3, 5)
MASK = jnp.array([[1, 1, 0], [1, 0, 0]], bool)[:, None, None, :]

EXAMPLES = [
    Example(Build("CrossAttentionBlock", 2), SEQ, CONTEXT),
    Example(Build("CrossAttentionBlock", 2, qkv_features=8), SEQ, CONTEXT, mask=MASK),
    Example(Build("NormalizedAttention", 2), SEQ),
    Example(Build("DecodingAttention", 2), SEQ),
    Example(Build("DecodingAttention", 2, decode=True), SEQ[:, :1], mutable=("cache",)),
    Example(Build("RotaryAttention", 4, 2, 2), SEQ),
    Example(Build("Einsum", (2, 6, 3)), "BTD,NDH->BTNH", SEQ),
    Example(Build("PerceiverPool", 3, 6), CONTEXT),
    Example(Build("PerceiverPool", 3, 6, share=True), CONTEXT),
    Example(Build("TalkingHeads", 3, 2), SEQ),
]
