# fails: AttributeError
import jax.numpy as jnp
from flax import nnx

model = nnx.Linear(2, 3, rngs=nnx.Rngs(0))
state = nnx.state(model)
sizes = {"/".join(path): leaf[...].size for path, leaf in state.flat_state().items()}
flat = state.flat_state()
if ("bias",) in flat:
    flat[("bias",)] = flat[("bias",)].replace(jnp.ones(3))
nnx.update(model, nnx.State.from_flat_path(flat))
names = sorted(state.flat_state().keys())
result = sizes, names, model(jnp.ones((1, 2)))
