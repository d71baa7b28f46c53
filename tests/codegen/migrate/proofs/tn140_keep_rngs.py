# stays: give them where its carry is made
from flax import nnx

cell = nnx.GRUCell(2, 3, keep_rngs=True, rngs=nnx.Rngs(0))
