# fails: AttributeError
import jax
from flax import nnx

rngs = nnx.Rngs(0, dropout=1)
nnx.fork(rngs, "dropout", 3)
masks = jax.vmap(lambda stream: jax.random.bernoulli(stream(), shape=(4,)))(rngs["dropout"])
result = masks, jax.random.key_data(rngs["params"]())
