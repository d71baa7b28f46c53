"""Models that are chosen by name: from a table, and by `getattr` from a configuration."""

import dataclasses
import sys
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax.training import train_state


class MLP(nn.Module):
    num_classes: int
    width: int = 5

    @nn.compact
    def __call__(self, x, train: bool = True):
        x = nn.relu(nn.Dense(self.width)(x.reshape(x.shape[0], -1)))
        return nn.Dense(self.num_classes)(x)


class CNN(nn.Module):
    num_classes: int
    dtype: Any = jnp.float32

    @nn.compact
    def __call__(self, x, train: bool = True):
        x = nn.Conv(4, (3, 3), dtype=self.dtype)(x)
        x = nn.BatchNorm(use_running_average=not train)(x)
        return nn.Dense(self.num_classes)(nn.relu(x).mean((1, 2)))


MODELS = {"mlp": MLP, "cnn": CNN}
models = sys.modules[__name__]


@dataclasses.dataclass
class Config:
    model: str
    learning_rate: float = 1e-2


class TrainState(train_state.TrainState):
    batch_stats: Any


def create_model(*, model_cls, half_precision, **kwargs):
    if half_precision:
        kwargs["dtype"] = jnp.bfloat16
    return model_cls(num_classes=3, **kwargs)


def initialized(key, image_size, model):
    variables = model.init({"params": key}, jnp.ones((1, image_size, image_size, 2)), train=False)
    return variables["params"], variables.get("batch_stats", {})


def create_train_state(key, config, model, image_size):
    params, batch_stats = initialized(key, image_size, model)
    tx = optax.sgd(config.learning_rate)
    return TrainState.create(apply_fn=model.apply, params=params, batch_stats=batch_stats, tx=tx)


@jax.jit
def train_step(state, images, labels):
    def loss_fn(params):
        variables = {"params": params, "batch_stats": state.batch_stats}
        logits, updates = state.apply_fn(variables, images, mutable=["batch_stats"])
        loss = optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()
        return loss, updates

    (loss, updates), grads = jax.value_and_grad(loss_fn, has_aux=True)(state.params)
    stats = updates.get("batch_stats", {})
    return state.apply_gradients(grads=grads, batch_stats=stats), loss


def train(config, images, labels):
    model_cls = getattr(models, config.model)
    model = create_model(model_cls=model_cls, half_precision=False)
    state = create_train_state(jax.random.PRNGKey(0), config, model, images.shape[1])
    losses = []
    for _ in range(3):
        state, loss = train_step(state, images, labels)
        losses.append(loss)
    variables = {"params": state.params, "batch_stats": state.batch_stats}
    return losses, model.apply(variables, images, train=False)


def from_table(name, images):
    model = MODELS[name](num_classes=3)
    variables = model.init(jax.random.PRNGKey(1), images)
    return model.apply(variables, images, train=False)


def from_names(name, images):
    model = getattr(models, name)(num_classes=2)
    variables = [model.init(k, images) for k in jax.random.split(jax.random.PRNGKey(4))]
    return [model.apply(one, images, train=False) for one in variables]


class Field(nn.Module):
    """A function of a time and a place, numbers that `jax.vmap` may give."""

    modes: int = 3

    @nn.compact
    def __call__(self, t, x):
        waves = jnp.arange(1, self.modes + 1)
        h = nn.Dense(4)(jnp.stack([t, x]).reshape(-1))
        return nn.Dense(self.modes)(h) @ jnp.sin(waves * x)


def at_points():
    model = Field()
    params = model.init(jax.random.PRNGKey(5), 0.0, 1.0)
    return jax.vmap(lambda t, x: model.apply(params, t, x))(jnp.ones(3), jnp.arange(3.0))


def run():
    images = jax.random.normal(jax.random.PRNGKey(2), (6, 4, 4, 2))
    labels = jnp.arange(6) % 3
    trained = [train(Config(name), images, labels) for name in ("MLP", "CNN")]
    chosen = [from_table(name, images) for name in ("mlp", "cnn")]
    return trained, chosen, from_names("CNN", images), at_points()
