# stays: splits the keys inside an object
from flax import nnx

rngs = nnx.Rngs(0)
forked = nnx.fork(nnx.state(rngs), ..., 3)
