# warns: DeprecationWarning
import jax
import jax.numpy as jnp
from flax import nnx
from jax.sharding import AxisType

mesh = jax.make_mesh((1,), ("data",), axis_types=(AxisType.Auto,))
v = nnx.Param(jnp.ones((2, 3)), sharding=("data", None), mesh=mesh)
w = nnx.Variable(jnp.ones(2), sharding_names=("data",), mesh=mesh)
init = nnx.with_metadata(nnx.initializers.ones, sharding=("data",), mesh=mesh)
x = nnx.Param(init(jax.random.key(0), (2,), jnp.float32))
result = [v.sharding_names, w.get_metadata("out_sharding"), x.sharding_names]
