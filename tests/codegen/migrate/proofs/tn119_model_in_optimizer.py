# fails: AttributeError
import jax.numpy as jnp
import optax
from flax import nnx


@nnx.jit
def train_step(optimizer: nnx.Optimizer, x):
    def loss_fn(model):
        return model(x).sum()

    loss, grads = nnx.value_and_grad(loss_fn)(optimizer.model)
    optimizer.update(grads=grads)
    return loss


def make(wrt):
    model = nnx.Linear(2, 3, kernel_init=nnx.initializers.ones, rngs=nnx.Rngs(0))
    return nnx.Optimizer(model, optax.sgd(0.1), wrt=wrt)


optimizer = make(nnx.Param)
losses = [train_step(optimizer, jnp.ones(2)) for _ in range(2)]
result = losses, optimizer.model.kernel[...]
