"""What type checkers know of training tools; the assertions are checked by mypy and pyright."""

from __future__ import annotations

from typing import Any, assert_type

import jax
import jax.numpy as jnp
import optax
import pytest

import typed_nnx as nnx
from typed_nnx.training import metrics
from typed_nnx.training.ema import EMA
from typed_nnx.training.optimizer import ModelAndOptimizer, Optimizer
from typed_nnx.training.train_state import TrainState


class Net(nnx.Module):
    """One Param."""

    def __init__(self) -> None:
        self.w = nnx.Param(jnp.ones(2))

    def __call__(self, x: jax.Array) -> jax.Array:
        return x * self.w[...]


class Other(nnx.Module):
    """Another model."""

    def __init__(self) -> None:
        self.w = nnx.Param(jnp.ones(3))


def test_an_optimizer_knows_its_model() -> None:
    model, grads = Net(), nnx.state(Net(), nnx.Param)
    opt = Optimizer(model, optax.sgd(1.0), wrt=nnx.Param)
    assert_type(opt, Optimizer[Net])
    assert_type(opt.step, nnx.OptState[jax.Array])
    assert_type(opt.update(model, grads), nnx.State[Any, Any, Net, Any])
    assert jnp.array_equal(model(jnp.ones(2)), jnp.zeros(2))
    with_model = ModelAndOptimizer(model, optax.sgd(1.0))
    assert_type(with_model.model, Net)
    assert_type(with_model.update(grads), nnx.State[Any, Any, Net, Any])


def test_another_model_is_refused_by_checkers_and_at_run_time() -> None:
    opt = Optimizer(Net(), optax.sgd(1.0, momentum=0.5), wrt=nnx.Param)
    with pytest.raises(TypeError):
        opt.update(Other(), nnx.state(Net()))  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType]  # that is tested
    with pytest.raises(TypeError):
        opt.update(Net())  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]  # that is tested


def test_averages_train_states_and_metrics_have_precise_types() -> None:
    assert_type(EMA(Net(), 0.9).apply_to(Net()), Net)
    graphdef, params = nnx.split(Net(), nnx.Param)
    state = TrainState.create(graphdef, params=params, tx=optax.sgd(0.1))
    assert_type(state, TrainState[Net])  # pyright: ignore[reportAssertTypeFailure]  # it takes the default of M
    assert_type(state.apply_gradients(params), TrainState[Net])  # pyright: ignore[reportAssertTypeFailure]  # it takes the default of M
    assert_type(metrics.Average().compute(), jax.Array)
    assert_type(metrics.Welford().compute(), metrics.Statistics)
    assert_type(metrics.MultiMetric(a=metrics.Average()).compute(), dict[str, jax.Array])
    assert isinstance(metrics.Accuracy().split()[0], nnx.GraphDef)
