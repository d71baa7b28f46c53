"""A state with batch statistics only; the updates are the only other output of the loss."""

from functools import partial

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax.core import FrozenDict
from flax.training import train_state


class Classifier(nn.Module):
    classes: int

    @nn.compact
    def __call__(self, x, train: bool):
        x = nn.Dense(6)(x)
        x = nn.BatchNorm(momentum=0.8)(x, use_running_average=not train)
        return nn.Dense(self.classes)(nn.relu(x))


class TrainState(train_state.TrainState):
    """The state of the training."""

    batch_stats: FrozenDict


def make(key, inputs):
    classifier = Classifier(classes=3)
    variables = classifier.init(key, inputs, train=False)
    batch_stats = variables["batch_stats"]
    params = variables["params"]
    tx = optax.sgd(0.1, momentum=0.9)
    return TrainState.create(
        apply_fn=classifier.apply, params=params, tx=tx, batch_stats=batch_stats
    )


@partial(jax.jit, static_argnames=("smoothing",))
def train_step(state: TrainState, inputs, labels, smoothing=0.0):
    targets = optax.smooth_labels(jax.nn.one_hot(labels, 3), smoothing)

    def loss_fn(params):
        logits, updates = state.apply_fn(
            {"params": params, "batch_stats": state.batch_stats},
            inputs,
            train=True,
            mutable=["batch_stats"],
        )
        return optax.softmax_cross_entropy(logits, targets).mean(), updates

    grad_fn = jax.value_and_grad(loss_fn, has_aux=True)
    (loss, updates), grads = grad_fn(state.params)
    state = state.apply_gradients(grads=grads, batch_stats=updates["batch_stats"])
    return state, loss


@jax.jit
def evaluate(state: TrainState, inputs):
    variables = {"params": state.params, "batch_stats": state.batch_stats}
    return state.apply_fn(variables, inputs, train=False)


def run():
    inputs = jax.random.normal(jax.random.PRNGKey(1), (8, 5))
    labels = jnp.arange(8) % 3
    state = make(jax.random.PRNGKey(0), inputs)
    losses = []
    for step in range(4):
        state, loss = train_step(state, inputs, labels, smoothing=0.1)
        if step % 2:
            losses.append((loss, evaluate(state, inputs)))
    return losses, evaluate(state, inputs), state.step
