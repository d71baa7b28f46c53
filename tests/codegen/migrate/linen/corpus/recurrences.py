"""scan over time: every step has the same weights."""

import functools

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


class Cell(nn.Module):
    features: int

    @nn.compact
    def __call__(self, h, x):
        h = nn.tanh(nn.Dense(self.features)(x) + nn.Dense(self.features, use_bias=False)(h))
        return h, nn.Dense(2)(h)


class OverTime(nn.Module):
    features: int

    @nn.compact
    def __call__(self, xs):
        scan = nn.scan(
            Cell,
            variable_broadcast="params",
            split_rngs={"params": False},
            in_axes=1,
            out_axes=1,
        )
        h, ys = scan(self.features)(jnp.zeros((xs.shape[0], self.features)), xs)
        return nn.Dense(3)(ys), h


class InSetup(nn.Module):
    def setup(self):
        self.cell = nn.scan(
            nn.SimpleCell, variable_broadcast="params", split_rngs={"params": False}
        )(4)
        self.head = nn.Dense(2)

    def __call__(self, xs):
        _, ys = self.cell(jnp.zeros((xs.shape[1], 4)), xs)
        return self.head(ys)


class Decoder(nn.Module):
    """The method is under the transform."""

    features: int

    @functools.partial(
        nn.scan,
        variable_broadcast="params",
        in_axes=1,
        out_axes=1,
        split_rngs={"params": False},
    )
    @nn.compact
    def __call__(self, carry, x):
        h, last = carry
        h, y = Cell(self.features)(h, jnp.concatenate([x, last], axis=-1))
        return (h, y), nn.Dense(5)(y)


class UsesDecoder(nn.Module):
    @nn.compact
    def __call__(self, xs):
        carry = (jnp.zeros((xs.shape[0], 4)), jnp.zeros((xs.shape[0], 2)))
        _, ys = Decoder(4, name="decoder")(carry, xs)
        return nn.Dense(1)(ys)


class Normalised(nn.Module):
    """All steps have the same statistics."""

    @nn.compact
    def __call__(self, carry, x):
        y = nn.BatchNorm(use_running_average=True)(nn.Dense(3)(x))
        return carry + y.sum(), y


class StatisticsOverTime(nn.Module):
    @nn.compact
    def __call__(self, xs):
        return nn.scan(
            Normalised,
            variable_broadcast=("params", "batch_stats"),
            split_rngs={"params": False},
        )()(0.0, xs)


class Records(nn.Module):
    """The inputs of a step are a tuple."""

    @functools.partial(nn.scan, variable_broadcast="params", split_rngs={"params": False})
    @nn.compact
    def __call__(self, carry, step):
        x, reset = step
        carry = jnp.where(reset[:, None], jnp.zeros((x.shape[0], 3)), carry)
        return Cell(3)(carry, x)


XS = jnp.linspace(-1, 1, 40).reshape(2, 4, 5)

EXAMPLES = [
    Example(Build("OverTime", 6), XS),
    Example(Build("InSetup"), XS),
    Example(Build("Decoder", 4), (jnp.ones((2, 4)), jnp.ones((2, 2))), XS),
    Example(Build("UsesDecoder"), XS),
    Example(Build("StatisticsOverTime"), XS),
    Example(Build("Records"), jnp.ones((4, 3)), (XS, jnp.zeros((2, 4), bool))),
]
