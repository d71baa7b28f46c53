"""Parameters with axes for a mesh, by `nn.with_partitioning`, trained under jit on the mesh."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training import train_state
from jax.sharding import Mesh, NamedSharding, PartitionSpec


class Net(nn.Module):
    width: int = 8

    @nn.compact
    def __call__(self, x):
        init = nn.initializers.lecun_normal()
        x = nn.Dense(self.width, kernel_init=nn.with_partitioning(init, (None, "model")))(x)
        x = jax.nn.relu(x)
        return nn.Dense(1, kernel_init=nn.with_partitioning(init, ("model", None)))(x)


def run():
    mesh = Mesh(np.array(jax.devices()[:1]).reshape(1, 1), ("data", "model"))
    x = jax.random.normal(jax.random.PRNGKey(1), (8, 4))
    x = jax.device_put(x, NamedSharding(mesh, PartitionSpec("data", None)))
    model = Net()
    optimizer = optax.adam(1e-2)

    def init_fn(key, x):
        variables = model.init(key, x)
        return train_state.TrainState.create(
            apply_fn=model.apply, params=variables["params"], tx=optimizer
        )

    state = init_fn(jax.random.PRNGKey(0), x)

    @jax.jit
    def train_step(state, x):
        def loss_fn(params):
            return jnp.mean((state.apply_fn({"params": params}, x) - 1.0) ** 2)

        loss, grads = jax.value_and_grad(loss_fn)(state.params)
        return state.apply_gradients(grads=grads), loss

    losses = []
    for _ in range(3):
        state, loss = train_step(state, x)
        losses.append(loss)
    return losses, model.apply({"params": state.params}, x)
