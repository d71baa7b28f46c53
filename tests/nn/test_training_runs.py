"""200 steps of training give the losses that flax gives, for the same seeds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flax.nnx
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import typed_nnx

STEPS = 200


def perceptron(nnx: Any, rngs: Any) -> Any:
    """Dropout and LayerNorm between Linears."""

    class Perceptron(nnx.Module):
        def __init__(self) -> None:
            self.first = nnx.Linear(16, 32, rngs=rngs)
            self.norm = nnx.LayerNorm(32, rngs=rngs)
            self.dropout = nnx.Dropout(0.2, rngs=rngs)
            self.last = nnx.Linear(32, 4, rngs=rngs)

        def __call__(self, x: Any) -> Any:
            return self.last(self.dropout(nnx.relu(self.norm(self.first(x)))))

    return Perceptron()


def convolutions(nnx: Any, rngs: Any) -> Any:
    """Convolutions with BatchNorm and pooling, for images of 4x4."""

    class Convolutions(nnx.Module):
        def __init__(self) -> None:
            self.conv = nnx.Conv(1, 8, (3, 3), rngs=rngs)
            self.norm = nnx.BatchNorm(8, rngs=rngs)
            self.last = nnx.Linear(8, 4, rngs=rngs)

        def __call__(self, x: Any) -> Any:
            x = nnx.relu(self.norm(self.conv(x.reshape(-1, 4, 4, 1))))
            return self.last(nnx.avg_pool(x, (4, 4)).reshape(x.shape[0], -1))

    return Convolutions()


def transformer(nnx: Any, rngs: Any) -> Any:
    """Embedded tokens, attention with dropout, RMSNorm; the 16 inputs become tokens."""

    class Transformer(nnx.Module):
        def __init__(self) -> None:
            self.embed = nnx.Embed(8, 16, rngs=rngs)
            self.norm = nnx.RMSNorm(16, rngs=rngs)
            self.attention = nnx.MultiHeadAttention(
                2, 16, dropout_rate=0.1, deterministic=False, decode=False, rngs=rngs
            )
            self.last = nnx.LinearGeneral(16, 4, rngs=rngs)

        def __call__(self, x: Any) -> Any:
            tokens = jnp.clip(jnp.round(2 * x) + 4, 0, 7).astype(jnp.int32)
            x = self.embed(tokens)
            mask = nnx.make_causal_mask(tokens)
            return self.last((x + self.attention(self.norm(x), mask=mask)).mean(1))

    return Transformer()


def losses(nnx: Any, make: Callable[[Any, Any], Any]) -> np.ndarray:
    """Train on one batch of 32 and return the loss of each step."""
    random = np.random.default_rng(0)
    x = jnp.asarray(random.normal(size=(32, 16)).astype(np.float32))
    labels = jnp.asarray(random.integers(0, 4, 32))

    @nnx.jit
    def step(model: Any, optimizer: Any, metrics: Any) -> Any:
        def loss_of(model: Any) -> Any:
            return optax.softmax_cross_entropy_with_integer_labels(model(x), labels).mean()

        loss, grads = nnx.value_and_grad(loss_of)(model)
        optimizer.update(model, grads)
        metrics.update(values=loss)
        return loss

    model = make(nnx, nnx.Rngs(0, dropout=1))
    schedule = optax.cosine_decay_schedule(1e-2, STEPS)
    optimizer = nnx.Optimizer(model, optax.adamw(schedule), wrt=nnx.Param)
    metrics = nnx.metrics.Average()
    found = [step(model, optimizer, metrics) for _ in range(STEPS)]
    assert optimizer.step[...] == STEPS
    return np.asarray(jnp.stack([*found, metrics.compute()]))


@pytest.mark.thorough
@pytest.mark.parametrize("make", [perceptron, convolutions, transformer])
def test_200_steps_give_the_losses_of_flax(make: Callable[[Any, Any], Any]) -> None:
    ours, theirs = losses(typed_nnx, make), losses(flax.nnx, make)
    assert ours[-2] < 0.8 * ours[0], "it learns, so that the run says something"
    # The programs may differ in the order of their equations; what each computes may not.
    np.testing.assert_allclose(ours, theirs, rtol=1e-5)
