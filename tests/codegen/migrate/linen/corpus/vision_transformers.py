"""Encoders over patches and over tokens."""

from types import SimpleNamespace
from typing import Any, Callable, Optional

import jax.numpy as jnp
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example

Array = Any
Initializer = Callable[..., Any]


class AddPositionEmbs(nn.Module):
    posemb_init: Initializer = nn.initializers.normal(stddev=0.02)

    @nn.compact
    def __call__(self, inputs):
        assert inputs.ndim == 3, f"Number of dimensions should be 3, but it is: {inputs.ndim}"
        pos_emb_shape = (1, inputs.shape[1], inputs.shape[2])
        pe = self.param("pos_embedding", self.posemb_init, pos_emb_shape)
        return inputs + pe


class MlpBlock(nn.Module):
    """The feed-forward part; its width is that of the input where none is given."""

    mlp_dim: int
    out_dim: Optional[int] = None
    dropout_rate: float = 0.1

    @nn.compact
    def __call__(self, inputs, *, deterministic):
        actual_out_dim = inputs.shape[-1] if self.out_dim is None else self.out_dim
        x = nn.Dense(
            features=self.mlp_dim,
            kernel_init=nn.initializers.xavier_uniform(),
            bias_init=nn.initializers.normal(stddev=1e-6),
        )(inputs)
        x = nn.gelu(x)
        x = nn.Dropout(rate=self.dropout_rate)(x, deterministic=deterministic)
        output = nn.Dense(features=actual_out_dim)(x)
        return nn.Dropout(rate=self.dropout_rate)(output, deterministic=deterministic)


class EncoderBlock(nn.Module):
    mlp_dim: int
    num_heads: int
    dropout_rate: float = 0.1
    attention_dropout_rate: float = 0.1

    @nn.compact
    def __call__(self, inputs, *, deterministic):
        x = nn.LayerNorm()(inputs)
        x = nn.MultiHeadDotProductAttention(
            kernel_init=nn.initializers.xavier_uniform(),
            broadcast_dropout=False,
            deterministic=deterministic,
            dropout_rate=self.attention_dropout_rate,
            num_heads=self.num_heads,
        )(x, x)
        x = nn.Dropout(rate=self.dropout_rate)(x, deterministic=deterministic)
        x = x + inputs
        y = nn.LayerNorm()(x)
        y = MlpBlock(mlp_dim=self.mlp_dim, dropout_rate=self.dropout_rate)(
            y, deterministic=deterministic
        )
        return x + y


class Encoder(nn.Module):
    num_layers: int
    mlp_dim: int
    num_heads: int
    dropout_rate: float = 0.1
    add_position_embedding: bool = True

    @nn.compact
    def __call__(self, x, *, train):
        if self.add_position_embedding:
            x = AddPositionEmbs(name="posembed_input")(x)
            x = nn.Dropout(rate=self.dropout_rate)(x, deterministic=not train)
        for lyr in range(self.num_layers):
            x = EncoderBlock(
                mlp_dim=self.mlp_dim,
                dropout_rate=self.dropout_rate,
                name=f"encoderblock_{lyr}",
                num_heads=self.num_heads,
            )(x, deterministic=not train)
        return nn.LayerNorm(name="encoder_norm")(x)


class VisionTransformer(nn.Module):
    num_classes: int
    patch: int
    hidden_size: int
    num_layers: int = 1
    classifier: str = "token"
    representation_size: Optional[int] = None

    @nn.compact
    def __call__(self, inputs, *, train):
        n = inputs.shape[0]
        x = nn.Conv(
            features=self.hidden_size,
            kernel_size=(self.patch, self.patch),
            strides=(self.patch, self.patch),
            padding="VALID",
            name="embedding",
        )(inputs)
        n, h, w, c = x.shape
        x = jnp.reshape(x, [n, h * w, c])
        if self.classifier in ["token", "token_unpooled"]:
            cls = self.param("cls", nn.initializers.zeros, (1, 1, c))
            cls = jnp.tile(cls, [n, 1, 1])
            x = jnp.concatenate([cls, x], axis=1)

        x = Encoder(self.num_layers, mlp_dim=6, num_heads=2, name="Transformer")(x, train=train)

        if self.classifier == "token":
            x = x[:, 0]
        elif self.classifier == "gap":
            x = jnp.mean(x, axis=list(range(1, x.ndim - 1)))
        if self.representation_size is not None:
            x = nn.Dense(features=self.representation_size, name="pre_logits")(x)
            x = nn.tanh(x)
        if self.num_classes:
            x = nn.Dense(self.num_classes, name="head", kernel_init=nn.initializers.zeros)(x)
        return x


