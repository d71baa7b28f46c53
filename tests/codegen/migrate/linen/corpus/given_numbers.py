"""Sizes of parameters that a call says: a number, or the last one of a shape."""

import flax.linen as nn
import jax.numpy as jnp


class Widened(nn.Module):
    """Called with the number of features."""

    @nn.compact
    def __call__(self, x, features: int):
        return nn.Dense(features)(nn.relu(x))


class WidenedByDefault(nn.Module):
    @nn.compact
    def __call__(self, x, features: int = 6):
        return nn.Dense(features, use_bias=False)(nn.tanh(x))


class PassesOn(nn.Module):
    """What it is called with goes on to the modules in it."""

    @nn.compact
    def __call__(self, x, width):
        x = Widened()(x, width)
        x = Widened()(x, 5)
        return Widened()(x, features=x.shape[0])


class Filters(nn.Module):
    count: int
    scale: float = 0.5

    @nn.compact
    def __call__(self, x):
        h = nn.Conv(self.count, (3,))(x)
        return self.scale * h / self.count


class Projected(nn.Module):
    """Projects where the shapes differ."""

    @nn.compact
    def __call__(self, x, out_shape):
        if x.shape[-1] != out_shape[-1]:
            x = Filters(out_shape[-1])(x)
        return x


class Residual(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        y = nn.Conv(self.width, (1,))(x)
        y = nn.LayerNorm()(nn.relu(y))
        x = y + Projected()(x, y.shape)
        return nn.relu(Projected()(x, (1, 1, 4)))


class TwoMethods(nn.Module):
    """A helper is called with the number."""

    @nn.compact
    def __call__(self, x, classes: int):
        return self.head(nn.tanh(x), classes)

    def head(self, x, number):
        return nn.Dense(number, name="head")(x)


class WindowOfCall(nn.Module):
    """The number is no size of a parameter: another call may have another one."""

    @nn.compact
    def __call__(self, x, steps: int):
        for _ in range(steps):
            x = 0.5 * x
        return nn.Conv(4, (3,), strides=steps)(x)


class Repeats(nn.Module):
    times: int
    width: int

    @nn.compact
    def __call__(self, x):
        h = nn.Dense(self.width)(x)
        return jnp.tile(h, self.times)


class RepeatsOfCall(nn.Module):
    """One of the numbers is the size of parameters, the other is not."""

    @nn.compact
    def __call__(self, x, times: int, width: int):
        return Repeats(times, width)(x)
