"""What a training loop calls while the device still computes: each call should return without waiting.

jax returns from a call before the result is there, so that Python prepares the next step meanwhile. A library
that looks at a value (``float(x)``, ``if x:``) waits for it, and the device idles afterwards.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

import typed_nnx as nnx

# A call on a value, float [], that may not be computed yet.
Act = Callable[[jax.Array], Any]


class LongComputation:
    """Keeps the device busy; its result is float [].

    The products are few and large: a GPU's queue holds about a thousand operations. Their number is
    known to XLA, which waits for the condition of any other loop.

    Args:
        seconds: How long, at least.

    Attributes:
        done: A result that is there.
        seconds: How long it took.
    """

    def __init__(self, seconds: float) -> None:
        size = 1024 if jax.default_backend() == "cpu" else 8192
        self._matrix = jnp.full((size, size), 1 / size)
        few = 4
        self._compile(few)
        self._timed()
        self._compile(1 + round(few * seconds / self._timed()))
        self.seconds = self._timed()
        self.done = self.start()

    def _compile(self, turns: int) -> None:
        def run(matrix: jax.Array) -> jax.Array:
            return jax.lax.fori_loop(0, turns, lambda _, x: x @ matrix, matrix)[0, 0]

        self._run = jax.jit(run).lower(self._matrix).compile()

    def _timed(self) -> float:
        start = time.perf_counter()
        jax.block_until_ready(self.start())
        return time.perf_counter() - start

    def start(self) -> jax.Array:
        """Begin to compute."""
        result: jax.Array = self._run(self._matrix)
        return result


class Network(nnx.Module):
    """A layer, and a statistic that each call rewrites."""

    def __init__(self) -> None:
        self.linear = nnx.Linear(4, 4, rngs=nnx.Rngs(0))
        self.mean = nnx.BatchStat(jnp.zeros(4))

    def __call__(self, x: jax.Array) -> jax.Array:
        """Map float [batch, 4]."""
        y = self.linear(x)
        self.mean[...] = (self.mean[...] + y.mean(0)) / 2
        return y


def loss_of(model: Network, x: jax.Array) -> jax.Array:
    """Return the mean square of the outputs."""
    return jnp.square(model(x)).mean()


def train_step(model: Network, optimizer: nnx.Optimizer[Network], x: jax.Array) -> jax.Array:
    """Update model and optimizer; return the loss before."""
    loss, grads = nnx.value_and_grad(loss_of)(model, x)
    optimizer.update(model, grads)
    return loss


class Loop:
    """The objects of a training loop, and calls on them."""

    def __init__(self) -> None:
        self.x = jnp.ones((8, 4))
        self.model = Network()
        self.tx = optax.adam(1e-3)
        self.adam = nnx.Optimizer(self.model, self.tx, wrt=nnx.Param)
        self.params = nnx.pure(nnx.state(self.model, nnx.Param))
        self.adam_state = self.tx.init(self.params)
        self.sgd = nnx.Optimizer(self.model, optax.sgd(1e-3), wrt=nnx.Param)
        self.average = nnx.EMA(nnx.state(self.model, nnx.Param), decay=0.9)
        self.metrics = nnx.MultiMetric(loss=nnx.metrics.Average(), hits=nnx.metrics.Accuracy())
        self.call = nnx.jit(lambda model, x: model(x))
        self.step = nnx.jit(train_step)
        self.donated = nnx.jit(train_step, donate_argnums=(0, 1))
        self.grads = nnx.grad(loss_of)(self.model, self.x)

    def _params(self, late: jax.Array) -> Any:
        """Return new values for the parameters, which are there when `late` is."""
        return jax.tree.map(lambda value: value + late, nnx.state(self.model, nnx.Param))

    def _changed(self, late: jax.Array) -> Network:
        """Write the values into the model."""
        nnx.update(self.model, self._params(late))
        return self.model

    def acts(self) -> dict[str, Act]:
        """Return the calls by name."""
        return {
            "`nnx.jit` of a model": lambda late: self.call(self.model, self.x + late),
            "a training step": lambda late: self.step(self.model, self.adam, self.x + late),
            "the same, donated": lambda late: self.donated(self.model, self.adam, self.x + late),
            "`optimizer.update` of sgd, outside `jit`": self.update_by_sgd,
            "`EMA.update`": lambda late: self.average.update(self._params(late)),
            "`MultiMetric.update`": self.measure,
            "`MultiMetric.compute`": self.computed,
            "`nnx.update`": self._changed,
            "`nnx.split` and `nnx.merge`": lambda late: nnx.merge(*nnx.split(self._changed(late))),
            "`nnx.clone`": lambda late: nnx.clone(self._changed(late)),
            "`nnx.state` as pure dicts": lambda late: nnx.to_pure_dict(
                nnx.state(self._changed(late))
            ),
        }

    def waiting_acts(self) -> dict[str, Act]:
        """Return calls that wait: outside `jit` each operation is a call, and jax has 32 under way at most."""
        return {
            "`optimizer.update` of adam, outside `jit`": self.update_by_adam,
            "optax's adam alone, outside `jit`": self.update_by_optax,
            "`float(x)`": float,
        }

    def _grads(self, late: jax.Array) -> Any:
        return jax.tree.map(lambda value: value + late, self.grads)

    def update_by_sgd(self, late: jax.Array) -> None:
        """Update by gradients that are not there yet."""
        self.sgd.update(self.model, self._grads(late))

    def update_by_adam(self, late: jax.Array) -> None:
        """Update by gradients that are not there yet."""
        self.adam.update(self.model, self._grads(late))

    def update_by_optax(self, late: jax.Array) -> Any:
        """Do what `update_by_adam` does, with plain arrays."""
        grads = nnx.pure(self._grads(late))
        updates, _ = self.tx.update(grads, self.adam_state, self.params)
        return optax.apply_updates(self.params, updates)

    def measure(self, late: jax.Array) -> None:
        """Update metrics by a loss and logits that are not there yet."""
        labels = jnp.zeros(8, jnp.int32)
        self.metrics.update(values=late, logits=self.x + late, labels=labels)

    def computed(self, late: jax.Array) -> dict[str, jax.Array]:
        """Do so, and compute the metrics."""
        self.measure(late)
        found: dict[str, jax.Array] = self.metrics.compute()
        return found


class Returned(NamedTuple):
    """How a call went: seconds until it returned, and whether the device was still busy then."""

    seconds: float
    is_busy: bool


def returned(act: Act, computation: LongComputation) -> Returned:
    """Call on the result of a computation that has just begun; wait for the end of it."""
    jax.block_until_ready(act(computation.done))  # compiled before
    late: Any = computation.start()  # pyright does not know `is_ready`
    start = time.perf_counter()
    result = act(late)
    seconds = time.perf_counter() - start
    is_busy = not late.is_ready()
    jax.block_until_ready((late, result))
    return Returned(seconds, is_busy)
