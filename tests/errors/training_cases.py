"""What goes wrong with optimizers, train states, averages and metrics."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import optax

import typed_nnx as nnx
from tests.errors.case import Case
from typed_nnx import errors
from typed_nnx.training import metrics
from typed_nnx.training.ema import EMA
from typed_nnx.training.optimizer import Optimizer
from typed_nnx.training.train_state import TrainState


class Scaled(nnx.Module):
    """Two Params and a statistic."""

    def __init__(self) -> None:
        self.scale = nnx.Param(jnp.ones(2))
        self.shift = nnx.Param(jnp.ones(2))
        self.count = nnx.BatchStat(jnp.zeros(()))


class Nameless(nnx.Module):
    """Holds an array that is no Variable."""

    def __init__(self) -> None:
        self.table = nnx.data(jnp.ones(2))


# The functions of the library have types that forbid what is done here.
optimizer_class: Any = Optimizer
accuracy_class: Any = metrics.Accuracy


def optimizer(tx: Any = None) -> Any:
    """Return an optimizer."""
    return Optimizer(Scaled(), optax.sgd(0.1) if tx is None else tx, wrt=nnx.Param)


def grads() -> Any:
    """Return gradients."""
    return nnx.state(Scaled(), nnx.Param)


def forgetful() -> optax.GradientTransformation:
    """Return a transformation whose state loses an array and gains another."""
    return optax.GradientTransformation(
        lambda params: {"count": jnp.zeros(())},
        lambda updates, state, params=None: (updates, {"steps": jnp.zeros(())}),
    )


def train_state() -> Any:
    """Return a train state."""
    graphdef, params, _ = nnx.split(Scaled(), nnx.Param, ...)
    return TrainState.create(graphdef, params=params, tx=optax.sgd(0.1))


def update_other() -> None:
    """Update averages by a model that lacks one of them."""
    model = Scaled()
    average = EMA(model, 0.9, only=nnx.Param)
    del model.shift
    average.update(model)


def update_after_a_replacement() -> None:
    """Replace a layer of a model whose optimizer is made."""
    model: Any = nnx.Dict(a=nnx.Linear(2, 3, rngs=nnx.Rngs(0)))
    made = nnx.Optimizer(model, optax.adam(0.1), wrt=nnx.Param)
    model.a = nnx.Linear(2, 4, use_bias=False, rngs=nnx.Rngs(0))
    model.b = nnx.Param(jnp.ones(1))
    made.update(model, nnx.clone(nnx.state(model)))


CASES = [
    Case(
        "layers replaced after the optimizer was made",
        errors.ChangedModelError,
        update_after_a_replacement,
        (
            "Optimizer.update: the model has other parameters than when the optimizer was made",
            "unknown to the optimizer:\n    ('b',)",
            "gone from the model:\n    ('a', 'bias')",
            "of another shape:\n    ('a', 'kernel'): (2, 3) then, (2, 4) now",
        ),
        "optimizer = nnx.Optimizer(model, tx, wrt=nnx.Param)",
        ValueError,
    ),
    Case(
        "an Optimizer without wrt",
        errors.MissingArgumentError,
        lambda: optimizer_class(Scaled(), optax.sgd(0.1)),
        ("Optimizer: missing required argument `wrt`", "got 2 positional arguments"),
        "nnx.Optimizer(model, tx, wrt=nnx.Param), or nnx.ModelAndOptimizer(model, tx)",
        TypeError,
    ),
    Case(
        "an update with gradients only",
        errors.MissingArgumentError,
        lambda: optimizer().update(grads()),
        ("Optimizer.update: missing required argument `grads`", "a State"),
        "optimizer.update(model, grads)",
        TypeError,
    ),
    Case(
        "the model of an Optimizer",
        errors.NoModelError,
        lambda: optimizer().model,
        ("Optimizer does not have attribute 'model'", "`update` is given the model"),
        "nnx.ModelAndOptimizer(model, tx)",
        AttributeError,
    ),
    Case(
        "an Optimizer with a learning rate in the place of a transformation",
        errors.TransformationError,
        lambda: optimizer(0.1),
        ("Optimizer: `tx` is a float", "expected an optax.GradientTransformation"),
        "nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)",
        AttributeError,
    ),
    Case(
        "model and gradients swapped",
        errors.SwappedArgumentsError,
        lambda: optimizer().update(grads(), Scaled()),
        ("Optimizer.update: the first argument is a State", "Scaled", "expected the model"),
        "optimizer.update(model, grads)",
        TypeError,
    ),
    Case(
        "gradients of other leaves",
        errors.UnmatchedLeavesError,
        lambda: optimizer().update(
            Scaled(), nnx.State({"scale": nnx.Param(1.0), "new": nnx.Param(1.0)})
        ),
        (
            "Optimizer.update: `grads` must have one gradient for each leaf",
            "got a State of 2 leaves",
            "missing, expected at:",
            "('shift',)",
            "extra, with no place:",
            "('new',)",
        ),
        "differentiate by the Variables that the optimizer updates",
    ),
    Case(
        "gradients together with their loss",
        errors.UnmatchedLeavesError,
        lambda: optimizer().update(Scaled(), (jnp.ones(()), grads())),
        ("`grads` must have one gradient", "got a tuple", "('scale',)"),
        "nnx.grad(loss, argnums=nnx.DiffState(0, wrt))",
    ),
    Case(
        "gradients of other shapes",
        errors.ChangedShapeError,
        lambda: optimizer().update(
            nnx.Dict(scale=nnx.Param(jnp.ones(1))), nnx.State({"scale": nnx.Param(jnp.ones(3))})
        ),
        ("at path ('scale',)", "shape (1,)", "shape (3,)", "nothing was updated"),
        "pass gradients of the shapes of the parameters",
    ),
    Case(
        "a transformation that changes its state",
        errors.ChangedOptStateError,
        lambda: optimizer(forgetful()).update(Scaled(), grads()),
        ("`tx.update` returned a state of another structure", "('count',)", "('steps',)"),
        "let `tx.init` make every array that `tx.update` returns",
    ),
    Case(
        "a field that is no State",
        errors.NotAStateError,
        lambda: train_state().apply("tx"),
        ("TrainState.apply: TrainState.tx is a GradientTransformation", "'params'"),
        "state.apply('params')(x)",
        TypeError,
    ),
    Case(
        "gradients of a TrainState that are too few",
        errors.UnmatchedLeavesError,
        lambda: train_state().apply_gradients(nnx.State({"scale": nnx.Param(jnp.ones(2))})),
        ("TrainState.apply_gradients: `grads`", "got a State of 1 leaf", "('shift',)"),
        "differentiate by the params: jax.grad(loss)(state.params)",
    ),
    Case(
        "averages of an array",
        errors.NotAveragedError,
        lambda: EMA(Nameless(), 0.9),
        ("EMA: at path ('table',) there is float32[2]", "only Variables are averaged"),
        "nnx.EMA(model, decay, only=nnx.Param)",
        TypeError,
    ),
    Case(
        "averages of another model",
        errors.UnmatchedLeavesError,
        update_other,
        ("EMA.update: `updates` must have the Variables that are averaged", "('shift',)"),
        "ema.update(model)",
    ),
    Case(
        "a Metric without methods",
        errors.AbstractMetricError,
        metrics.Metric,
        ("Metric: a Metric must override `__init__()`",),
        "define __init__(self, ...) in a subclass of nnx.Metric",
        NotImplementedError,
    ),
    Case(
        "a metric without its keyword",
        errors.MetricArgumentError,
        lambda: metrics.Average("loss").update(values=1.0, x=2.0),
        ("Average.update: expected keyword argument 'loss'", "got values, x"),
        "metric.update(loss=...), or make the metric with another name: "
        "nnx.metrics.Average('values')",
        TypeError,
    ),
    Case(
        "labels with an axis too many",
        errors.LabelsError,
        lambda: metrics.Accuracy().update(
            logits=jnp.ones((3, 2)), labels=jnp.ones((3, 1), jnp.int32)
        ),
        ("Accuracy.update: expected logits [..., classes] and labels [...]", "(3, 2)", "(3, 1)"),
        "metrics.update(logits=logits, labels=labels) with one label for each prediction",
    ),
    Case(
        "labels that are floats",
        errors.LabelsError,
        lambda: metrics.Accuracy().update(logits=jnp.ones((3, 2)), labels=jnp.ones(3)),
        ("Accuracy.update: expected labels of dtype int32", "got float32"),
        "labels=labels.astype(jnp.int32)",
    ),
    Case(
        "a mask for a number",
        errors.MaskedNumberError,
        lambda: metrics.Average("loss").update(loss=2.0, mask=jnp.ones(3)),
        ("Average.update: with a mask `loss` should be a jax array", "got 2.0"),
        "metrics.update(loss=jnp.array(...), mask=mask), or no mask",
        ValueError,
    ),
    Case(
        "a threshold that is an int",
        errors.ThresholdError,
        lambda: accuracy_class(1),
        ("Accuracy: `threshold` is 1 (int)", "expected a float"),
        "nnx.metrics.Accuracy(threshold=0.5)",
        TypeError,
    ),
    Case(
        "a metric named like a method",
        errors.MetricNameError,
        lambda: metrics.MultiMetric(update=metrics.Average()),
        ("MultiMetric: a metric cannot be named 'update'", "expected another name"),
        "nnx.MultiMetric(update_metric=...)",
    ),
]
