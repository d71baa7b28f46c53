"""Decoders of text with a configuration object."""

from dataclasses import dataclass, field
from typing import Any, Optional, Tuple

import jax
import jax.numpy as jnp
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example


@dataclass(frozen=True)
class NormConfig:
    epsilon: float = 1e-5
    use_bias: bool = True


@dataclass(frozen=True)
class GPTConfig:
    block_size: int = 16
    vocab_size: int = 11
    num_layers: int = 2
    num_heads: int = 2
    num_embeds: int = 6
    dropout_rate: float = 0.1
    use_bias: bool = True
    dtype: Optional[str] = None
    norm: NormConfig = field(default_factory=NormConfig)


class CausalSelfAttention(nn.Module):
    num_heads: int
    dtype: Any = jnp.float32
    dropout_rate: float = 0.1
    deterministic: Optional[bool] = None
    use_proj_bias: bool = True

    @nn.compact
    def __call__(self, x, mask, deterministic=None):
        B, T, C = x.shape
        assert C % self.num_heads == 0
        head_dim = C // self.num_heads
        deterministic = nn.merge_param("deterministic", self.deterministic, deterministic)

        qkv = nn.Dense(3 * C, use_bias=self.use_proj_bias, dtype=self.dtype, name="c_attn")(x)
        qkv = qkv.reshape(B, T, 3 * self.num_heads, head_dim)
        q, k, v = jnp.array_split(qkv, 3, axis=2)
        scale = 1.0 / jnp.sqrt(head_dim).astype(self.dtype)
        attn = jnp.einsum("...qhd,...khd->...hqk", q, k) * scale
        attn = jnp.where(mask, attn, jnp.finfo(self.dtype).min)
        attn = jax.nn.softmax(attn).astype(self.dtype)
        attn = nn.Dropout(self.dropout_rate)(attn, deterministic=deterministic)
        x = jnp.einsum("...hqk,...khd->...qhd", attn, v).reshape(B, T, C)
        x = nn.Dense(C, use_bias=self.use_proj_bias, dtype=self.dtype, name="c_proj")(x)
        return nn.Dropout(rate=self.dropout_rate)(x, deterministic=deterministic)


class MLP(nn.Module):
    config: GPTConfig

    @nn.compact
    def __call__(self, x, deterministic=None):
        B, T, C = x.shape
        x = nn.Dense(4 * C, use_bias=self.config.use_bias, name="c_fc")(x)
        x = nn.gelu(x, approximate=True)
        x = nn.Dense(C, use_bias=self.config.use_bias, name="c_proj")(x)
        return nn.Dropout(self.config.dropout_rate)(x, deterministic)


class Block(nn.Module):
    config: GPTConfig

    def setup(self):
        norm = self.config.norm
        self.ln_1 = nn.LayerNorm(epsilon=norm.epsilon, use_bias=norm.use_bias)
        self.attn = CausalSelfAttention(
            self.config.num_heads, dropout_rate=self.config.dropout_rate
        )
        self.ln_2 = nn.LayerNorm(epsilon=norm.epsilon, use_bias=norm.use_bias)
        self.mlp = MLP(self.config)

    def __call__(self, x, mask=None, deterministic=None):
        x = x + self.attn(self.ln_1(x), mask, deterministic)
        x = x + self.mlp(self.ln_2(x), deterministic)
        return x


class GPT(nn.Module):
    """Ties the head to the token embedding."""

    config: GPTConfig

    @nn.compact
    def __call__(self, idx, deterministic=None):
        B, T = idx.shape
        assert T <= self.config.block_size
        pos = jnp.arange(0, T)[None]
        attn_mask = nn.make_causal_mask(idx, dtype=bool)
        wte = nn.Embed(self.config.vocab_size, self.config.num_embeds, name="wte")
        wpe = nn.Embed(self.config.block_size, self.config.num_embeds, name="wpe")
        x = nn.Dropout(self.config.dropout_rate)(wte(idx) + wpe(pos), deterministic)
        for i in range(self.config.num_layers):
            x = Block(self.config, name=str(i))(x, attn_mask, deterministic)
        x = nn.LayerNorm(1e-5, use_bias=self.config.use_bias, name="ln_f")(x)
        return wte.attend(x)


