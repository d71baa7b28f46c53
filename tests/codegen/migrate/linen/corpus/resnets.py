"""Image classifiers with batch norm handed on by partial."""

from functools import partial
from typing import Any, Callable, Optional, Sequence, Tuple

import jax.numpy as jnp
from flax import linen as nn

ModuleDef = Any


class ResidualBlock(nn.Module):
    filters: int
    conv: ModuleDef
    norm: ModuleDef
    act: Callable
    strides: Tuple[int, int] = (1, 1)

    @nn.compact
    def __call__(self, x):
        residual = x
        y = self.conv(self.filters, (3, 3), self.strides)(x)
        y = self.norm()(y)
        y = self.act(y)
        y = self.conv(self.filters, (3, 3))(y)
        y = self.norm(scale_init=nn.initializers.zeros_init())(y)

        if residual.shape != y.shape:
            residual = self.conv(self.filters, (1, 1), self.strides, name="conv_proj")(residual)
            residual = self.norm(name="norm_proj")(residual)
        return self.act(residual + y)


class Bottleneck(nn.Module):
    filters: int
    conv: ModuleDef
    norm: ModuleDef
    act: Callable
    strides: Tuple[int, int] = (1, 1)

    @nn.compact
    def __call__(self, x):
        residual = x
        y = self.conv(self.filters, (1, 1))(x)
        y = self.norm()(y)
        y = self.act(y)
        y = self.conv(self.filters, (3, 3), self.strides)(y)
        y = self.norm()(y)
        y = self.act(y)
        y = self.conv(self.filters * 4, (1, 1))(y)
        y = self.norm(scale_init=nn.initializers.zeros)(y)
        if residual.shape != y.shape:
            residual = self.conv(self.filters * 4, (1, 1), self.strides, name="conv_proj")(residual)
            residual = self.norm(name="norm_proj")(residual)
        return self.act(residual + y)


class ResNet(nn.Module):
    stage_sizes: Sequence[int]
    block_cls: ModuleDef
    num_classes: int
    num_filters: int = 4
    dtype: Any = jnp.float32
    act: Callable = nn.relu
    conv: ModuleDef = nn.Conv

    @nn.compact
    def __call__(self, x, train: bool = True):
        conv = partial(self.conv, use_bias=False, dtype=self.dtype)
        norm = partial(
            nn.BatchNorm,
            use_running_average=not train,
            momentum=0.9,
            epsilon=1e-5,
            dtype=self.dtype,
            axis_name="batch" if False else None,
        )
        x = conv(self.num_filters, (5, 5), (2, 2), padding=[(2, 2), (2, 2)], name="conv_init")(x)
        x = norm(name="bn_init")(x)
        x = nn.relu(x)
        x = nn.max_pool(x, (3, 3), strides=(2, 2), padding="SAME")
        for i, block_size in enumerate(self.stage_sizes):
            for j in range(block_size):
                strides = (2, 2) if i > 0 and j == 0 else (1, 1)
                x = self.block_cls(
                    self.num_filters * 2**i,
                    strides=strides,
                    conv=conv,
                    norm=norm,
                    act=self.act,
                )(x)
        x = jnp.mean(x, axis=(1, 2))
        x = nn.Dense(self.num_classes, dtype=self.dtype)(x)
        return jnp.asarray(x, self.dtype)


SmallResNet = partial(ResNet, stage_sizes=[1, 1], block_cls=ResidualBlock)
BottleneckResNet = partial(ResNet, stage_sizes=[1, 1], block_cls=Bottleneck)


class ConvBN(nn.Module):
    """Conv, norm, activation."""

    features: int
    kernel_size: Tuple[int, int] = (3, 3)
    train: bool = False

    @nn.compact
    def __call__(self, x):
        x = nn.Conv(self.features, self.kernel_size, padding="SAME", use_bias=False)(x)
        x = nn.BatchNorm(use_running_average=not self.train)(x)
        return nn.relu(x)


class PlainNet(nn.Module):
    """Batch norm by a call argument, flattening at the end."""

    channels: Sequence[int]
    classes: int

    @nn.compact
    def __call__(self, x, train):
        for c in self.channels:
            x = nn.Conv(c, (3, 3))(x)
            x = nn.BatchNorm(momentum=0.8)(x, use_running_average=not train)
            x = nn.relu(x)
            x = nn.avg_pool(x, window_shape=(2, 2), strides=(2, 2))
        x = x.reshape((x.shape[0], -1))
        x = nn.Dense(features=16)(x)
        x = nn.relu(x)
        return nn.Dense(features=self.classes)(x)


