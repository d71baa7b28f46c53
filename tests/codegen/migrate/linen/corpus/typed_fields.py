"""Fields whose types say the class that they hold."""

from typing import Optional, Type

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example, Ref


class Features(nn.Module):
    width: int = 5

    @nn.compact
    def __call__(self, x):
        return nn.tanh(nn.Dense(self.width)(x.reshape((x.shape[0], -1))))


class WideFeatures(Features):
    width: int = 9


class ValueOf(nn.Module):
    extractor: type[Features] | None = None
    width: int = 6

    @nn.compact
    def __call__(self, x):
        if self.extractor is not None:
            x = self.extractor(self.width)(x)
        else:
            x = x.reshape((x.shape[0], -1))
        return nn.Dense(1)(nn.relu(nn.Dense(4)(x)))


class OldTypes(nn.Module):
    extractor: Optional[Type[Features]] = None

    @nn.compact
    def __call__(self, x):
        if self.extractor is not None:
            x = self.extractor()(x)
        return nn.Dense(1)(x)


class Window(nn.Module):
    """The type says how many axes the kernel has."""

    features: int
    size: tuple[int, int] = (3, 3)

    @nn.compact
    def __call__(self, x):
        return nn.relu(nn.Conv(self.features, self.size)(x))


class Pooled(nn.Module):
    size: tuple[int, int]
    groups: int = 2

    @nn.compact
    def __call__(self, x):
        x = Window(4 * self.groups, size=self.size)(x)
        parts = jnp.split(x, self.groups, axis=-1)
        x = sum(parts) if self.groups > 1 else x
        return nn.Conv(3, (1, 1))(x.mean((1, 2), keepdims=True))


class OtherWindow(nn.Module):
    """The default is of another form than the type says, and so are its axes."""

    size: tuple[int, int] = (3,)

    @nn.compact
    def __call__(self, x):
        x = nn.Conv(4, self.size)(x)
        return nn.Dense(2)(x.mean((1, 2), keepdims=True))


X = jnp.linspace(-1.0, 1.0, 24).reshape(3, 2, 4)
IMAGE = jnp.sin(jnp.arange(96.0)).reshape(2, 4, 4, 3)
EXAMPLES = [
    Example(Build("Features"), X),
    Example(Build("ValueOf"), X),
    Example(Build("ValueOf", extractor=Ref("Features")), X),
    Example(Build("OldTypes"), X),
    Example(Build("OldTypes", Ref("Features")), X),
    Example(Build("WideFeatures"), X),
    Example(Build("ValueOf", extractor=Ref("WideFeatures")), X),
    Example(Build("Window", 4), IMAGE),
    Example(Build("Pooled", (3, 3)), IMAGE),
    Example(Build("Pooled", (1, 2), groups=1), IMAGE, name="Pooled, one group"),
    Example(Build("OtherWindow"), X),
]
