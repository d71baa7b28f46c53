"""Classes that a field chooses from a table."""

from functools import partial

import flax.linen as nn


class FromDict(nn.Module):
    kind: str = "dense"

    @nn.compact
    def __call__(self, x):
        layer = {"relu": nn.relu, "dense": nn.Dense}[self.kind]
        if self.kind == "dense":
            return layer(3)(x)
        return layer(x)


class NormFromDict(nn.Module):
    norm: str = "layer"

    @nn.compact
    def __call__(self, x):
        cls = {"layer": nn.LayerNorm, "rms": nn.RMSNorm}[self.norm]
        x = cls()(x)
        return nn.Dense(3)(x)


NORMS = {"layer": nn.LayerNorm, "rms": nn.RMSNorm}


class NormFromGlobal(nn.Module):
    norm: str = "layer"

    @nn.compact
    def __call__(self, x):
        x = NORMS[self.norm]()(x)
        return nn.Dense(3)(x)


class NormInSetup(nn.Module):
    norm: str = "layer"

    def setup(self):
        self.n = {"layer": nn.LayerNorm, "rms": nn.RMSNorm}[self.norm]()
        self.d = nn.Dense(3)

    def __call__(self, x):
        return self.d(self.n(x))


class ActFromDict(nn.Module):
    act: str = "relu"

    @nn.compact
    def __call__(self, x):
        act = {"relu": nn.relu, "gelu": nn.gelu}[self.act]
        return act(nn.Dense(3)(x))


class FirstOfTwo(nn.Module):
    """Builds what a table has twice, with other names for each."""

    kinds: tuple[str, str] = ("layer", "rms")

    @nn.compact
    def __call__(self, x):
        first = {"layer": nn.LayerNorm, "rms": partial(nn.RMSNorm, use_scale=False)}[self.kinds[0]]
        x = first(name="first")(x)
        x = NORMS[self.kinds[1]](name="second")(x)
        return nn.Dense(2)(x)
