"""U-Nets of diffusion models, compact and in one piece."""

import math
from typing import Any, Optional, Sequence, Tuple

import flax.linen as nn
import jax
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


def timestep_embedding(t, dim: int, max_period: float = 10000.0):
    half = dim // 2
    freqs = jnp.exp(-math.log(max_period) * jnp.arange(0, half, dtype=jnp.float32) / half)
    args = t[:, None] * freqs[None]
    return jnp.concatenate([jnp.cos(args), jnp.sin(args)], axis=-1)


class FourierFeatures(nn.Module):
    output_size: int
    learnable: bool = True

    @nn.compact
    def __call__(self, x: jnp.ndarray):
        if self.learnable:
            w = self.param(
                "kernel",
                nn.initializers.normal(0.2),
                (self.output_size // 2, x.shape[-1]),
                jnp.float32,
            )
            f = 2 * jnp.pi * x @ w.T
        else:
            half_dim = self.output_size // 2
            f = jnp.log(10000) / (half_dim - 1)
            f = jnp.exp(jnp.arange(half_dim) * -f)
            f = x * f
        return jnp.concatenate([jnp.cos(f), jnp.sin(f)], axis=-1)


class ResnetBlock(nn.Module):
    out_ch: Optional[int] = None
    groups: int = 2
    dropout: float = 0.0

    @nn.compact
    def __call__(self, x, temb, *, train: bool = False):
        C = x.shape[-1]
        out_ch = C if self.out_ch is None else self.out_ch
        h = nn.silu(nn.GroupNorm(num_groups=self.groups, name="norm1")(x))
        h = nn.Conv(out_ch, (3, 3), name="conv1")(h)
        if temb is not None:
            h += nn.Dense(out_ch, name="temb_proj")(nn.silu(temb))[:, None, None, :]
        h = nn.silu(nn.GroupNorm(num_groups=self.groups, name="norm2")(h))
        h = nn.Dropout(rate=self.dropout)(h, deterministic=not train)
        h = nn.Conv(out_ch, (3, 3), kernel_init=nn.initializers.zeros, name="conv2")(h)
        if C != out_ch:
            x = nn.Dense(out_ch, name="nin_shortcut")(x)
        return x + h


class SpatialAttention(nn.Module):
    num_heads: int = 1

    @nn.compact
    def __call__(self, x):
        B, H, W, C = x.shape
        h = nn.GroupNorm(num_groups=2, epsilon=1e-5)(x)
        h = h.reshape(B, H * W, C)
        q, k, v = (nn.Dense(C, name=n)(h) for n in ("q", "k", "v"))
        q, k, v = (
            y.reshape(B, H * W, self.num_heads, C // self.num_heads).transpose(0, 2, 1, 3)
            for y in (q, k, v)
        )
        weights = jax.nn.softmax(jnp.einsum("bhqd,bhkd->bhqk", q, k) / jnp.sqrt(C), axis=-1)
        h = jnp.einsum("bhqk,bhkd->bhqd", weights, v)
        h = h.transpose(0, 2, 1, 3).reshape(B, H, W, C)
        return x + nn.Dense(C, kernel_init=nn.initializers.zeros, name="proj_out")(h)


class Downsample(nn.Module):
    with_conv: bool = True

    @nn.compact
    def __call__(self, x):
        if self.with_conv:
            return nn.Conv(x.shape[-1], (3, 3), strides=(2, 2))(x)
        return nn.avg_pool(x, (2, 2), (2, 2), "SAME")


class Upsample(nn.Module):
    with_conv: bool = True

    @nn.compact
    def __call__(self, x):
        B, H, W, C = x.shape
        x = jax.image.resize(x, (B, H * 2, W * 2, C), method="nearest")
        if self.with_conv:
            x = nn.Conv(features=C, kernel_size=(3, 3))(x)
        return x


class UNet(nn.Module):
    """Skip connections gather in a list that the way up takes them from."""

    ch: int
    out_ch: int
    ch_mult: Tuple[int, ...] = (1, 2)
    num_res_blocks: int = 1
    attn_resolutions: Sequence[int] = (4,)
    num_classes: int = 0

    @nn.compact
    def __call__(self, x, t, y=None, *, train=False):
        B, H, W, _ = x.shape
        num_resolutions = len(self.ch_mult)
        temb = timestep_embedding(t, self.ch)
        temb = nn.Dense(self.ch * 4, name="dense0")(temb)
        temb = nn.Dense(self.ch * 4, name="dense1")(nn.silu(temb))
        if self.num_classes > 0:
            temb = temb + nn.Embed(self.num_classes, self.ch * 4, name="class_emb")(y)

        hs = [nn.Conv(self.ch, (3, 3), name="conv_in")(x)]
        for i_level in range(num_resolutions):
            for i_block in range(self.num_res_blocks):
                h = ResnetBlock(
                    self.ch * self.ch_mult[i_level], name=f"down_{i_level}.block_{i_block}"
                )(hs[-1], temb, train=train)
                if h.shape[1] in self.attn_resolutions:
                    h = SpatialAttention(name=f"down_{i_level}.attn_{i_block}")(h)
                hs.append(h)
            if i_level != num_resolutions - 1:
                hs.append(Downsample(name=f"down_{i_level}.downsample")(hs[-1]))

        h = hs[-1]
        h = ResnetBlock(name="mid.block_1")(h, temb, train=train)
        h = SpatialAttention(num_heads=2, name="mid.attn_1")(h)
        h = ResnetBlock(name="mid.block_2")(h, temb, train=train)

        for i_level in reversed(range(num_resolutions)):
            for i_block in range(self.num_res_blocks + 1):
                h = jnp.concatenate([h, hs.pop()], axis=-1)
                h = ResnetBlock(
                    self.ch * self.ch_mult[i_level], name=f"up_{i_level}.block_{i_block}"
                )(h, temb, train=train)
            if i_level != 0:
                h = Upsample(name=f"up_{i_level}.upsample")(h)
        assert not hs

        h = nn.silu(nn.GroupNorm(num_groups=2, name="norm_out")(h))
        return nn.Conv(self.out_ch, (3, 3), kernel_init=nn.initializers.zeros, name="conv_out")(h)


def modulate(x, shift, scale):
    return x * (1 + scale[:, None]) + shift[:, None]


class DiTBlock(nn.Module):
    hidden_size: int
    num_heads: int
    mlp_ratio: float = 4.0

    @nn.compact
    def __call__(self, x, c):
        c = nn.silu(c)
        c = nn.Dense(6 * self.hidden_size, kernel_init=nn.initializers.constant(0.0))(c)
        shift_msa, scale_msa, gate_msa, shift_mlp, scale_mlp, gate_mlp = jnp.split(c, 6, axis=-1)
        x_norm = nn.LayerNorm(use_bias=False, use_scale=False)(x)
        x_modulated = modulate(x_norm, shift_msa, scale_msa)
        attn_x = nn.MultiHeadDotProductAttention(
            kernel_init=nn.initializers.xavier_uniform(), num_heads=self.num_heads
        )(x_modulated, x_modulated)
        x = x + (gate_msa[:, None] * attn_x)
        x_norm2 = nn.LayerNorm(use_bias=False, use_scale=False)(x)
        x_modulated2 = modulate(x_norm2, shift_mlp, scale_mlp)
        mlp_x = nn.Dense(int(self.hidden_size * self.mlp_ratio))(x_modulated2)
        mlp_x = nn.Dense(self.hidden_size)(nn.gelu(mlp_x))
        return x + (gate_mlp[:, None] * mlp_x)


class DiT(nn.Module):
    patch_size: int
    hidden_size: int
    depth: int
    num_heads: int

    @nn.compact
    def __call__(self, x, t):
        batch_size, input_size, _, in_channels = x.shape
        num_patches = (input_size // self.patch_size) ** 2
        num_patches_side = input_size // self.patch_size
        patch = (self.patch_size, self.patch_size)
        x = nn.Conv(self.hidden_size, patch, patch, padding="VALID")(x)
        x = x.reshape(batch_size, num_patches, self.hidden_size)
        pos_embed = self.param(
            "pos_embed", nn.initializers.normal(0.02), (1, num_patches, self.hidden_size)
        )
        x = x + pos_embed
        c = nn.Dense(self.hidden_size)(timestep_embedding(t, 4))
        for _ in range(self.depth):
            x = DiTBlock(self.hidden_size, self.num_heads)(x, c)
        p = self.patch_size
        x = nn.Dense(p * p * in_channels, kernel_init=nn.initializers.constant(0))(x)
        x = jnp.reshape(x, (batch_size, num_patches_side, num_patches_side, p, p, in_channels))
        x = jnp.einsum("bhwpqc->bhpwqc", x)
        return x.reshape(batch_size, input_size, input_size, in_channels)


class ScoreMLP(nn.Module):
    """A noise predictor over vectors."""

    cond_encoder: Any
    reverse_encoder: Any
    time_preprocess: Any

    @nn.compact
    def __call__(self, s, a, time, training=False):
        t_ff = self.time_preprocess()(time)
        cond = self.cond_encoder()(t_ff)
        reverse_input = jnp.concatenate([a, s, cond], axis=-1)
        return self.reverse_encoder()(reverse_input)


class CondMLP(nn.Module):
    dims: Sequence[int]

    @nn.compact
    def __call__(self, x):
        for i, d in enumerate(self.dims):
            x = nn.Dense(d)(x)
            if i < len(self.dims) - 1:
                x = nn.silu(x)
        return x


IMAGES = jnp.sin(jnp.arange(2 * 8 * 8 * 3.0)).reshape(2, 8, 8, 3)
FEATURES = jnp.sin(jnp.arange(2 * 4 * 4 * 6.0)).reshape(2, 4, 4, 6)
TIMES = jnp.array([0.25, 3.0])
TEMB = jnp.cos(jnp.arange(10.0)).reshape(2, 5)
TOKENS = jnp.cos(jnp.arange(2 * 5 * 6.0)).reshape(2, 5, 6)

EXAMPLES = [
    Example(Build("FourierFeatures", 8), TIMES[:, None]),
    Example(Build("FourierFeatures", 8, learnable=False), TIMES[:, None]),
    Example(Build("ResnetBlock"), FEATURES, TEMB),
    Example(Build("ResnetBlock", 4, groups=2), FEATURES, None, train=False),
    Example(Build("SpatialAttention", num_heads=3), FEATURES),
    Example(Build("Downsample"), FEATURES),
    Example(Build("Downsample", with_conv=False), FEATURES),
    Example(Build("Upsample"), FEATURES),
    Example(Build("UNet", 4, 3), IMAGES, TIMES),
    Example(
        Build("UNet", 4, 3, (1, 2, 3), num_res_blocks=2, num_classes=5),
        IMAGES,
        TIMES,
        jnp.array([1, 4]),
    ),
    Example(Build("DiTBlock", 6, 2), TOKENS, TEMB),
    Example(Build("DiT", patch_size=4, hidden_size=6, depth=2, num_heads=3), IMAGES, TIMES),
    Example(
        Build(
            "ScoreMLP",
            Build("functools.partial", Build.ref("CondMLP"), (6, 4)),
            Build("functools.partial", Build.ref("CondMLP"), (7, 3)),
            Build("functools.partial", Build.ref("FourierFeatures"), 8),
        ),
        jnp.ones((2, 5)),
        jnp.ones((2, 3)),
        TIMES[:, None],
    ),
    Example(Build("CondMLP", (6, 4)), TEMB),
]
