"""Methods that apply and initialize the module itself: generation, potentials, states of training."""

from typing import Callable, Sequence

import jax
import jax.numpy as jnp
import optax
from flax import linen as nn
from flax.training.train_state import TrainState


class Generator(nn.Module):
    """Continues a sequence with its own outputs."""

    vocabulary: int
    width: int = 8

    @nn.compact
    def __call__(self, tokens, scale=1.0):
        x = nn.Embed(self.vocabulary, self.width)(tokens)
        return nn.Dense(self.vocabulary)(x) * scale

    def embedded(self, tokens):
        return self(tokens, 2.0)

    def generate(self, params, tokens, steps):
        for _ in range(steps):
            logits = self.apply({"params": params}, tokens, scale=0.5)
            later = self.apply({"params": params}, tokens, method=self.embedded)
            best = jnp.argmax(logits[:, -1] + later[:, -1], axis=-1)
            tokens = jnp.concatenate([tokens, best[:, None]], axis=1)
        return tokens


class Base(nn.Module):
    """What potentials have in common."""

    def value_fn(self, params) -> Callable:
        return lambda x: self.apply({"params": params}, x)

    def gradient_fn(self, params) -> Callable:
        return jax.vmap(jax.grad(self.value_fn(params)))

    def create_state(self, key, count):
        params = self.init(key, jnp.ones((count,)))["params"]
        return TrainState.create(apply_fn=self.apply, params=params, tx=optax.sgd(0.1))


class Potential(Base):
    widths: Sequence[int]
    activation: Callable = nn.tanh

    @nn.compact
    def __call__(self, x):
        for width in self.widths:
            x = self.activation(nn.Dense(width)(x))
        return nn.Dense(1)(x).squeeze(-1) + 0.5 * jnp.sum(x**2)


def run():
    tokens = jnp.arange(6).reshape(2, 3)
    model = Generator(vocabulary=11)
    params = model.init(jax.random.PRNGKey(0), tokens)["params"]
    x = jnp.linspace(-1.0, 1.0, 8).reshape(2, 4)
    potential = Potential((5, 3))
    weights = potential.init(jax.random.PRNGKey(1), x[0])["params"]
    state = potential.create_state(jax.random.PRNGKey(2), 4)
    other = potential.create_state(jax.random.PRNGKey(3), 4)
    kernels = [one for one in jax.tree.leaves(state.params) if one.ndim == 2]
    others = [one for one in jax.tree.leaves(other.params) if one.ndim == 2]
    differs = jnp.array([float(jnp.any(a != b)) for a, b in zip(kernels, others)])
    value = state.apply_fn({"params": weights}, x[0])
    sizes = jnp.array(sorted(one.size for one in kernels))
    generated = model.generate(params, tokens, 3)
    return generated, potential.gradient_fn(weights)(x), value, sizes, differs
