# fails: AttributeError
import jax.numpy as jnp
from flax import nnx


def forward(static: nnx.ModuleDef, state: nnx.State, x):
    return nnx.merge(static, state)(x)


graphdef, state = nnx.split(nnx.Linear(2, 3, rngs=nnx.Rngs(0)))
result = [isinstance(graphdef, nnx.ModuleDef), forward(graphdef, state, jnp.ones((1, 2)))]
