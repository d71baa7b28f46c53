# stays: put @nnx.remat above its
from flax import nnx

head = nnx.Remat(nnx.Linear)(2, 3, rngs=nnx.Rngs(0))