class MixerBlock(nn.Module):
    tokens_mlp_dim: int
    channels_mlp_dim: int

    @nn.compact
    def __call__(self, x):
        y = nn.LayerNorm()(x)
        y = jnp.swapaxes(y, 1, 2)
        y = MlpBlock(self.tokens_mlp_dim, name="token_mixing")(y, deterministic=True)
        y = jnp.swapaxes(y, 1, 2)
        x = x + y
        y = nn.LayerNorm()(x)
        return x + MlpBlock(self.channels_mlp_dim, name="channel_mixing")(y, deterministic=True)


class MlpMixer(nn.Module):
    patch: int
    hidden_dim: int
    num_blocks: int
    num_classes: int

    @nn.compact
    def __call__(self, inputs):
        size = (self.patch, self.patch)
        x = nn.Conv(self.hidden_dim, size, strides=size, name="stem")(inputs)
        x = x.reshape(x.shape[0], -1, x.shape[-1])
        for _ in range(self.num_blocks):
            x = MixerBlock(5, 7)(x)
        x = nn.LayerNorm(name="pre_head_layer_norm")(x)
        x = jnp.mean(x, axis=1)
        return nn.Dense(self.num_classes, kernel_init=nn.initializers.zeros, name="head")(x)


class PatchesInTheCall(nn.Module):
    """The layer is built before the patches are made, whose size it takes."""

    patch_size: tuple[int, int]
    width: int

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(self.width)(self.patches(x))
        return x + nn.Embed(num_embeddings=x.shape[1], features=x.shape[2])(jnp.arange(x.shape[1]))

    def patches(self, images):
        batch, height, width, channels = images.shape
        ph, pw = self.patch_size
        x = jnp.reshape(images, (batch, height // ph, ph, width // pw, pw, channels))
        x = jnp.transpose(x, (0, 1, 3, 2, 4, 5))
        return jnp.reshape(x, (batch, -1, ph * pw * channels))


class PatchesOfAConfig(nn.Module):
    """The sizes of the patches are an attribute of a field: the kernel of a layer is no number."""

    patches: Any

    @nn.compact
    def __call__(self, images):
        n, h, w, c = images.shape
        x = nn.Conv(6, self.patches.size, strides=self.patches.size, padding="VALID")(images)
        n, h, w, c = x.shape
        x = jnp.reshape(x, [n, h * w, c])
        return x + self.param("positions", nn.initializers.normal(0.02), (1, h * w, c))


class PatchesOfAPair(nn.Module):
    """A layer with one size of patches in both settings."""

    patch: tuple[int, int]

    @nn.compact
    def __call__(self, images):
        x = nn.Conv(6, self.patch, strides=self.patch, padding="VALID")(images)
        return nn.Dense(3)(x.reshape(x.shape[0], -1))


IMAGES = jnp.sin(jnp.arange(2 * 8 * 8 * 3.0)).reshape(2, 8, 8, 3)
TOKENS = jnp.cos(jnp.arange(2 * 5 * 6.0)).reshape(2, 5, 6)

EXAMPLES = [
    Example(Build("AddPositionEmbs"), TOKENS),
    Example(Build("MlpBlock", 8), TOKENS, deterministic=True),
    Example(Build("MlpBlock", 8, out_dim=3), TOKENS, deterministic=True),
    Example(Build("EncoderBlock", mlp_dim=8, num_heads=3), TOKENS, deterministic=True),
    Example(Build("Encoder", 2, 8, 2), TOKENS, train=False),
    Example(Build("Encoder", 1, 8, 2, add_position_embedding=False), TOKENS, train=False),
    Example(Build("VisionTransformer", 5, 4, 6, num_layers=2), IMAGES, train=False),
    Example(
        Build("VisionTransformer", 5, 4, 6, classifier="gap", representation_size=7),
        IMAGES,
        train=False,
    ),
    Example(Build("VisionTransformer", 0, 2, 6), IMAGES, train=False),
    Example(Build("MixerBlock", 4, 8), TOKENS),
    Example(Build("MlpMixer", 4, 6, 2, 3), IMAGES),
    Example(Build("PatchesInTheCall", (2, 2), 6), IMAGES),
    Example(Build("PatchesOfAConfig", SimpleNamespace(size=(3, 4))), IMAGES),
    Example(Build("PatchesOfAPair", (4, 3)), IMAGES),
]
