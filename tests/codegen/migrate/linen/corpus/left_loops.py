"""Loops that are left early, and what they leave behind."""

from collections.abc import Sequence

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


class LeavesOnSize(nn.Module):
    """The size of the result is that of where the loop was left."""

    sizes: Sequence[int] = (3, 4, 5)
    last: int = 4

    @nn.compact
    def __call__(self, x):
        for size in self.sizes:
            x = nn.Dense(size)(x)
            if size == self.last:
                break
        return nn.Dense(2)(x)


class LeavesBefore(nn.Module):
    """Another module has to know what this one returns."""

    sizes: Sequence[int] = (3, 4, 5)
    last: int = 4

    @nn.compact
    def __call__(self, x):
        for size in self.sizes:
            if size == self.last:
                break
            x = nn.Dense(size)(x)
        return x


class AroundLeaving(nn.Module):
    last: int = 4

    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(LeavesBefore(last=self.last)(x))


class LeavesLayersOfSetup(nn.Module):
    sizes: Sequence[int] = (3, 4, 5)
    most: int = 1

    def setup(self):
        self.layers = [nn.Dense(size) for size in self.sizes]
        self.out = nn.Dense(2)

    def __call__(self, x):
        for number, layer in enumerate(self.layers):
            if number == self.most:
                break
            x = layer(x)
        return self.out(x)


class LeavesOtherwise(nn.Module):
    """The iteration that ends the loop leaves another size than those before it."""

    depth: int = 3
    is_short: bool = False

    @nn.compact
    def __call__(self, x):
        for number in range(self.depth):
            if number > 0 and self.is_short:
                x = nn.Dense(3)(x)
                break
            x = nn.Dense(x.shape[-1])(x)
        return nn.Dense(2)(x)


class LeavesWithSameSize(nn.Module):
    depth: int = 3
    most: int = 1

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(4)(x)
        for number in range(self.depth):
            if number > self.most:
                break
            x = nn.Dense(4)(x)
        return nn.Dense(2)(x)


class AroundSameSize(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(LeavesWithSameSize()(x))


class InnerLoopIsLeft(nn.Module):
    """The loop around goes on with the size that the inner one leaves."""

    sizes: Sequence[int] = (3, 4)
    depth: int = 2

    @nn.compact
    def __call__(self, x):
        for size in self.sizes:
            x = nn.Dense(size)(x)
            for number in range(self.depth):
                if number == 1:
                    break
                x = nn.Dense(size)(nn.relu(x))
        return x


X = jnp.sin(jnp.arange(8.0)).reshape(2, 4)

EXAMPLES = [
    Example(Build("LeavesOnSize"), X),
    Example(Build("LeavesOnSize", last=9), X),
    Example(Build("LeavesBefore"), X),
    Example(Build("LeavesBefore", last=9), X),
    Example(Build("AroundLeaving"), X),
    Example(Build("AroundLeaving", last=9), X),
    Example(Build("LeavesLayersOfSetup"), X),
    Example(Build("LeavesLayersOfSetup", most=7), X),
    Example(Build("LeavesOtherwise"), X),
    Example(Build("LeavesOtherwise", is_short=True), X),
    Example(Build("LeavesWithSameSize"), X),
    Example(Build("LeavesWithSameSize", depth=1), X),
    Example(Build("AroundSameSize"), X),
    Example(Build("InnerLoopIsLeft"), X),
    Example(Build("InnerLoopIsLeft", depth=1), X),
]