class RMSNorm(nn.Module):
    dim: int
    eps: float = 1e-6
    dtype: Any = jnp.float32
    param_dtype: Any = jnp.float32

    def setup(self) -> None:
        self.weight = self.param("kernel", nn.initializers.ones, (self.dim,), self.param_dtype)

    def _norm(self, x: jnp.ndarray) -> jnp.ndarray:
        return x * jax.lax.rsqrt(jnp.square(x).mean(-1, keepdims=True) + self.eps)

    def __call__(self, x: jnp.ndarray) -> jnp.ndarray:
        output = self._norm(x.astype(self.dtype)).astype(self.dtype)
        return output * jnp.asarray(self.weight, self.dtype)


def rotary_angles(length: int, dim: int) -> Tuple[jnp.ndarray, jnp.ndarray]:
    freqs = 1.0 / (10000.0 ** (jnp.arange(0, dim, 2) / dim))
    angles = jnp.arange(length)[:, None] * freqs[None, :]
    return jnp.sin(angles), jnp.cos(angles)


def apply_rotary(x: jnp.ndarray, sin: jnp.ndarray, cos: jnp.ndarray) -> jnp.ndarray:
    x1, x2 = jnp.split(x, 2, axis=-1)
    sin, cos = sin[:, None, :], cos[:, None, :]
    return jnp.concatenate([x1 * cos - x2 * sin, x2 * cos + x1 * sin], axis=-1)


@dataclass
class LlamaConfig:
    vocab_size: int = 13
    hidden_size: int = 8
    intermediate_size: int = 10
    num_hidden_layers: int = 2
    num_attention_heads: int = 4
    num_key_value_heads: int = 2
    rms_norm_eps: float = 1e-6
    tie_word_embeddings: bool = False

    @property
    def head_dim(self):
        return self.hidden_size // self.num_attention_heads


class LlamaAttention(nn.Module):
    config: LlamaConfig
    dtype: jnp.dtype = jnp.float32

    def setup(self):
        config = self.config
        self.embed_dim = config.hidden_size
        self.num_heads = config.num_attention_heads
        self.head_dim = self.embed_dim // self.num_heads
        self.num_kv = config.num_key_value_heads
        dense = nn.initializers.normal(0.02)
        self.q_proj = nn.Dense(self.num_heads * self.head_dim, use_bias=False, kernel_init=dense)
        self.k_proj = nn.Dense(self.num_kv * self.head_dim, use_bias=False, kernel_init=dense)
        self.v_proj = nn.Dense(self.num_kv * self.head_dim, use_bias=False, kernel_init=dense)
        self.o_proj = nn.Dense(self.embed_dim, use_bias=False, kernel_init=dense)

    def _split_heads(self, hidden_states, num_heads):
        return hidden_states.reshape(hidden_states.shape[:2] + (num_heads, self.head_dim))

    def __call__(self, hidden_states):
        length = hidden_states.shape[1]
        query = self._split_heads(self.q_proj(hidden_states), self.num_heads)
        key = self._split_heads(self.k_proj(hidden_states), self.num_kv)
        value = self._split_heads(self.v_proj(hidden_states), self.num_kv)
        sin, cos = rotary_angles(length, self.head_dim)
        query, key = apply_rotary(query, sin, cos), apply_rotary(key, sin, cos)
        groups = self.num_heads // self.num_kv
        key, value = jnp.repeat(key, groups, axis=2), jnp.repeat(value, groups, axis=2)
        mask = nn.make_causal_mask(jnp.ones(hidden_states.shape[:2]))
        out = nn.dot_product_attention(query, key, value, mask=mask)
        return self.o_proj(out.reshape(out.shape[:2] + (-1,)))


class LlamaMLP(nn.Module):
    config: LlamaConfig

    def setup(self):
        inner = self.config.intermediate_size
        self.gate_proj = nn.Dense(inner, use_bias=False)
        self.up_proj = nn.Dense(inner, use_bias=False)
        self.down_proj = nn.Dense(self.config.hidden_size, use_bias=False)

    def __call__(self, x):
        return self.down_proj(nn.silu(self.gate_proj(x)) * self.up_proj(x))


