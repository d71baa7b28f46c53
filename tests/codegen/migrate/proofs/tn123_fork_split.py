# warns: DeprecationWarning
import jax
from flax import nnx

rngs = nnx.Rngs(0, dropout=1)
each = rngs.fork(split=3)
stream = rngs.dropout.fork(split=2)


def draw(stream):
    return jax.random.normal(stream(), (2,))


model = nnx.Dropout(0.5, rngs=rngs)
nnx.fork_rngs(model, split=4)
masks = model.rngs.key.shape
backups = nnx.fork_rngs(rngs, split=2)
split = rngs.dropout.key.shape, rngs.params.key.shape
nnx.restore_rngs(backups)


@nnx.fork_rngs(split=5)
def inside(rngs):
    return rngs.params.key.shape


result = (
    jax.vmap(draw)(each.params),
    jax.vmap(draw)(stream),
    (masks, split, inside(rngs)),
    jax.random.key_data(rngs.params()),
)
