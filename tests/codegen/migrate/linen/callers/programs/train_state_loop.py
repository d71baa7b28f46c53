"""A classifier on images, trained with a TrainState."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax.training import train_state


class CNN(nn.Module):
    """A small convolutional network."""

    @nn.compact
    def __call__(self, x):
        x = nn.Conv(features=4, kernel_size=(3, 3))(x)
        x = nn.relu(x)
        x = nn.avg_pool(x, window_shape=(2, 2), strides=(2, 2))
        x = x.reshape((x.shape[0], -1))
        x = nn.Dense(features=8)(x)
        x = nn.relu(x)
        x = nn.Dense(features=3)(x)
        return x


def create_train_state(rng, learning_rate, momentum):
    """Create the initial state."""
    cnn = CNN()
    params = cnn.init(rng, jnp.ones([1, 8, 8, 1]))["params"]
    tx = optax.sgd(learning_rate, momentum)
    return train_state.TrainState.create(apply_fn=cnn.apply, params=params, tx=tx)


@jax.jit
def apply_model(state, images, labels):
    """Compute gradients, loss and accuracy of a batch."""

    def loss_fn(params):
        logits = state.apply_fn({"params": params}, images)
        one_hot = jax.nn.one_hot(labels, 3)
        loss = jnp.mean(optax.softmax_cross_entropy(logits=logits, labels=one_hot))
        return loss, logits

    grad_fn = jax.value_and_grad(loss_fn, has_aux=True)
    (loss, logits), grads = grad_fn(state.params)
    accuracy = jnp.mean(jnp.argmax(logits, -1) == labels)
    return grads, loss, accuracy


@jax.jit
def update_model(state, grads):
    return state.apply_gradients(grads=grads)


@jax.jit
def eval_step(params, batch):
    logits = CNN().apply({"params": params}, batch["image"])
    return jnp.mean(logits)


def run():
    images = jax.random.normal(jax.random.PRNGKey(1), (6, 8, 8, 1))
    labels = jnp.array([0, 1, 2, 0, 1, 2])
    state = create_train_state(jax.random.PRNGKey(0), 0.1, 0.9)
    losses = []
    for _ in range(4):
        grads, loss, accuracy = apply_model(state, images, labels)
        state = update_model(state, grads)
        losses.append((loss, accuracy))
    return losses, eval_step(state.params, {"image": images}), state.step