class PreActBlock(nn.Module):
    """Setup, with the projection built under a field."""

    channels: int
    project: bool = False
    stride: int = 1

    def setup(self):
        self.bn1 = nn.BatchNorm()
        self.conv1 = nn.Conv(self.channels, (3, 3), strides=self.stride, use_bias=False)
        self.bn2 = nn.BatchNorm()
        self.conv2 = nn.Conv(self.channels, (3, 3), use_bias=False)
        if self.project:
            self.shortcut = nn.Conv(self.channels, (1, 1), strides=self.stride, use_bias=False)

    def __call__(self, x, train=True):
        out = nn.relu(self.bn1(x, use_running_average=not train))
        shortcut = self.shortcut(out) if self.project else x
        out = self.conv1(out)
        out = self.conv2(nn.relu(self.bn2(out, use_running_average=not train)))
        return out + shortcut


class SqueezeExcite(nn.Module):
    reduction: int = 2

    @nn.compact
    def __call__(self, x):
        c = x.shape[-1]
        s = x.mean(axis=(1, 2), keepdims=True)
        s = nn.Conv(max(1, c // self.reduction), (1, 1), name="reduce")(s)
        s = nn.silu(s)
        s = nn.Conv(c, (1, 1), name="expand")(s)
        return x * nn.sigmoid(s)


class InvertedResidual(nn.Module):
    out_channels: int
    expand_ratio: int = 2
    strides: int = 1
    use_se: bool = True

    @nn.compact
    def __call__(self, x, train: bool = False):
        norm = partial(nn.BatchNorm, use_running_average=not train, epsilon=1e-3)
        in_channels = x.shape[-1]
        hidden = in_channels * self.expand_ratio
        y = x
        if self.expand_ratio != 1:
            y = nn.silu(norm()(nn.Conv(hidden, (1, 1), use_bias=False)(y)))
        y = nn.Conv(
            hidden,
            (3, 3),
            strides=(self.strides, self.strides),
            feature_group_count=hidden,
            use_bias=False,
            name="depthwise",
        )(y)
        y = nn.silu(norm()(y))
        if self.use_se:
            y = SqueezeExcite()(y)
        y = norm()(nn.Conv(self.out_channels, (1, 1), use_bias=False)(y))
        if self.strides == 1 and in_channels == self.out_channels:
            y = y + x
        return y


class ConvNeXtBlock(nn.Module):
    dim: int
    layer_scale: float = 1e-6

    @nn.compact
    def __call__(self, inputs):
        x = nn.Conv(self.dim, (5, 5), feature_group_count=self.dim, name="dwconv")(inputs)
        x = nn.LayerNorm(epsilon=1e-6, name="norm")(x)
        x = nn.Dense(4 * self.dim, name="pwconv1")(x)
        x = nn.gelu(x)
        x = nn.Dense(self.dim, name="pwconv2")(x)
        if self.layer_scale > 0:
            gamma = self.param("gamma", nn.initializers.constant(self.layer_scale), (self.dim,))
            x = gamma * x
        return x + inputs


class OptionalStrides(nn.Module):
    """Settings decide the strides, and so the size of the flat features."""

    down: bool = False
    pool: bool = False

    @nn.compact
    def __call__(self, x):
        strides = (2, 2) if self.down else (1, 1)
        x = nn.Conv(4, (3, 3), strides=strides)(x)
        x = nn.avg_pool(x, (2, 2), strides=(2, 1) if self.pool else (1, 1), padding="SAME")
        return nn.Dense(3)(x.reshape((x.shape[0], -1)))


class ListsForTuples(nn.Module):
    """Linen makes tuples of the lists that its fields are given."""

    widths: Sequence[int]
    more: Optional[Sequence[int]] = None

    @nn.compact
    def __call__(self, x):
        side = len(self.widths) // 2
        x = nn.Conv(4, (3, 3), padding=[[1, 1], [0, 1]])(x)
        x = nn.Conv(4, (3, 3), padding=[[side, side], [0, 1]])(x)
        x = nn.ConvTranspose(3, (2, 2), padding=[[1, 1], [1, 1]])(x)
        for width in self.widths + (3,):
            x = nn.Dense(width)(x)
        if self.more is not None:
            for width in (4,) + self.more:
                x = nn.Dense(width)(x)
        return x
