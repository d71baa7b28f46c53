# fails: AttributeError
import jax.numpy as jnp
from flax import nnx


class Net(nnx.Module):
    def __init__(self, rngs: nnx.Rngs):
        self.body = nnx.Sequence(
            [
                nnx.Linear(2, 3, rngs=rngs),
                nnx.relu,  # no parameters
                nnx.Linear(3, 2, rngs=rngs),
            ]
        )
        self.heads = nnx.Sequence(nnx.Linear(2, size, rngs=rngs) for size in (1, 2))

    def __call__(self, x):
        x = self.body(x)
        return [head(x) for head in self.heads], len(self.body)


net = Net(nnx.Rngs(0))
net.body[0] = nnx.Linear(2, 3, rngs=nnx.Rngs(1))
result = net(jnp.ones((1, 2))), net.body[0].kernel[...], len(net.heads)
