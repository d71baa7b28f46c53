"""A trainer that gets the class of its model and the arguments for it."""

from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax.training import train_state


class Small(nn.Module):
    num_classes: int
    act_fn: Any = nn.relu

    @nn.compact
    def __call__(self, x, train=True):
        x = x.reshape(x.shape[0], -1)
        x = self.act_fn(nn.Dense(6)(x))
        return nn.Dense(self.num_classes)(x)


class Normed(nn.Module):
    num_classes: int
    width: int = 4

    @nn.compact
    def __call__(self, x, train=True):
        x = nn.Conv(self.width, (3, 3))(x)
        x = nn.BatchNorm()(x, use_running_average=not train)
        return nn.Dense(self.num_classes)(nn.relu(x).mean((1, 2)))


class TrainState(train_state.TrainState):
    batch_stats: Any


class TrainerModule:
    def __init__(self, model_name, model_class, model_hparams, lr, exmp_imgs, seed=42):
        self.model_name = model_name
        self.model_class = model_class
        self.model_hparams = model_hparams
        self.lr = lr
        self.seed = seed
        self.model = self.model_class(**self.model_hparams)
        self.create_functions()
        self.init_model(exmp_imgs)

    def create_functions(self):
        def calculate_loss(params, batch_stats, batch, train):
            imgs, labels = batch
            outs = self.model.apply(
                {"params": params, "batch_stats": batch_stats},
                imgs,
                train=train,
                mutable=["batch_stats"] if train else False,
            )
            logits, new_model_state = outs if train else (outs, None)
            loss = optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()
            return loss, new_model_state

        def train_step(state, batch):
            def loss_fn(params):
                return calculate_loss(params, state.batch_stats, batch, train=True)

            ret, grads = jax.value_and_grad(loss_fn, has_aux=True)(state.params)
            loss, new_model_state = ret
            stats = new_model_state.get("batch_stats", {})
            return state.apply_gradients(grads=grads, batch_stats=stats), loss

        def eval_step(state, batch):
            return calculate_loss(state.params, state.batch_stats, batch, train=False)[0]

        self.train_step = jax.jit(train_step)
        self.eval_step = jax.jit(eval_step)

    def init_model(self, exmp_imgs):
        init_rng = jax.random.PRNGKey(self.seed)
        variables = self.model.init(init_rng, exmp_imgs, train=True)
        self.init_params = variables["params"]
        self.init_batch_stats = variables.get("batch_stats", {})
        self.state = TrainState.create(
            apply_fn=self.model.apply,
            params=self.init_params,
            batch_stats=self.init_batch_stats,
            tx=optax.adam(self.lr),
        )

    def train(self, batch):
        losses = []
        for _ in range(3):
            self.state, loss = self.train_step(self.state, batch)
            losses.append(loss)
        return losses, self.eval_step(self.state, batch)


def train_classifier(*args, **kwargs):
    trainer = TrainerModule(*args, **kwargs)
    return trainer


def run():
    imgs = jax.random.normal(jax.random.PRNGKey(1), (6, 5, 5, 2))
    batch = (imgs, jnp.arange(6) % 3)
    found = []
    small = TrainerModule("small", Small, {"num_classes": 3}, 1e-2, imgs)
    normed = TrainerModule(
        "normed",
        model_class=Normed,
        model_hparams={"num_classes": 3, "width": 5},
        lr=1e-2,
        exmp_imgs=imgs,
    )
    found = [small.train(batch), normed.train(batch)]
    return found
