"""Settings, configurations and functions of a file that has nothing of jax."""

import flax.linen as nn

from typed_nnx_codegen.verify.examples import Build, Example, wave

from . import sizes
from .sizes import WIDTH, Config, Defaults, doubled, in_rows


class DefaultOfField(nn.Module):
    width: int = sizes.WIDTH
    activation: str = sizes.ACTIVATION

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(self.width)(x)
        x = nn.gelu(x) if self.activation == "gelu" else nn.LayerNorm()(x)
        return nn.Dense(2)(x)


class Constants(nn.Module):
    @nn.compact
    def __call__(self, x):
        for _ in range(sizes.DEPTH):
            x = nn.Dense(WIDTH)(x)
        for width in sizes.WIDTHS:
            x = nn.relu(nn.Dense(width)(x))
        if sizes.DEPTH > 2:
            x = nn.Dense(9)(x)
        x = nn.Dropout(sizes.RATIO, deterministic=True)(x)
        x = nn.Dense(sizes.NAMES["last"])(x)
        x = nn.Dense(Defaults.width)(x)
        return nn.Dense(doubled(sizes.WIDTH))(x)


class Configured(nn.Module):
    config: Config = Config()

    @nn.compact
    def __call__(self, x):
        for width in self.config.hidden:
            x = nn.relu(nn.Dense(width)(x))
        return nn.Dense(self.config.width)(x)


class Rows(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(in_rows(nn.Dense(12)(x)))


EXAMPLES = [
    Example(Build("DefaultOfField"), wave(2, 3)),
    Example(Build("DefaultOfField", width=4, activation="none"), wave(2, 3)),
    Example(Build("Constants"), wave(2, 3)),
    Example(Build("Configured"), wave(2, 3)),
    Example(Build("Configured", config=Build("Config", width=6, hidden=(2,))), wave(2, 3)),
    Example(Build("Rows"), wave(2, 3)),
]
