"""Image classifiers with batch norm handed on by partial."""

from functools import partial
from typing import Any, Callable, Optional, Sequence, Tuple

import jax.numpy as jnp
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example

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
        y = self.norm(scale_init=nn.zeros_init())(y)

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


IMAGES = jnp.sin(jnp.arange(2 * 8 * 8 * 3.0)).reshape(2, 8, 8, 3)
CONV = Build("functools.partial", Build.ref("flax.linen.Conv"), use_bias=False)
NORM = Build("functools.partial", Build.ref("flax.linen.BatchNorm"), use_running_average=False)
BN = ("batch_stats",)

EXAMPLES = [
    Example(
        Build("ResNet", [1, 2], Build.ref("ResidualBlock"), 5),
        IMAGES,
        train=True,
        mutable=BN,
    ),
    Example(Build("ResNet", [1, 1], Build.ref("Bottleneck"), num_classes=5), IMAGES, train=False),
    Example(Build("SmallResNet", num_classes=3, num_filters=2), IMAGES, mutable=BN),
    Example(Build("ResidualBlock", 3, CONV, NORM, nn.relu), IMAGES, mutable=BN),
    Example(Build("ResidualBlock", 4, CONV, NORM, nn.relu, (2, 2)), IMAGES, mutable=BN),
    Example(Build("Bottleneck", 2, CONV, NORM, act=nn.silu), IMAGES, mutable=BN),
    Example(Build("ListsForTuples", [4, 5]), IMAGES),
    Example(Build("ListsForTuples", (4, 5), [2]), IMAGES),
]
