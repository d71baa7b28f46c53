# fails: ValueError
import jax.numpy as jnp
from flax import nnx


class Net(nnx.Module):
    def __init__(self, norm: bool, rngs: nnx.Rngs):
        self.norm = None
        if norm:
            self.norm = nnx.LayerNorm(2, rngs=rngs)
        self.seen = None

    def __call__(self, x):
        if self.norm is not None:
            x = self.norm(x)
        self.seen = x
        return x


net = Net(norm=True, rngs=nnx.Rngs(0))
result = net(jnp.arange(2.0)), net.seen, len(nnx.to_flat_state(nnx.state(net)))
