"""Modules that inherit from modules."""

import abc
from typing import Any, Callable, Optional, Sequence

import jax.numpy as jnp
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example


class BaseNetwork(nn.Module):
    """Helper methods that build layers for the classes below."""

    hidden: int = 5
    activation: Callable = nn.relu

    def dense(self, features, name=None):
        return nn.Dense(features, kernel_init=nn.initializers.he_normal(), name=name)

    def torso(self, x):
        x = self.activation(self.dense(self.hidden)(x))
        return self.activation(self.dense(self.hidden)(x))


class PolicyNetwork(BaseNetwork):
    actions: int = 3

    @nn.compact
    def __call__(self, obs):
        return self.dense(self.actions, name="logits")(self.torso(obs))


class QNetwork(BaseNetwork):
    """Overrides a default and has two inputs."""

    hidden: int = 6

    @nn.compact
    def __call__(self, obs, action):
        x = self.torso(jnp.concatenate([obs, action], axis=-1))
        return self.dense(1)(x).squeeze(-1)


class AbstractEncoder(nn.Module, abc.ABC):
    output_size: int

    @abc.abstractmethod
    def encode(self, x): ...

    @nn.compact
    def __call__(self, x):
        h = self.encode(x)
        return nn.LayerNorm(name="norm")(nn.Dense(self.output_size, name="out")(h))


class DenseEncoder(AbstractEncoder):
    width: int = 4

    def encode(self, x):
        return nn.relu(nn.Dense(self.width)(x))


class SetupBase(nn.Module):
    width: int

    def setup(self):
        self.activation = nn.relu
        self.first = nn.Dense(self.width)

    def __call__(self, x):
        return self.activation(self.first(x))


class SetupChild(SetupBase):
    """Goes on in its parent's setup and call."""

    out: int = 2

    def setup(self):
        super().setup()
        self.second = nn.Dense(self.out)

    def __call__(self, x):
        return self.second(super().__call__(x))


class WithNorm:
    """No module itself."""

    eps = 1e-3

    def normalise(self, x):
        return nn.LayerNorm(epsilon=self.eps)(x)

    def end(self, x, width: int = 3):
        return self.normalise(self.project(x, width))

    def project(self, x, width: int):
        return nn.Dense(width)(x)


class MixinUser(WithNorm, nn.Module):
    features: int

    @nn.compact
    def __call__(self, x):
        return self.normalise(nn.Dense(self.features)(x))


class MixinReplacer(WithNorm, nn.Module):
    """Replaces a method that a method of the mixin calls, and a constant."""

    eps = 1e-2

    def project(self, x, width):
        return nn.Dense(width + 1, use_bias=False)(x)

    @nn.compact
    def __call__(self, x):
        return self.end(nn.tanh(self.end(x)), 5)


class PostInit(nn.Module):
    """Fills in a field from the others."""

    width: int
    hidden: Optional[int] = None

    def __post_init__(self):
        if self.hidden is None:
            self.hidden = 2 * self.width
        super().__post_init__()

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(nn.relu(nn.Dense(self.hidden)(x)))


class PostInitChecks(nn.Module):
    """Sets an attribute that is no field."""

    sizes: Sequence[int]

    def __post_init__(self):
        if not self.sizes:
            raise ValueError("sizes is empty")
        self.total = sum(self.sizes)
        super().__post_init__()

    def setup(self):
        self.project = nn.Dense(self.total)

    def __call__(self, x):
        y = self.project(x)
        outputs: list[Any] = []
        start = 0
        for size in self.sizes:
            outputs.append(y[..., start : start + size])
            start += size
        return outputs


class ExtendedDense(nn.Dense):
    """A layer of the library with something after it."""

    gain: float = 1.0

    @nn.compact
    def __call__(self, inputs):
        return self.gain * super().__call__(inputs)


class ExtendedUser(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = ExtendedDense(4, gain=2.0)(x)
        x = nn.Dense(3)(x)
        return ExtendedDense(2, use_bias=False)(x)


class LoopBase(nn.Module):
    """Layers in a loop, all of a list."""

    widths: Sequence[int]

    @nn.compact
    def __call__(self, x):
        for width in self.widths:
            x = nn.tanh(nn.Dense(width)(x))
        return x


class LoopChild(LoopBase):
    """One layer more behind those of the base: the list goes on."""

    @nn.compact
    def __call__(self, x):
        x = super().__call__(x)
        return nn.Dense(1)(x)


class MakesParts(nn.Module):
    """Its methods make parts, for classes that inherit them."""

    width: int = 4

    def block(self, x, name):
        return nn.relu(nn.Dense(self.width, name=name)(x))

    def weight(self, name, shape):
        return self.param(f"{name}_weight", nn.initializers.normal(), shape)

    def scaled(self, x):
        return x * self.param("scale", nn.initializers.normal(), (x.shape[-1],))


class OfMadeParts(MakesParts):
    @nn.compact
    def __call__(self, x):
        x = self.block(self.block(x, "one"), "two")
        return self.scaled(x @ self.weight("w", (self.width, 3)))


class OtherOfMadeParts(MakesParts):
    out: int = 5

    @nn.compact
    def __call__(self, x):
        x = self.block(self.block(x, "first"), "last")
        return self.scaled(x) @ self.weight("v", (self.width, self.out))


X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)

EXAMPLES = [
    Example(Build("PolicyNetwork"), X),
    Example(Build("PolicyNetwork", 4, nn.tanh, actions=2), X),
    Example(Build("QNetwork"), X, X[:, :2]),
    Example(Build("DenseEncoder", 3), X),
    Example(Build("SetupBase", 4), X),
    Example(Build("SetupChild", 4), X),
    Example(Build("SetupChild", 4, out=3), X),
    Example(Build("MixinUser", 4), X),
    Example(Build("MixinReplacer"), X),
    Example(Build("PostInit", 4), X),
    Example(Build("PostInit", 4, hidden=3), X),
    Example(Build("PostInitChecks", (2, 3)), X),
    Example(Build("ExtendedDense", 4, gain=0.5), X),
    Example(Build("ExtendedUser"), X),
    Example(Build("LoopBase", (4, 3)), X),
    Example(Build("LoopChild", (4, 3)), X),
    Example(Build("OfMadeParts"), X),
    Example(Build("OtherOfMadeParts", out=2), X),
]
