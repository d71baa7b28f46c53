"""Rows of docs/differences.md about training: a program for each, and what it comes to."""

from __future__ import annotations

import warnings
from typing import Any

import jax
import jax.numpy as jnp
import optax

from tests.docs.differing import Case

LOSSES = jnp.array([[1.0, 2.0], [3.0, 4.0]])


def model_of(nnx: Any, **metadata: Any) -> Any:
    class Model(nnx.Module):
        def __init__(self) -> None:
            self.w = nnx.Param(jnp.ones((128, 128)), **metadata)

    return Model()


def optimized(nnx: Any, tx: Any, grads: Any = None, **metadata: Any) -> Any:
    model = model_of(nnx, **metadata)
    optimizer = nnx.Optimizer(model, tx, wrt=nnx.Param)
    optimizer.update(model, nnx.state(model) if grads is None else grads)
    return model.w.shape


def without_parameters(nnx: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        nnx.Optimizer(model_of(nnx), optax.adam(0.1), wrt=nnx.LoRAParam)
    return [str(warning.message).partition("Fix: ")[2] for warning in seen]


def replaced(nnx: Any) -> Any:
    model = nnx.Dict(w=nnx.Param(jnp.ones(1)))
    optimizer = nnx.Optimizer(model, optax.adam(0.1), wrt=nnx.Param)
    model.w = nnx.Param(jnp.ones(3))
    optimizer.update(model, jax.tree.map(jnp.ones_like, nnx.state(model)))
    return optimizer.opt_state[0].mu["w"].shape


def swapped(nnx: Any) -> Any:
    model = model_of(nnx)
    grads = jax.tree.map(jnp.ones_like, nnx.state(model))
    nnx.Optimizer(model, optax.sgd(0.5), wrt=nnx.Param).update(grads, model)
    return float(grads["w"][0, 0]), float(model.w[0, 0])


def sharded(nnx: Any) -> Any:
    mesh = jax.make_mesh((1, 1), ("a", "b"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    with jax.set_mesh(mesh):
        return optimized(nnx, optax.adafactor(0.1), out_sharding=("a", "b"))


def unstable(nnx: Any) -> Any:
    tx = optax.GradientTransformation(
        lambda params: {"a": jnp.zeros(())},
        lambda updates, state, params=None: (updates, {"b": jnp.zeros(())}),
    )
    return optimized(nnx, tx)


def applied(nnx: Any) -> float:
    class Model(nnx.Module):
        def __init__(self) -> None:
            self.calls = nnx.BatchStat(jnp.zeros(()))

        def __call__(self) -> None:
            self.calls[...] += 1

    class State(nnx.TrainState):
        stats: Any

    graphdef, params, stats = nnx.split(Model(), nnx.Param, nnx.BatchStat)
    state = State.create(graphdef, params=params, tx=optax.sgd(0.1), stats=stats)
    state.apply("params", "stats")()
    return float(state.stats["calls"][...])


def average(nnx: Any) -> tuple[float, int]:
    metric = nnx.metrics.Average()
    metric.update(values=LOSSES, mask=jnp.array([[True], [False]]))
    return float(metric.compute()), int(metric.count[...])


def half_updated(nnx: Any) -> int:
    metrics = nnx.MultiMetric(loss=nnx.metrics.Average("loss"), accuracy=nnx.metrics.Accuracy())
    try:
        metrics.update(loss=jnp.ones(3), logits=jnp.ones((3, 2)), labels=jnp.ones(3))
    except ValueError:
        return int(metrics.loss.count[...])
    return -1


def hidden(nnx: Any) -> bool:
    metrics = nnx.MultiMetric(update=nnx.metrics.Average("loss"))
    return isinstance(metrics.update, nnx.metrics.Average)


CASES = [
    Case(
        "`optimizer.update(grads, model)`, in the wrong order",
        swapped,
        (0.5, 1.0),
        "OptimizerError",
    ),
    Case(
        "an `Optimizer` whose `wrt` chooses nothing of the model",
        without_parameters,
        [],
        ["nnx.Optimizer(model, tx, wrt=nnx.Param)"],
    ),
    Case(
        "`update` after a layer was replaced by one whose shapes broadcast",
        replaced,
        (3,),
        "ChangedModelError",
    ),
    Case(
        "an update that would change the shape of a parameter",
        lambda nnx: optimized(
            nnx, optax.sgd(0.1), nnx.State({"w": nnx.Param(jnp.ones((2, 128, 128)))})
        ),
        (2, 128, 128),
        "StateMismatchError",
    ),
    Case(
        "a transformation whose state changes its structure",
        unstable,
        (128, 128),
        "StateMismatchError",
    ),
    Case(
        "gradients as bare arrays, in a State or a dict",
        lambda nnx: optimized(nnx, optax.sgd(0.1), {"w": jnp.ones((128, 128))}),
        ValueError,
        (128, 128),
    ),
    Case(
        "gradients as bare arrays, in a State or a dict",
        lambda nnx: optimized(nnx, optax.sgd(0.1), nnx.State({"w": jnp.ones((128, 128))})),
        ValueError,
        (128, 128),
    ),
    Case("`optax.adafactor` with parameters that have a sharding", sharded, ValueError, (128, 128)),
    Case("`TrainState.apply` of a model that changes its statistics", applied, 1.0, 0.0),
    Case("a `mask` with fewer axes than the values", average, (3.0, 1), (1.5, 2)),
    Case("`MultiMetric.update` when a metric fails", half_updated, 3, 0),
    Case(
        "a metric named `reset`, `update` or `compute` in `MultiMetric`",
        hidden,
        True,
        "ReservedNameError",
    ),
]
