# warns: UserWarning
import jax.numpy as jnp
from flax import nnx

ones = nnx.initializers.ones_init()
rngs = nnx.Rngs(0)
rnn = nnx.RNN(
    nnx.SimpleCell(2, 3, kernel_init=ones, recurrent_kernel_init=ones, keep_rngs=True, rngs=rngs)
)
plain = nnx.GRUCell(2, 3, kernel_init=ones, recurrent_kernel_init=ones, keep_rngs=False, rngs=rngs)
result = rnn(jnp.ones((1, 4, 2))), plain.dense_h.kernel[...], plain.rngs
