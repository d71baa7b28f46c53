"""Models that read their sizes from a configuration object."""

from dataclasses import dataclass
from typing import Any, Mapping, Optional, Tuple

import flax
import jax.numpy as jnp
from flax import linen as nn
from flax import struct

from typed_nnx_codegen.verify.examples import Build, Example


@dataclass(frozen=True)
class AttentionConfig:
    heads: int = 2
    qkv_dim: Optional[int] = None
    dropout: float = 0.0


@dataclass(frozen=True)
class EncoderConfig:
    width: int = 6
    mlp_dims: Tuple[int, ...] = (8, 6)
    layers: int = 2
    attention: AttentionConfig = AttentionConfig()
    pre_norm: bool = True


@struct.dataclass
class TransformerConfig:
    """As in the translation example: static settings and initializers."""

    vocab_size: int
    emb_dim: int = 6
    mlp_dim: int = 10
    num_layers: int = 1
    deterministic: bool = True
    dtype: Any = jnp.float32
    kernel_init: Any = nn.initializers.xavier_uniform()
    bias_init: Any = nn.initializers.normal(stddev=1e-6)


class ConfiguredMLP(nn.Module):
    config: EncoderConfig

    @nn.compact
    def __call__(self, x):
        cfg = self.config
        for dim in cfg.mlp_dims:
            x = nn.gelu(nn.Dense(dim)(x))
        return nn.Dense(cfg.width, name="out")(x)


class ConfiguredBlock(nn.Module):
    config: EncoderConfig

    @nn.compact
    def __call__(self, x, mask=None):
        cfg = self.config
        attention = nn.MultiHeadDotProductAttention(
            num_heads=cfg.attention.heads,
            qkv_features=cfg.attention.qkv_dim or cfg.width,
            dropout_rate=cfg.attention.dropout,
            deterministic=True,
        )
        y = nn.LayerNorm()(x) if cfg.pre_norm else x
        x = x + attention(y, mask=mask)
        if not cfg.pre_norm:
            x = nn.LayerNorm()(x)
        return x + ConfiguredMLP(cfg)(x)


class MlpBlock(nn.Module):
    config: TransformerConfig
    out_dim: Optional[int] = None

    @nn.compact
    def __call__(self, inputs):
        config = self.config
        actual_out_dim = inputs.shape[-1] if self.out_dim is None else self.out_dim
        x = nn.Dense(
            config.mlp_dim,
            dtype=config.dtype,
            kernel_init=config.kernel_init,
            bias_init=config.bias_init,
        )(inputs)
        x = nn.relu(x)
        x = nn.Dropout(rate=0.1)(x, deterministic=config.deterministic)
        return nn.Dense(actual_out_dim, dtype=config.dtype, bias_init=config.bias_init)(x)


class TextEncoder(nn.Module):
    config: TransformerConfig
    shared_embedding: Any = None

    @nn.compact
    def __call__(self, inputs):
        config = self.config
        if self.shared_embedding is None:
            input_embed = nn.Embed(
                num_embeddings=config.vocab_size,
                features=config.emb_dim,
                embedding_init=nn.initializers.normal(stddev=1.0),
            )
        else:
            input_embed = self.shared_embedding
        x = input_embed(inputs.astype("int32"))
        for lyr in range(config.num_layers):
            x = x + MlpBlock(config=config, name=f"block_{lyr}")(x)
        return nn.LayerNorm(dtype=config.dtype, name="encoder_norm")(x)


class TranslationModel(nn.Module):
    """A changed copy of the configuration for one of the parts."""

    config: TransformerConfig

    def setup(self):
        config = self.config
        self.shared_embedding = nn.Embed(config.vocab_size, config.emb_dim)
        self.encoder = TextEncoder(config, shared_embedding=self.shared_embedding)
        self.decoder = TextEncoder(config.replace(num_layers=2), self.shared_embedding)
        self.bridge = MlpBlock(config, out_dim=3)

    def encode(self, inputs):
        return self.encoder(inputs)

    def __call__(self, inputs, targets):
        encoded = self.encode(inputs)
        decoded = self.decoder(targets)
        return self.bridge(jnp.concatenate([encoded, decoded], axis=1))


class DictConfigured(nn.Module):
    """A plain dict, read with defaults."""

    cfg: Mapping[str, Any]

    @nn.compact
    def __call__(self, x):
        for width in self.cfg["widths"]:
            x = nn.relu(nn.Dense(width)(x))
        if self.cfg.get("norm", True):
            x = nn.LayerNorm(epsilon=self.cfg.get("eps", 1e-6))(x)
        return nn.Dense(self.cfg["out"])(x)


class KeywordConfigured(nn.Module):
    """Unpacks keywords into a part."""

    encoder: Any
    attention_kwargs: Optional[dict] = None

    def setup(self):
        self.inner = DictConfigured(cfg=dict(self.encoder, out=4))
        kwargs = {"num_heads": 2, **(self.attention_kwargs or {})}
        self.attention = nn.SelfAttention(**kwargs)

    def __call__(self, x):
        return self.attention(self.inner(x)[None])[0]


def as_frozen(config):
    """A dict that is frozen, as checkpoints have it."""
    return flax.core.freeze(config)


X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)
SEQ = jnp.sin(jnp.arange(2 * 4 * 6.0)).reshape(2, 4, 6)
TOKENS = jnp.arange(8).reshape(2, 4)
CONFIG = Build("EncoderConfig")
POST = Build(
    "EncoderConfig", layers=1, attention=Build("AttentionConfig", 3, qkv_dim=9), pre_norm=False
)
TEXT = Build("TransformerConfig", vocab_size=9)
DICT = {"widths": (5, 4), "out": 3}

EXAMPLES = [
    Example(Build("ConfiguredMLP", CONFIG), X),
    Example(Build("ConfiguredBlock", CONFIG), SEQ),
    Example(Build("ConfiguredBlock", POST), SEQ, mask=jnp.ones((2, 1, 4, 4), bool)),
    Example(Build("MlpBlock", TEXT), SEQ),
    Example(Build("MlpBlock", TEXT, out_dim=3), SEQ),
    Example(Build("TextEncoder", TEXT), TOKENS),
    Example(Build("TranslationModel", TEXT), TOKENS, TOKENS[:, :3]),
    Example(Build("TranslationModel", config=TEXT), TOKENS, method="encode"),
    Example(Build("DictConfigured", DICT), X),
    Example(Build("DictConfigured", Build("as_frozen", {**DICT, "norm": False})), X),
    Example(Build("KeywordConfigured", DICT), X),
    Example(Build("KeywordConfigured", DICT, attention_kwargs={"qkv_features": 6}), X),
]
