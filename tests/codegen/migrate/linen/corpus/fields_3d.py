"""Neural fields."""

import functools
from typing import Any, Callable, Tuple

import jax.numpy as jnp
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example


def posenc(x, min_deg, max_deg, legacy_posenc_order=False):
    if min_deg == max_deg:
        return x
    scales = jnp.array([2.0**i for i in range(min_deg, max_deg)])
    xb = jnp.reshape((x[..., None, :] * scales[:, None]), list(x.shape[:-1]) + [-1])
    four_feat = jnp.sin(jnp.concatenate([xb, xb + 0.5 * jnp.pi], axis=-1))
    return jnp.concatenate([x] + [four_feat], axis=-1)


class RadianceMLP(nn.Module):
    """A skip connection every few layers; the view direction comes in late."""

    net_depth: int = 5
    net_width: int = 6
    net_depth_condition: int = 1
    net_width_condition: int = 4
    net_activation: Callable[..., Any] = nn.relu
    skip_layer: int = 2
    num_rgb_channels: int = 3
    num_sigma_channels: int = 1

    @nn.compact
    def __call__(self, x, condition=None):
        feature_dim = x.shape[-1]
        num_samples = x.shape[1]
        x = x.reshape([-1, feature_dim])
        dense_layer = functools.partial(nn.Dense, kernel_init=nn.initializers.glorot_uniform())
        inputs = x
        for i in range(self.net_depth):
            x = dense_layer(self.net_width)(x)
            x = self.net_activation(x)
            if i % self.skip_layer == 0 and i > 0:
                x = jnp.concatenate([x, inputs], axis=-1)
        raw_sigma = dense_layer(self.num_sigma_channels)(x).reshape(
            [-1, num_samples, self.num_sigma_channels]
        )
        if condition is not None:
            bottleneck = dense_layer(self.net_width)(x)
            condition = jnp.tile(condition[:, None, :], (1, num_samples, 1))
            condition = condition.reshape([-1, condition.shape[-1]])
            x = jnp.concatenate([bottleneck, condition], axis=-1)
            for i in range(self.net_depth_condition):
                x = dense_layer(self.net_width_condition)(x)
                x = self.net_activation(x)
        raw_rgb = dense_layer(self.num_rgb_channels)(x).reshape(
            [-1, num_samples, self.num_rgb_channels]
        )
        return raw_rgb, raw_sigma


class RadianceField(nn.Module):
    """Coarse and fine networks in setup."""

    max_deg_point: int = 2
    use_viewdirs: bool = True
    same_network: bool = False

    def setup(self):
        self.coarse = RadianceMLP()
        self.fine = self.coarse if self.same_network else RadianceMLP(net_width=5)

    def __call__(self, points, viewdirs):
        enc = posenc(points, 0, self.max_deg_point)
        cond = posenc(viewdirs, 0, 1) if self.use_viewdirs else None
        out = []
        for net in (self.coarse, self.fine):
            rgb, sigma = net(enc, cond)
            out.append((nn.sigmoid(rgb), nn.softplus(sigma)))
        return out


class GaussianEncoding(nn.Module):
    """A matrix that is drawn once and not trained."""

    mapping_size: int
    scale: float = 2.0

    @nn.compact
    def __call__(self, coords):
        B = self.variable(
            "constants",
            "B",
            lambda: (
                self.scale
                * nn.initializers.normal(1.0)(
                    self.make_rng("params"), (coords.shape[-1], self.mapping_size)
                )
            ),
        )
        proj = 2 * jnp.pi * coords @ B.value
        return jnp.concatenate([jnp.sin(proj), jnp.cos(proj)], axis=-1)


class EncodedField(nn.Module):
    mapping_size: int
    features: Tuple[int, ...]

    def setup(self):
        self.encoding = GaussianEncoding(self.mapping_size)
        self.layers = [nn.Dense(f) for f in self.features]
        self.out = nn.Dense(1)

    def __call__(self, coords):
        x = self.encoding(coords)
        for layer in self.layers:
            x = nn.relu(layer(x))
        return self.out(x)


POINTS = jnp.sin(jnp.arange(2 * 3 * 3.0)).reshape(2, 3, 3)
VIEWS = jnp.cos(jnp.arange(6.0)).reshape(2, 3)
COORDS = jnp.linspace(0.0, 1.0, 10).reshape(5, 2)

EXAMPLES = [
    Example(Build("RadianceMLP"), POINTS),
    Example(Build("RadianceMLP", net_depth=4, skip_layer=3), POINTS, VIEWS),
    Example(Build("RadianceField"), POINTS, VIEWS),
    Example(Build("RadianceField", same_network=True, use_viewdirs=False), POINTS, VIEWS),
    Example(Build("GaussianEncoding", 4), COORDS),
    Example(Build("EncodedField", 4, (6, 5)), COORDS),
]
