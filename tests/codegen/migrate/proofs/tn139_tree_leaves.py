# fails: TypeError
import jax
import jax.numpy as jnp
from flax import nnx

model = nnx.BatchNorm(2, rngs=nnx.Rngs(0))
models = {"a": model, "b": nnx.Linear(2, 2, use_bias=False, rngs=nnx.Rngs(0))}
called = [jax.tree.map(lambda m: m(jnp.ones((1, 2))), models)["a"]]
state = nnx.state(model)
doubled = jax.tree_map(lambda v: v.replace(v.value * 2), state)
nnx.update(model, doubled)
kinds = jax.tree.map(lambda v: isinstance(v, nnx.BatchStat), nnx.to_pure_dict(state))
sums = jax.tree.map(lambda v: v.value.sum(), state)
result = (
    called,
    jax.tree_util.tree_leaves(sums),
    jax.tree.map(jnp.shape, nnx.state(model).scale[...]),
    kinds,
)
