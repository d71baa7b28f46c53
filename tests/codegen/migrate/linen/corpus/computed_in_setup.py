"""What `setup` computes from parameters: in branches, from locals, several attributes at once."""

import functools
from typing import Any

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example, wave


def discretized(rate, drive, step):
    decay = jnp.exp(rate * step)
    return decay, (decay - 1) / rate * drive


class StateSpace(nn.Module):
    states: int
    features: int
    clips: bool = False
    method: str = "zoh"
    rescale: float = 1.0

    def setup(self):
        half = self.states // 2
        self.rate_of = self.param("rate", lambda key, shape: -0.5 - jnp.arange(shape[0]), (half,))
        if self.clips:
            self.rate = jnp.clip(self.rate_of, None, -1.0) * half
        else:
            self.rate = self.rate_of * 1.0
        self.drive = self.param("drive", nn.initializers.normal(), (half, self.features))
        drive = self.drive * 2
        self.out = self.param("out", nn.initializers.normal(), (self.features, half))
        self.log_step = self.param("log_step", nn.initializers.constant(-1.0), (half,))
        step = self.rescale * jnp.exp(self.log_step)
        if self.method in ["zoh"]:
            self.decay, self.input = discretized(self.rate, drive.T, step)
        elif self.method == "euler":
            self.decay, self.input = 1 + self.rate * step, step * drive.T
        else:
            raise NotImplementedError(self.method)

    def __call__(self, x):
        state = x @ self.input
        return (state * self.decay) @ self.out.T + x


class Layer(nn.Module):
    core: nn.Module

    def setup(self):
        self.inner = self.core()
        self.head = nn.Dense(3)

    def __call__(self, x):
        return self.head(self.inner(x))


class Stack(nn.Module):
    core: nn.Module

    def setup(self):
        self.layer = Layer(core=self.core)

    def __call__(self, x):
        return self.layer(x)


class Net(nn.Module):
    def setup(self):
        self.stack = Stack(core=functools.partial(StateSpace, states=4, features=6))

    def __call__(self, x):
        return self.stack(x)


class LocalOfABranch(nn.Module):
    doubles: bool = False
    kept: Any = None

    def setup(self):
        power = 1 if self.kept is None else 2
        self.weight = self.param("weight", nn.initializers.normal(), (4,))
        scale = jnp.ones(4)
        if self.doubles:
            scale = self.weight * 2
        self.gain = jnp.exp(scale) ** power

    def __call__(self, x):
        return x * self.gain


class MaybeNone(nn.Module):
    learns: bool = True

    def setup(self):
        self.weight = self.param("weight", nn.initializers.normal(), (4,))
        if self.learns:
            self.gain = jnp.tanh(self.weight)
        else:
            self.gain = None

    def __call__(self, x):
        return x if self.gain is None else x * self.gain


class ChangedTwice(nn.Module):
    def setup(self):
        self.weight = self.param("weight", nn.initializers.normal(), (4,))
        self.gain = jnp.exp(self.weight)
        self.gain = self.gain / self.gain.sum()
        self.both = self.gain + self.weight

    def __call__(self, x):
        return x * self.gain + self.both


X = wave(2, 4)
WIDE = wave(3, 6)

EXAMPLES = [
    *(
        Example(Build("StateSpace", 4, 6, clips=clips, method=method), WIDE)
        for clips in (False, True)
        for method in ("zoh", "euler")
    ),
    Example(Build("Net"), WIDE),
    Example(Build("LocalOfABranch"), X),
    Example(Build("LocalOfABranch", doubles=True, kept=1), X),
    Example(Build("MaybeNone"), X),
    Example(Build("MaybeNone", learns=False), X),
    Example(Build("ChangedTwice"), X),
]
