"""Data parallel training as in flax's imagenet example: statistics and dropout keys under pmap."""

import functools
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax import jax_utils
from flax.training import common_utils, train_state


def ramp(key, shape, dtype=jnp.float32):
    return jnp.linspace(-0.5, 0.5, shape[0] * shape[1], dtype=dtype).reshape(shape)


class Block(nn.Module):
    filters: int
    conv: Any
    norm: Any

    @nn.compact
    def __call__(self, x):
        y = self.conv(self.filters, (3, 3))(x)
        y = self.norm()(y)
        return nn.relu(x + y)


class Net(nn.Module):
    num_classes: int
    rate: float = 0.0
    dtype: Any = jnp.float32

    @nn.compact
    def __call__(self, x, train: bool = True):
        init = nn.initializers.constant(0.05)  # the same numbers also where `init` is compiled
        conv = functools.partial(nn.Conv, use_bias=False, dtype=self.dtype, kernel_init=init)
        norm = functools.partial(
            nn.BatchNorm, use_running_average=not train, momentum=0.9, dtype=self.dtype
        )
        x = conv(4, (3, 3), name="conv_init")(x)
        for _ in range(2):
            x = Block(4, conv=conv, norm=norm)(x)
        x = jnp.mean(x, axis=(1, 2))
        x = nn.Dropout(self.rate, deterministic=not train)(x)
        head = nn.Dense(self.num_classes, dtype=self.dtype, kernel_init=ramp)
        return head(x)


class TrainState(train_state.TrainState):
    batch_stats: Any
    dropout_rng: jax.Array

    def replicate(self):
        return jax_utils.replicate(self).replace(
            dropout_rng=common_utils.shard_prng_key(self.dropout_rng)
        )


def initialized(key, image_size, model):
    input_shape = (1, image_size, image_size, 3)

    @jax.jit
    def init(*args):
        return model.init(*args, train=False)

    variables = init({"params": key}, jnp.ones(input_shape, model.dtype))
    return variables["params"], variables["batch_stats"]


def create_train_state(rng, model, image_size):
    params, batch_stats = initialized(rng, image_size, model)
    return TrainState.create(
        apply_fn=model.apply,
        params=params,
        tx=optax.sgd(0.1, momentum=0.9, nesterov=True),
        batch_stats=batch_stats,
        dropout_rng=jax.random.PRNGKey(3),
    )


def cross_entropy_loss(logits, labels):
    one_hot = common_utils.onehot(labels, num_classes=3)
    return jnp.mean(optax.softmax_cross_entropy(logits=logits, labels=one_hot))


def train_step(state, batch):
    dropout_rng, new_dropout_rng = jax.random.split(state.dropout_rng)

    def loss_fn(params):
        logits, new_model_state = state.apply_fn(
            {"params": params, "batch_stats": state.batch_stats},
            batch["image"],
            mutable=["batch_stats"],
            rngs={"dropout": dropout_rng},
        )
        loss = cross_entropy_loss(logits, batch["label"])
        weight_l2 = sum(jnp.sum(x**2) for x in jax.tree_util.tree_leaves(params) if x.ndim > 1)
        return loss + 1e-4 * 0.5 * weight_l2, (new_model_state, logits)

    grad_fn = jax.value_and_grad(loss_fn, has_aux=True)
    aux, grads = grad_fn(state.params)
    grads = jax.lax.pmean(grads, axis_name="batch")
    new_model_state, logits = aux[1]
    metrics = {"loss": aux[0], "accuracy": jnp.mean(jnp.argmax(logits, -1) == batch["label"])}
    metrics = jax.lax.pmean(metrics, axis_name="batch")
    new_state = state.apply_gradients(
        grads=grads, batch_stats=new_model_state["batch_stats"], dropout_rng=new_dropout_rng
    )
    return new_state, metrics


def eval_step(state, batch):
    variables = {"params": state.params, "batch_stats": state.batch_stats}
    logits = state.apply_fn(variables, batch["image"], train=False, mutable=False)
    return cross_entropy_loss(logits, batch["label"])


cross_replica_mean = jax.pmap(lambda x: jax.lax.pmean(x, "x"), "x")


def sync_batch_stats(state):
    return state.replace(batch_stats=cross_replica_mean(state.batch_stats))


def run():
    model = Net(num_classes=3)
    state = create_train_state(jax.random.PRNGKey(0), model, 6)
    state = state.replicate()
    p_train_step = jax.pmap(functools.partial(train_step), axis_name="batch")
    p_eval_step = jax.pmap(eval_step, axis_name="batch")
    images = jax.random.normal(jax.random.PRNGKey(1), (8, 6, 6, 3))
    batch = common_utils.shard({"image": images, "label": jnp.arange(8) % 3})
    found = []
    for _ in range(3):
        state, metrics = p_train_step(state, batch)
        found.append(common_utils.get_metrics([metrics]))
    state = sync_batch_stats(state)
    return found, p_eval_step(state, batch), jax_utils.unreplicate(state).step
