# fails: TypeError
import jax.numpy as jnp
import optax
from flax import nnx

model = nnx.Linear(2, 3, kernel_init=nnx.initializers.ones, rngs=nnx.Rngs(0))
x = jnp.ones(2)


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = nnx.Optimizer(model, optax.sgd(0.1))

    def step(self, grads):
        self.optimizer.update(grads)
        return self.optimizer.model(x)


def loss_fn(model, x):
    return model(x).sum(), 1


@nnx.jit
def train_step(model, optimizer: nnx.Optimizer, x):
    (loss, _), grads = nnx.value_and_grad(loss_fn, has_aux=True)(model, x)
    optimizer.update(grads=grads)
    return loss


trainer = Trainer(model)
grads = nnx.grad(lambda model: model(x).sum())(model)
loss = train_step(model, nnx.Optimizer(model, optax.sgd(0.1)), x)
result = trainer.step(grads), loss
