"""Masks that are None, lists of parameters, axes held in locals, names in fields, scalars that grow."""

import flax.linen as nn
import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example


class NoMaskArg(nn.Module):
    @nn.compact
    def __call__(self, x, mask=None):
        x = nn.GroupNorm(num_groups=3)(x, mask=mask)
        return nn.Dense(3)(nn.LayerNorm()(x, mask=mask))


class NoMaskBatch(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool = False):
        return nn.BatchNorm()(x, use_running_average=not train, mask=None)


class ParamListLoop(nn.Module):
    depth: int = 2

    def setup(self):
        ws = []
        for i in range(self.depth):
            ws.append(self.param("w%d" % i, nn.initializers.normal(), (6, 6)))
        self.ws = ws

    def __call__(self, x):
        for w in self.ws:
            x = jnp.tanh(x @ w)
        return x


class ParamTuple(nn.Module):
    def setup(self):
        self.pair = (
            self.param("a", nn.initializers.normal(), (6,)),
            self.param("b", nn.initializers.ones, (6,)),
        )

    def __call__(self, x):
        a, b = self.pair
        return x * a + b


class ParamDict(nn.Module):
    def setup(self):
        self.table = {k: self.param(k, nn.initializers.normal(), (6,)) for k in ("a", "b")}

    def __call__(self, x):
        return x * self.table["a"] + self.table["b"]


class ParamByPrefix(nn.Module):
    prefix: str = "a"

    @nn.compact
    def __call__(self, x):
        s = self.param(f"{self.prefix}_scale", nn.initializers.normal(), (x.shape[-1],))
        b = self.param(self.prefix + "_bias", nn.initializers.normal(), (x.shape[-1],))
        return x * s + b


class GrowsMean(nn.Module):
    @nn.compact
    def __call__(self, x):
        mean = self.variable("stats", "mean", jnp.zeros, ())
        mean.value = 0.9 * mean.value + 0.1 * x.mean(0)
        return x - mean.value


X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)

EXAMPLES = [
    Example(Build("NoMaskArg"), X),
    Example(Build("NoMaskArg"), X, mask=X > 0.1),
    Example(Build("NoMaskBatch"), X),
    Example(Build("NoMaskBatch"), X, train=True, mutable=["batch_stats"]),
    Example(Build("ParamListLoop"), X),
    Example(Build("ParamTuple"), X),
    Example(Build("ParamDict"), X),
    Example(Build("ParamByPrefix"), X),
    Example(Build("GrowsMean"), X, mutable=["stats"]),
]
