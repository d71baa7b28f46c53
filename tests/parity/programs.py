"""Programs as users of NNX write them, as functions of the library that they are written for.

Each returns the numbers that it would print; two libraries that run it must give the same.
"""

from __future__ import annotations

import itertools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax


def blobs(count: int, size: int, seed: int = 0) -> tuple[jax.Array, jax.Array]:
    """Return points around two centres and the number of the centre of each."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, 2, count)
    points = random.normal(size=(count, size)) + labels[:, None]
    return jnp.asarray(points, jnp.float32), jnp.asarray(labels)


def mlp_with_optimizer_and_metrics(nnx: Any) -> Any:
    class MLP(nnx.Module):
        def __init__(self, sizes: list[int], rngs: Any) -> None:
            pairs = itertools.pairwise(sizes)
            self.layers = nnx.List([nnx.Linear(i, o, rngs=rngs) for i, o in pairs])
            self.dropout = nnx.Dropout(0.2, rngs=rngs)

        def __call__(self, x: jax.Array) -> jax.Array:
            for layer in self.layers[:-1]:
                x = self.dropout(nnx.gelu(layer(x)))
            return self.layers[-1](x)

    def loss_fn(model: Any, x: jax.Array, y: jax.Array) -> tuple[jax.Array, jax.Array]:
        logits = model(x)
        loss = optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()
        return loss, logits

    @nnx.jit
    def train_step(model: Any, optimizer: Any, metrics: Any, x: jax.Array, y: jax.Array) -> Any:
        (loss, logits), grads = nnx.value_and_grad(loss_fn, has_aux=True)(model, x, y)
        metrics.update(loss=loss, logits=logits, labels=y)
        optimizer.update(model, grads)
        return loss

    model = MLP([4, 8, 2], nnx.Rngs(params=0, dropout=1))
    optimizer = nnx.Optimizer(model, optax.adamw(1e-2), wrt=nnx.Param)
    metrics = nnx.MultiMetric(accuracy=nnx.metrics.Accuracy(), loss=nnx.metrics.Average("loss"))
    x, y = blobs(16, 4)
    model.train()
    losses = [train_step(model, optimizer, metrics, x, y) for _ in range(5)]
    seen = metrics.compute()
    metrics.reset()
    model.eval()
    return losses, seen, model(x), optimizer.step[...]


def cnn_with_batch_norm(nnx: Any) -> Any:
    class CNN(nnx.Module):
        def __init__(self, *, rngs: Any) -> None:
            self.conv = nnx.Conv(1, 4, kernel_size=(3, 3), strides=2, rngs=rngs)
            self.norm = nnx.BatchNorm(4, momentum=0.9, rngs=rngs)
            self.dropout = nnx.Dropout(0.5, rngs=rngs)
            self.head = nnx.Linear(4, 3, rngs=rngs)

        def __call__(self, x: jax.Array) -> jax.Array:
            x = nnx.relu(self.norm(self.conv(x)))
            x = nnx.avg_pool(x, window_shape=(2, 2), strides=(2, 2)).mean((1, 2))
            return self.head(self.dropout(x))

    @nnx.jit
    def step(model: Any, optimizer: Any, x: jax.Array, y: jax.Array) -> jax.Array:
        def loss_fn(model: Any) -> jax.Array:
            return optax.softmax_cross_entropy_with_integer_labels(model(x), y).mean()

        loss, grads = nnx.value_and_grad(loss_fn)(model)
        optimizer.update(model, grads)
        return loss

    model = CNN(rngs=nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.sgd(0.1, momentum=0.9), wrt=nnx.Param)
    x = jnp.sin(jnp.arange(4 * 8 * 8, dtype=jnp.float32)).reshape(4, 8, 8, 1)
    y = jnp.array([0, 1, 2, 0])
    model.train()
    losses = [step(model, optimizer, x, y) for _ in range(3)]
    model.eval()
    _, statistics, rest = nnx.split(model, nnx.BatchStat, ...)
    return losses, model(x), nnx.to_pure_dict(statistics), sorted(nnx.to_flat_state(rest).paths)


def transformer_that_decodes(nnx: Any) -> Any:
    class Block(nnx.Module):
        def __init__(self, size: int, *, rngs: Any) -> None:
            self.norm = nnx.LayerNorm(size, rngs=rngs)
            self.attention = nnx.MultiHeadAttention(
                num_heads=2, in_features=size, decode=False, rngs=rngs
            )
            self.up = nnx.Linear(size, 2 * size, rngs=rngs)
            self.down = nnx.Linear(2 * size, size, rngs=rngs)

        def __call__(self, x: jax.Array, mask: jax.Array | None = None) -> jax.Array:
            x = x + self.attention(self.norm(x), mask=mask)
            return x + self.down(nnx.silu(self.up(x)))

    class Decoder(nnx.Module):
        def __init__(self, words: int, size: int, *, rngs: Any) -> None:
            self.embed = nnx.Embed(words, size, rngs=rngs)
            self.blocks = nnx.List([Block(size, rngs=rngs) for _ in range(1)])
            self.norm = nnx.RMSNorm(size, rngs=rngs)

        def __call__(self, tokens: jax.Array, mask: jax.Array | None = None) -> jax.Array:
            x = self.embed(tokens)
            for block in self.blocks:
                x = block(x, mask)
            return self.embed.attend(self.norm(x))

    tokens = jnp.array([[1, 4, 2, 0], [3, 3, 1, 2]])
    model = Decoder(5, 8, rngs=nnx.Rngs(0))
    whole = model(tokens, nnx.make_causal_mask(tokens))

    model.set_attributes(decode=True)
    for block in model.blocks:
        block.attention.init_cache((2, 4, 8))

    @nnx.jit
    def decode(model: Any, token: jax.Array) -> jax.Array:
        return model(token)

    steps = [decode(model, tokens[:, i : i + 1]) for i in range(4)]
    cache = nnx.to_pure_dict(nnx.state(model, nnx.Cache))
    return whole, steps, cache


def ensemble_by_vmap(nnx: Any) -> Any:
    @nnx.split_rngs(splits=3)
    @nnx.vmap(in_axes=(0,), out_axes=0)
    def create(rngs: Any) -> Any:
        return nnx.Sequential(
            nnx.Linear(4, 6, rngs=rngs), nnx.relu, nnx.Dropout(0.3), nnx.Linear(6, 2, rngs=rngs)
        )

    @nnx.jit
    @nnx.vmap(in_axes=(nnx.StateAxes({nnx.Param: 0, ...: None}), None, 0), out_axes=0)
    def forward(model: Any, x: jax.Array, key: jax.Array) -> jax.Array:
        return model(x, rngs=nnx.Rngs(dropout=key))

    model = create(nnx.Rngs(0))
    x, _ = blobs(5, 4)
    keys = jax.random.split(jax.random.key(7), 3)
    members = forward(model, x, keys)
    return members, jnp.mean(members, 0), nnx.to_pure_dict(nnx.state(model, nnx.Param))


def scan_over_layers(nnx: Any) -> Any:
    class Block(nnx.Module):
        def __init__(self, rngs: Any) -> None:
            self.linear = nnx.Linear(4, 4, rngs=rngs)
            self.dropout = nnx.Dropout(0.1, rngs=rngs)

        def __call__(self, x: jax.Array) -> jax.Array:
            return x + self.dropout(nnx.tanh(self.linear(x)))

    class Stack(nnx.Module):
        def __init__(self, depth: int, *, rngs: Any) -> None:
            @nnx.split_rngs(splits=depth)
            @nnx.vmap(in_axes=0, out_axes=0)
            def create(rngs: Any) -> Any:
                return Block(rngs)

            self.blocks = create(rngs)

        def __call__(self, x: jax.Array) -> jax.Array:
            @nnx.scan(in_axes=(nnx.Carry, 0), out_axes=nnx.Carry)
            def forward(x: jax.Array, block: Any) -> jax.Array:
                return nnx.remat(lambda block, x: block(x))(block, x)

            return forward(x, self.blocks)

    model = Stack(3, rngs=nnx.Rngs(0, dropout=1))
    x, _ = blobs(5, 4)
    loss, grads = nnx.jit(nnx.value_and_grad(lambda model: (model(x) ** 2).sum()))(model)
    return loss, nnx.to_pure_dict(grads), model(x)


PROGRAMS = (
    mlp_with_optimizer_and_metrics,
    cnn_with_batch_norm,
    transformer_that_decodes,
    ensemble_by_vmap,
    scan_over_layers,
)
