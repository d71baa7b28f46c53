# warns: DeprecationWarning
import jax.numpy as jnp
from flax import nnx


class Model(nnx.Module):
    def __init__(self, rngs: nnx.Rngs):
        self.linear = nnx.Linear(2, 3, rngs=rngs)
        self.norm = nnx.BatchNorm(3, rngs=rngs)


state = nnx.state(Model(nnx.Rngs(0)))
paths = [path for path, leaf in state.flat_state()]
params, stats = state.split(nnx.Param, nnx.BatchStat)
both = nnx.State.merge(params, stats)
shapes = both.map(lambda path, leaf: ("/".join(path), leaf[...].shape))
zeros = {"linear": {"kernel": jnp.zeros((2, 3)), "bias": jnp.zeros(3)}}
kept = state.filter(nnx.Param).to_pure_dict()
again = nnx.State.from_flat_path(dict(params.flat_state()))
again.replace_by_pure_dict(zeros)
result = paths, dict(shapes["linear"]), kept, again.to_pure_dict()
