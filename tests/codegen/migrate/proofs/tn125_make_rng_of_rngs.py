# fails: TypeError
import jax
from flax import nnx

rngs = nnx.Rngs(0, dropout=1)
result = [
    jax.random.normal(rngs.make_rng("dropout"), (2,)),
    jax.random.key_data(rngs.make_rng("params")),
]
