# stays: write `nnx.eval_shape(lambda: M(...))`
from flax import nnx

abstract = nnx.Linear.create_abstract(2, 3, rngs=nnx.Rngs(0))
result = abstract.kernel.get_value().shape