class LlamaLayer(nn.Module):
    config: LlamaConfig

    def setup(self):
        config = self.config
        self.input_layernorm = RMSNorm(config.hidden_size, eps=config.rms_norm_eps)
        self.self_attn = LlamaAttention(config)
        self.post_attention_layernorm = RMSNorm(config.hidden_size, eps=config.rms_norm_eps)
        self.mlp = LlamaMLP(config)

    def __call__(self, hidden_states):
        residual = hidden_states
        hidden_states = self.self_attn(self.input_layernorm(hidden_states))
        hidden_states = residual + hidden_states
        return hidden_states + self.mlp(self.post_attention_layernorm(hidden_states))


class LlamaLayers(nn.Module):
    config: LlamaConfig

    def setup(self):
        self.blocks = [
            LlamaLayer(self.config, name=str(i)) for i in range(self.config.num_hidden_layers)
        ]

    def __call__(self, hidden_states, output_hidden_states: bool = False):
        all_hidden_states = () if output_hidden_states else None
        for block in self.blocks:
            if output_hidden_states:
                all_hidden_states += (hidden_states,)
            hidden_states = block(hidden_states)
        return hidden_states, all_hidden_states


class LlamaForCausalLM(nn.Module):
    config: LlamaConfig

    def setup(self):
        self.embed_tokens = nn.Embed(self.config.vocab_size, self.config.hidden_size)
        self.layers = LlamaLayers(self.config)
        self.norm = RMSNorm(self.config.hidden_size)
        if not self.config.tie_word_embeddings:
            self.lm_head = nn.Dense(self.config.vocab_size, use_bias=False)

    def __call__(self, input_ids, output_hidden_states: bool = False):
        h, states = self.layers(self.embed_tokens(input_ids), output_hidden_states)
        h = self.norm(h)
        if self.config.tie_word_embeddings:
            kernel = self.embed_tokens.variables["params"]["embedding"].T
            logits = h @ kernel
        else:
            logits = self.lm_head(h)
        return (logits, states) if output_hidden_states else logits


TOKENS = jnp.arange(10).reshape(2, 5)
HIDDEN = jnp.cos(jnp.arange(2 * 5 * 6.0)).reshape(2, 5, 6)
WIDE = jnp.cos(jnp.arange(2 * 5 * 8.0)).reshape(2, 5, 8)
MASK = jnp.tril(jnp.ones((1, 1, 5, 5), bool))
LLAMA = Build("LlamaConfig")
TIED = Build("LlamaConfig", tie_word_embeddings=True, num_hidden_layers=3)

EXAMPLES = [
    Example(Build("CausalSelfAttention", 2), HIDDEN, MASK, deterministic=True),
    Example(Build("CausalSelfAttention", 3, deterministic=True, use_proj_bias=False), HIDDEN, MASK),
    Example(Build("MLP", Build("GPTConfig")), HIDDEN, True),
    Example(Build("Block", Build("GPTConfig")), HIDDEN, MASK, deterministic=True),
    Example(
        Build("Block", Build("GPTConfig", norm=Build("NormConfig", 1e-3, False))),
        HIDDEN,
        MASK,
        True,
    ),
    Example(Build("GPT", Build("GPTConfig")), TOKENS, deterministic=True),
    Example(Build("GPT", Build("GPTConfig", num_layers=1, use_bias=False)), TOKENS, True),
    Example(Build("RMSNorm", 6), HIDDEN),
    Example(Build("LlamaAttention", LLAMA), WIDE),
    Example(Build("LlamaMLP", LLAMA), WIDE),
    Example(Build("LlamaLayer", LLAMA), WIDE),
    Example(Build("LlamaLayers", LLAMA), WIDE, output_hidden_states=True),
    Example(Build("LlamaForCausalLM", LLAMA), TOKENS),
    Example(Build("LlamaForCausalLM", TIED), TOKENS, output_hidden_states=True),
]
