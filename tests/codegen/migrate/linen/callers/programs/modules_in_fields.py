"""Models whose fields get modules that are built elsewhere, of sizes that only a call tells."""

import flax.linen as nn
import jax
import jax.numpy as jnp

ENCODERS = {}


def encoder(cls):
    ENCODERS[cls.__name__.lower()] = cls
    return cls


@encoder
class Mean(nn.Module):
    width: int
    scale: float = 2.0

    @nn.compact
    def __call__(self, x):
        return self.scale * nn.Dense(self.width)(x.mean(1))

    @property
    def out_features(self):
        return self.width


@encoder
class Last(nn.Module):
    width: int
    scale: float = 1.0

    def setup(self):
        self.cell = nn.Dense(self.width)

    def __call__(self, x):
        return nn.tanh(self.cell(x[:, -1]))


class Classifier(nn.Module):
    encoder: nn.Module
    classes: int = 4

    @nn.compact
    def __call__(self, x, extra):
        y = nn.relu(nn.LayerNorm()(nn.Dense(self.classes)(extra)))
        return y + self.encoder(x)


class Outer(nn.Module):
    inner: Classifier

    def __call__(self, x, extra):
        return nn.softmax(self.inner(x, extra))


def load(name, **settings):
    return ENCODERS[name](**settings)


def build(name, width):
    body = load(name, width=width)
    return Classifier(encoder=body)


def bound(model, params):
    return model.bind({"params": params})


def means(params, x):
    return Mean(2).bind({"params": params})(x)


def run():
    x = jnp.cos(jnp.arange(24.0)).reshape(2, 4, 3)
    extra = jnp.sin(jnp.arange(4.0)).reshape(2, 2)
    found = []
    for name in ("mean", "last"):
        model = build(name, 4)
        variables = jax.jit(model.init)(jax.random.key(3), x, extra)
        found += [model.apply(variables, x, extra), jax.tree.leaves(variables)]
    body = Mean(2)
    outer = Outer(inner=Classifier(body, classes=2))
    variables = outer.init(jax.random.key(5), x, extra)

    @jax.jit
    def loss_fn(params):
        return jnp.sum(outer.apply({"params": params}, x, extra)[:, 0])

    params = variables["params"]
    found.append(bound(outer, params)(x, extra))
    alone = body.init(jax.random.key(6), x)["params"]
    return [*found, body.scale, loss_fn(params), means(alone, x)]
