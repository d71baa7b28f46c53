"""Models that are built of other modules where they are used, a layer as a model, models with other fields."""

from typing import Any, Callable

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax


class Encoder(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return nn.relu(nn.Dense(self.width)(x))


class Classifier(nn.Module):
    encoder: nn.Module
    head: Any
    act: Callable = nn.tanh

    def __call__(self, x, scale=1.0):
        return self.head(self.act(self.encoder(x))) * scale

    @classmethod
    def small(cls):
        return cls(encoder=Encoder(2), head=nn.Dense(3))


class Headed(nn.Module):
    backbone: nn.Module

    @nn.compact
    def __call__(self, x, **options):
        return nn.Dense(2)(self.backbone(x))


class Noisy(nn.Module):
    width: int
    train: bool = True

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(self.width)(x)
        return nn.BatchNorm(use_running_average=not self.train)(x)


def filled(variables):
    return jax.tree.map(lambda value: jnp.full_like(value, 0.1), variables)


def convolutions(width):
    return nn.Sequential(
        [
            nn.Conv(width, (3, 3)),
            nn.relu,
            lambda x: x.reshape(x.shape[0], -1),
            nn.Dense(2),
        ]
    )


def fine_tuned(key, x, width):
    model = Classifier(encoder=Encoder(width), head=nn.Dense(3))
    params = model.init(key, x)["params"]

    def loss_fn(params):
        return jnp.mean(model.apply({"params": params}, x, scale=2.0) ** 2)

    labels = {"encoder": "frozen", "head": "trained"}
    tx = optax.multi_transform({"frozen": optax.set_to_zero(), "trained": optax.sgd(0.1)}, labels)
    updates, _ = tx.update(jax.grad(loss_fn)(params), tx.init(params))
    tuned = optax.apply_updates(params, updates)
    return loss_fn(params), loss_fn(tuned), tuned["head"]["bias"]


def layers(key, x):
    dense = nn.Dense(4)
    params = filled(dense.init(key, jnp.ones((1, 5))))
    rngs = jnp.ones(3)
    model = nn.Sequential([nn.Dense(3), nn.tanh, Encoder(2)])
    variables = filled(model.init(key, x))
    return dense.apply(params, x), model.apply(variables, x), rngs, nn.Dense(4).apply(params, x)


def later(key, x):
    model = convolutions(3)
    images = x.reshape(2, 2, 5, 1)
    params = filled(model.init(key, images))
    return jax.jit(model.apply)(params, images)


def of_class(key, x):
    model = Classifier.small()
    params = filled(model.init(key, x))
    return model.apply(params, x)


def headed(key, x):
    backbone = Encoder(3)
    model = Headed(backbone)
    params = model.init(key, x)["params"]
    code = backbone.apply({"params": params["backbone"]}, x)
    other = Headed(nn.Dense(4))
    return model.apply({"params": params}, x), code, other.apply(other.init(key, x), x)


class Learner:
    def __init__(self, width):
        self.encoder = Encoder(width)
        self.model = Headed(self.encoder)

    def learned(self, key, x):
        return self.model.apply(filled(self.model.init(key, x)), x)


def copied(key, x):
    model = Noisy(4)
    variables = model.init(key, x)
    evaluated = model.clone(train=False)
    wider = model.clone(width=6)
    y, updates = model.apply(variables, x, mutable=["batch_stats"])
    sizes = sorted(leaf.size for leaf in jax.tree.leaves(wider.init(key, x)))
    later = evaluated.apply({**variables, **updates}, x)
    return y, later, sizes, model.clone().apply(variables, x, mutable=["batch_stats"])[0]


def run():
    key = jax.random.PRNGKey(0)
    x = jnp.sin(jnp.arange(20.0)).reshape(4, 5)
    built = fine_tuned(key, x, 2), layers(key, x), later(key, x), of_class(key, x)
    return built, headed(key, x), Learner(3).learned(key, x), copied(key, x)
