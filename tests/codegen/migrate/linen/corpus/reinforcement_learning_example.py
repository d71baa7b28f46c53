"""How the actors and critics are built and called."""

import jax.numpy as jnp
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example

OBS = jnp.linspace(-1.0, 1.0, 10).reshape(2, 5)
ACTIONS = jnp.linspace(-0.5, 0.5, 6).reshape(2, 3)
PIXELS = jnp.linspace(0.0, 255.0, 2 * 9 * 9 * 3).reshape(2, 9, 9, 3)

EXAMPLES = [
    Example(Build("MLP", (8, 4)), OBS),
    Example(Build("MLP", hidden_dims=(7, 6, 4), activations=nn.tanh, activate_final=True), OBS),
    Example(Build("MLP", (6, 4), dropout_rate=0.5), OBS, training=False),
    Example(Build("MLP", (6, 4), dropout_rate=0.0), OBS, training=True, rngs=("dropout",)),
    Example(Build("ValueCritic", (6, 4)), OBS),
    Example(Build("Critic", (6, 4)), OBS, ACTIONS),
    Example(Build("Critic", [6], activations=nn.silu), OBS, actions=ACTIONS),
    Example(Build("DoubleCritic", (6, 4)), OBS, ACTIONS),
    Example(Build("CriticEnsemble", (6, 4)), OBS, ACTIONS),
    Example(Build("CriticEnsemble", (6,), num_critics=5), OBS, ACTIONS),
    Example(Build("GaussianPolicy", (6, 4), 3), OBS),
    Example(Build("GaussianPolicy", (6,), 3, state_dependent_std=False), OBS, temperature=0.5),
    Example(Build("ActorCritic", 3), OBS),
    Example(Build("ActorCritic", 3, activation="relu"), OBS),
    Example(Build("DuelingQNetwork", 3), OBS),
    Example(Build("DuelingQNetwork", 3, n_atoms=4), OBS),
    Example(Build("ImplicitQuantileNetwork", 3, 7), OBS, jnp.linspace(0.1, 0.9, 8).reshape(2, 4)),
    Example(Build("PixelEncoder"), PIXELS),
    Example(Build("PixelEncoder", features=(3, 4, 5), strides=(2, 2, 1), padding="SAME"), PIXELS),
    Example(Build("PixelActorCritic", 5, 3), PIXELS),
    Example(Build("PixelActorCritic", 5, 3), PIXELS, jnp.ones((2, 4))),
    Example(
        Build("RecurrentActorCritic", 3, {"FC_DIM": 4, "HIDDEN": 6}),
        jnp.ones((2, 4)),
        (jnp.ones((7, 2, 5)), jnp.zeros((7, 2), bool).at[3, 1].set(True)),
    ),
    Example(Build("ScannedGRU"), jnp.ones((2, 4)), (jnp.ones((6, 2, 4)), jnp.zeros((6, 2), bool))),
    Example(Build("Temperature", 0.5)),
    Example(Build("StackedPixels", 4), jnp.ones((6, 5, 2))),
    Example(Build("StackedPixels", 4), jnp.ones((6, 5, 2, 3))),
]
