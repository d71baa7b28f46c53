# fails: AttributeError
import jax
import jax.numpy as jnp
from flax import nnx
from jax.sharding import AxisType
from jax.sharding import PartitionSpec as P

mesh = jax.make_mesh((1,), ("data",), axis_types=(AxisType.Auto,))


@nnx.jit
def f(x):
    x = nnx.with_sharding_constraint(x * 2, P("data"), mesh)
    return nnx.with_sharding_constraint(x, jax.sharding.NamedSharding(mesh, P()))


result = f(jnp.ones(4))
