# stays: make a class of your own, class MyVariable(nnx.Param), with get_value
import jax.numpy as jnp
from flax import nnx

v = nnx.Param(jnp.ones(3), on_get_value=lambda variable, value: value * 2)
