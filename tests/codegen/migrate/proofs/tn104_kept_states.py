# fails: AttributeError
# flax 0.8.2 gives [0, 0, 12, 9], [1, 0.25, 0.0625] and [0.5, 0.25, 0.375] too: States had copies.
import jax
import jax.numpy as jnp
import numpy as np
from flax.experimental import nnx


class Seen(nnx.Variable):
    pass


class Values(nnx.Module):
    def __init__(self, rngs: nnx.Rngs):
        kernel = jnp.linspace(-0.5, 0.5, 4).reshape(2, 2)
        self.linear = nnx.Linear(2, 2, kernel_init=lambda *_: kernel, rngs=rngs)
        self.seen = Seen(jnp.zeros((), jnp.int32))

    def __call__(self, x):
        self.seen.value += x.shape[0]
        return self.linear(x)


class Agent:
    def __init__(self, model: Values):
        self.model = model
        self.target, self.static = model.split()
        self.history = []

    def learn(self, x):
        def loss(model: Values):
            wanted = self.static.merge(self.target)(x) + 1
            return jnp.mean((model(x) - jax.lax.stop_gradient(wanted)) ** 2)

        value, grads = nnx.value_and_grad(loss, nnx.Param)(self.model)
        params = self.model.extract(nnx.Param)
        self.model.update(jax.tree_util.tree_map(lambda p, g: p - 0.5 * g, params, grads))
        self.history.append(self.model.extract(nnx.Param))
        return value


agent = Agent(Values(nnx.Rngs(0)))
x = jnp.ones((3, 2))
losses = [agent.learn(x) for _ in range(3)]
biases = [jax.tree_util.tree_leaves(each)[0][0] for each in agent.history]

model = Values(nnx.Rngs(0))
best = model.get_state()
model(x)
model.update(best)
counts = [model.seen.value, agent.static.merge(agent.target).seen.value]

state, static = agent.model.split()
for _ in range(2):
    again = static.merge(state)
    again(x)
counts += [again.seen.value, static.merge(state).seen.value]

np.testing.assert_array_equal(jnp.stack(counts), [0, 0, 12, 9])
np.testing.assert_allclose(jnp.stack(losses), [1, 0.25, 0.0625], rtol=1e-5)
np.testing.assert_allclose(jnp.stack(biases), [0.5, 0.25, 0.375], rtol=1e-5)
result = [*counts, *losses, *biases]
