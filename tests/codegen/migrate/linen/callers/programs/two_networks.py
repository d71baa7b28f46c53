"""Two networks with two states, noise, and an ema of the parameters."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax.training.train_state import TrainState


class Generator(nn.Module):
    @nn.compact
    def __call__(self, z, train: bool):
        x = nn.Dense(8)(z)
        x = nn.BatchNorm(use_running_average=not train, axis_name=None)(x)
        return nn.Dense(4)(nn.leaky_relu(x))


class Discriminator(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(1)(nn.leaky_relu(nn.Dense(8)(x), negative_slope=0.2))


generator = Generator()
discriminator = Discriminator()


def losses_g(params_g, stats_g, params_d, z):
    fake, mutated = generator.apply(
        {"params": params_g, "batch_stats": stats_g}, z, True, mutable=["batch_stats"]
    )
    logits = discriminator.apply({"params": params_d}, fake)
    return jnp.mean(optax.sigmoid_binary_cross_entropy(logits, jnp.ones_like(logits))), mutated


@jax.jit
def step(state_g, stats_g, state_d, ema, z, real):
    (loss_g, mutated), grads = jax.value_and_grad(losses_g, has_aux=True)(
        state_g.params, stats_g, state_d.params, z
    )
    state_g = state_g.apply_gradients(grads=grads)

    def loss_d(params):
        fake = generator.apply(
            {"params": state_g.params, "batch_stats": mutated["batch_stats"]}, z, train=False
        )
        return jnp.mean(discriminator.apply({"params": params}, fake)) - jnp.mean(
            discriminator.apply({"params": params}, real)
        )

    value, grads_d = jax.value_and_grad(loss_d)(state_d.params)
    state_d = state_d.apply_gradients(grads=grads_d)
    ema = jax.tree.map(lambda e, p: 0.9 * e + 0.1 * p, ema, state_g.params)
    return state_g, mutated["batch_stats"], state_d, ema, (loss_g, value)


def run():
    z = jax.random.normal(jax.random.PRNGKey(0), (6, 3))
    real = jax.random.normal(jax.random.PRNGKey(1), (6, 4))
    vars_g = generator.init(jax.random.PRNGKey(2), z, train=True)
    params_d = discriminator.init(jax.random.PRNGKey(3), real)["params"]
    state_g = TrainState.create(
        apply_fn=generator.apply, params=vars_g["params"], tx=optax.adam(1e-2)
    )
    state_d = TrainState.create(apply_fn=None, params=params_d, tx=optax.rmsprop(1e-2))
    stats, ema = vars_g["batch_stats"], vars_g["params"]
    out = []
    for _ in range(3):
        state_g, stats, state_d, ema, losses = step(state_g, stats, state_d, ema, z, real)
        out.append(losses)
    sample = generator.apply({"params": ema, "batch_stats": stats}, z, train=False)
    return out, sample
