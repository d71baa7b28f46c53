"""The networks of the training benchmarks in Linen, with the initial values that the NNX models have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax.training.train_state import TrainState

import typed_nnx as nnx
from benchmarks.training_models import CLASSES, VOCABULARY, Task, causal


class MLP(nn.Module):
    """A perceptron: three hidden layers of 256."""

    @nn.compact
    def __call__(self, x: Any) -> Any:
        """Return logits of float [batch, 64]."""
        x = nn.relu(nn.Dense(256, name="first")(x))
        for number in range(2):
            x = nn.relu(nn.Dense(256, name=f"hidden_{number}")(x))
        return nn.Dense(CLASSES, name="last")(x)


class Block(nn.Module):
    """A transformer block, normalised before."""

    width: int
    heads: int

    @nn.compact
    def __call__(self, x: Any, mask: Any) -> Any:
        """Return float [batch, length, width]."""
        attention = nn.MultiHeadDotProductAttention(self.heads, name="attention")
        x = x + attention(nn.LayerNorm(name="norm1")(x), mask=mask)
        y = nn.Dense(4 * self.width, name="up")(nn.LayerNorm(name="norm2")(x))
        return x + nn.Dense(self.width, name="down")(nn.gelu(y))


class ViT(nn.Module):
    """A vision transformer for float [batch, 16, 4]: 6 blocks of 64."""

    @nn.compact
    def __call__(self, x: Any) -> Any:
        """Return logits of float [batch, 16, 4]."""
        places = self.param("places", nn.initializers.normal(0.02), (1, 16, 64))
        x = nn.Dense(64, name="patches")(x) + places
        for number in range(6):
            x = Block(64, 4, name=f"blocks_{number}")(x, None)
        return nn.Dense(CLASSES, name="head")(nn.LayerNorm(name="norm")(x).mean(1))


class Decoder(nn.Module):
    """A language model for int [batch, length <= 64]: 12 blocks of 128."""

    @nn.compact
    def __call__(self, tokens: Any) -> Any:
        """Return logits of int [batch, length]."""
        places = self.param("places", nn.initializers.normal(0.02), (1, 64, 128))
        x = nn.Embed(VOCABULARY, 128, name="embed")(tokens) + places[:, : tokens.shape[1]]
        mask = causal(tokens.shape[1])
        for number in range(12):
            x = Block(128, 4, name=f"blocks_{number}")(x, mask)
        return nn.Dense(VOCABULARY, name="head")(nn.LayerNorm(name="norm")(x))


MODULES: dict[str, type[nn.Module]] = {"MLP": MLP, "ViT": ViT, "decoder": Decoder}


def linen_state(task: Task, tx: optax.GradientTransformation) -> TrainState:
    """Return a TrainState whose parameters are those of the NNX model."""
    pure = nnx.to_pure_dict(nnx.state(task.make(nnx, nnx.Rngs(0)), nnx.Param))
    params = jax.tree.map(lambda leaf: leaf + 0, _with_linen_names(pure))
    state: TrainState = TrainState.create(apply_fn=MODULES[task.name]().apply, params=params, tx=tx)
    return state


def linen_step(task: Task) -> Callable[..., Any]:
    """Return a step as Linen programs have it, uncompiled."""

    def step(state: Any, batch: Any) -> Any:
        def loss_of(params: Any) -> Any:
            return task.loss(partial(state.apply_fn, {"params": params}), batch)

        loss, grads = jax.value_and_grad(loss_of)(state.params)
        return state.apply_gradients(grads=grads), loss

    return step


def linen_construction(layers: int) -> Callable[[], Any]:
    """Return a function that initialises a network of many layers."""

    class Network(nn.Module):
        @nn.compact
        def __call__(self, x: Any) -> Any:
            # Linen makes parameters where a layer is called; all see the same input.
            return [nn.Dense(8)(x) for _ in range(layers)]

    return lambda: Network().init(jax.random.key(0), jnp.ones((1, 8)))


def _with_linen_names(tree: Mapping[Any, Any]) -> dict[str, Any]:
    """Name the elements of lists as Linen does: the layer at ("hidden", 1) is "hidden_1"."""
    found: dict[str, Any] = {}
    for name, value in tree.items():
        if not isinstance(value, Mapping):
            found[name] = value
        elif all(isinstance(key, int) for key in value):
            found |= {f"{name}_{key}": _with_linen_names(each) for key, each in value.items()}
        else:
            found[name] = _with_linen_names(value)
    return found
