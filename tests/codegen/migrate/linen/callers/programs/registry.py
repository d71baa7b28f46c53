"""Models that a decorator puts into a table, and that are chosen by `globals`."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax

MODELS = {}
HEADS: dict[str, type[nn.Module]] = {}


def register(name):
    def add(cls):
        MODELS[name] = cls
        return cls

    return add


@register("mlp")
class MLP(nn.Module):
    width: int = 4

    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(nn.relu(nn.Dense(self.width)(x)))


@register("linear")
class Linear(nn.Module):
    use_bias: bool = True

    @nn.compact
    def __call__(self, x):
        return nn.Dense(2, use_bias=self.use_bias)(x)


class Head(nn.Module):
    size: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.size)(x)


HEADS["plain"] = Head


def head(name, **settings) -> nn.Module:
    return HEADS[name](**settings)


def scores(x):
    model = head("plain", size=3)
    params = jax.jit(model.init)(jax.random.PRNGKey(4), x)["params"]
    return model.apply({"params": params}, x)


class Trainer:
    def __init__(self, name, settings, x):
        self.model = MODELS[name](**settings)
        self.params = self.model.init(jax.random.PRNGKey(0), x)["params"]
        self.tx = optax.sgd(0.1)
        self.opt_state = self.tx.init(self.params)

    def fit(self, x):
        def loss_fn(p):
            return jnp.mean(self.model.apply({"params": p}, x) ** 2)

        loss, grads = jax.value_and_grad(loss_fn)(self.params)
        updates, self.opt_state = self.tx.update(grads, self.opt_state)
        self.params = optax.apply_updates(self.params, updates)
        return loss


def build(name, **settings):
    cls = globals()[name]
    return cls(**settings)


def begun(model, x):
    return model.init(jax.random.PRNGKey(1), x), jnp.ones(model.width)


def run():
    x = jnp.sin(jnp.arange(6.0)).reshape(2, 3)
    losses = []
    for name, settings in [("mlp", {"width": 5}), ("linear", {"use_bias": False})]:
        trainer = Trainer(name, settings, x)
        losses += [trainer.fit(x) for _ in range(3)]
    model = build("MLP", width=3)
    v, widths = begun(model, x)
    return losses, model.apply(v, x), widths, scores(x)
