"""Layers and metrics that hold others: `RNN`, `MultiMetric`."""

from __future__ import annotations

from typing import Any, assert_type

import jax

import typed_nnx as nnx
from typed_nnx.training.metrics import Statistics


class Recall(nnx.Metric):
    """A metric of the user's, whose value is a number."""

    def compute(self) -> float:
        """Return it, without unit."""
        return 0.0


class Logged(nnx.MultiMetric):
    """Metrics with names of their own."""

    def __init__(self) -> None:
        super().__init__(loss=nnx.metrics.Average("loss"), recall=Recall())


def report(metrics: nnx.MultiMetric) -> list[str]:
    return [f"{name}: {value}" for name, value in metrics.compute().items()]


def of_metrics(named: dict[str, nnx.Metric], averages: dict[str, nnx.metrics.Average]) -> None:
    metrics = nnx.MultiMetric(loss=nnx.metrics.Average("loss"), accuracy=nnx.metrics.Accuracy())
    assert_type(metrics.compute(), dict[str, jax.Array])
    assert_type(nnx.MultiMetric(**averages).compute(), dict[str, jax.Array])
    assert_type(nnx.metrics.Welford().compute(), Statistics)
    assert_type(nnx.MultiMetric(loss=nnx.metrics.Welford()).compute(), dict[str, Any])
    assert_type(nnx.MultiMetric(a=Recall(), b=nnx.metrics.Average()).compute(), dict[str, Any])
    assert_type(nnx.MultiMetric(**named).compute(), dict[str, Any])
    assert_type(Logged().compute(), dict[str, Any])
    report(metrics)
    report(Logged())
    _ = metrics.compute()["loss"].nothing  # E
    nnx.MultiMetric(loss=3)  # E


def first_cell(layer: nnx.RNN) -> nnx.RNNCellBase:
    return layer.cell


def of_cells(rngs: nnx.Rngs) -> None:
    layer = nnx.RNN(nnx.LSTMCell(3, 4, rngs=rngs))
    assert_type(layer.cell, nnx.LSTMCell)
    assert_type(nnx.clone(layer), nnx.RNN[nnx.LSTMCell, jax.Array])
    assert_type(first_cell(layer), nnx.RNNCellBase)
    both = nnx.Bidirectional(layer, nnx.RNN(nnx.GRUCell(3, 4, rngs=rngs)))
    assert_type(both.backward_rnn.cell, nnx.GRUCell)


def of_calls(layer: nnx.RNN, x: jax.Array, rngs: nnx.Rngs, with_carry: bool) -> None:
    cell = nnx.LSTMCell(3, 4, rngs=rngs)
    assert_type(nnx.RNN(cell, time_major=True)(x, reverse=True), jax.Array)
    assert_type(nnx.RNN(cell)(x, return_carry=True), tuple[Any, jax.Array])
    assert_type(nnx.RNN(cell, return_carry=True)(x), tuple[Any, jax.Array])
    assert_type(nnx.RNN(cell, return_carry=with_carry)(x), Any)
    assert_type(layer(x), Any)
    assert_type(nnx.Bidirectional(layer, layer)(x), jax.Array)
    assert_type(nnx.Bidirectional(layer, layer, return_carry=True)(x), tuple[Any, jax.Array])
    kept: nnx.RNN[nnx.LSTMCell] = nnx.RNN(cell, return_carry=True)
    assert_type(kept.cell, nnx.LSTMCell)
    layer(x, time_mayor=True)  # E
    nnx.RNN(cell, time=True)  # E
    nnx.RNN(nnx.Linear(3, 4, rngs=rngs))  # E
