"""Models over the neighbours, and how they are trained."""

import flat_networks as networks
import jax
import jax.numpy as jnp
import optax
from flat_networks import FeedForward
from flat_settings import HIDDEN_SIZE, WIDTHS, Settings
from flax import linen as nn
from flax.training import train_state

from typed_nnx_codegen.verify.examples import Build, Example


class Policy(nn.Module):
    settings: Settings = Settings()

    @nn.compact
    def __call__(self, x):
        logits, hidden = FeedForward(self.settings.hidden, self.settings.out)(x)
        gated = networks.Gate()(logits, hidden)
        return nn.Dense(HIDDEN_SIZE)(gated)


class Stack(nn.Module):
    def setup(self):
        self.parts = [FeedForward(w, w + 1) for w in WIDTHS]
        self.policy = Policy()

    def __call__(self, x):
        for part in self.parts:
            x, _ = part(x)
        return self.policy(x)


def create_state(rng, sample, learning_rate=1e-2):
    model = Policy()
    params = model.init(rng, sample)["params"]
    return train_state.TrainState.create(
        apply_fn=model.apply, params=params, tx=optax.adam(learning_rate)
    )


@jax.jit
def train_step(state, x, y):
    def loss_fn(params):
        return jnp.mean((state.apply_fn({"params": params}, x) - y) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


X = jnp.sin(jnp.arange(18.0)).reshape(3, 6)

EXAMPLES = [
    Example(Build("Policy"), X),
    Example(Build("Policy", Build("Settings", hidden=4)), X),
    Example(Build("Stack"), X),
]
