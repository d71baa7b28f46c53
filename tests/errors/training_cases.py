"""What goes wrong with optimizers, metrics, checkpoints and summaries."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import jax.numpy as jnp
import optax

import typed_nnx as nnx
from tests.errors.case import Bag, Cases
from typed_nnx import errors
from typed_nnx.summary import tabulate
from typed_nnx.training import metrics
from typed_nnx.training.checkpoint import CheckpointManager, restore, save
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


def network() -> Bag:
    """Return a model with a Param and, deeper, a BatchStat."""
    return Bag(w=nnx.Param(jnp.ones((2, 3))), norm=Bag(mean=nnx.BatchStat(jnp.zeros(3))))


def in_folder(does: Callable[[Path], object]) -> Callable[[], object]:
    """Return an operation that gets a folder of its own."""

    def operation() -> object:
        with tempfile.TemporaryDirectory() as folder:
            return does(Path(folder) / "run")

    return operation


def saved(path: Path, **attributes: Any) -> Path:
    """Save a model and return the path."""
    save(path, Bag(**attributes) if attributes else network())
    return path


def with_a_broken_file(path: Path) -> Path:
    """Save a model, cut off its metadata and return the path."""
    (saved(path) / "version_1" / "default" / "_METADATA").write_text("{")
    return path


def in_a_file(path: Path) -> Path:
    """Return a path below a file, which is no place for a folder."""
    path.write_text("notes")
    return path / "model"


class Layer(nnx.Module):
    def __call__(self, x: Any) -> Any:
        return x


def _without_rich() -> object:
    with mock.patch.dict(sys.modules, {"rich.console": None}):
        return tabulate(Layer(), jnp.ones(2))


CASES: Cases = {
    errors.ChangedModelError: {
        "layers replaced after the optimizer was made": (
            update_after_a_replacement,
            (
                "Optimizer.update: the model has other parameters than when the optimizer was made",
                "unknown to the optimizer:\n    ('b',)",
                "gone from the model:\n    ('a', 'bias')",
                "of another shape:\n    ('a', 'kernel'): (2, 3) then, (2, 4) now",
            ),
            "optimizer = nnx.Optimizer(model, tx, wrt=nnx.Param)",
        )
    },
    errors.OptimizerError: {
        "an Optimizer without wrt": (
            lambda: optimizer_class(Scaled(), optax.sgd(0.1)),
            ("Optimizer: missing required argument `wrt`", "got 2 positional arguments"),
            "nnx.Optimizer(model, tx, wrt=nnx.Param), or nnx.ModelAndOptimizer(model, tx)",
        ),
        "an update with gradients only": (
            lambda: optimizer().update(grads()),
            ("Optimizer.update: missing required argument `grads`", "a State"),
            "optimizer.update(model, grads)",
        ),
        "the model of an Optimizer": (
            lambda: optimizer().model,
            ("Optimizer does not have attribute 'model'", "`update` is given the model"),
            "nnx.ModelAndOptimizer(model, tx)",
        ),
        "an Optimizer with a learning rate in the place of a transformation": (
            lambda: optimizer(0.1),
            ("Optimizer: `tx` is a float", "expected an optax.GradientTransformation"),
            "nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)",
        ),
        "model and gradients swapped": (
            lambda: optimizer().update(grads(), Scaled()),
            ("Optimizer.update: the first argument is a State", "Scaled", "expected the model"),
            "optimizer.update(model, grads)",
        ),
    },
    errors.StateMismatchError: {
        "gradients of other leaves": (
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
        "gradients together with their loss": (
            lambda: optimizer().update(Scaled(), (jnp.ones(()), grads())),
            ("`grads` must have one gradient", "got a tuple", "('scale',)"),
            "nnx.grad(loss, argnums=nnx.DiffState(0, wrt))",
        ),
        "gradients of other shapes": (
            lambda: optimizer().update(
                nnx.Dict(scale=nnx.Param(jnp.ones(1))), nnx.State({"scale": nnx.Param(jnp.ones(3))})
            ),
            ("at path ('scale',)", "shape (1,)", "shape (3,)", "nothing was updated"),
            "pass gradients of the shapes of the parameters",
        ),
        "a transformation that changes its state": (
            lambda: optimizer(forgetful()).update(Scaled(), grads()),
            ("`tx.update` returned a state of another structure", "('count',)", "('steps',)"),
            "let `tx.init` make every array that `tx.update` returns",
        ),
        "gradients of a TrainState that are too few": (
            lambda: train_state().apply_gradients(nnx.State({"scale": nnx.Param(jnp.ones(2))})),
            ("TrainState.apply_gradients: `grads`", "got a State of 1 leaf", "('shift',)"),
            "differentiate by the params: jax.grad(loss)(state.params)",
        ),
        "averages of another model": (
            update_other,
            ("EMA.update: `updates` must have the Variables that are averaged", "('shift',)"),
            "ema.update(model)",
        ),
    },
    errors.ArgumentTypeError: {
        "a field that is no State": (
            lambda: train_state().apply("tx"),
            ("TrainState.apply: TrainState.tx is a GradientTransformation", "'params'"),
            "state.apply('params')(x)",
        ),
        "averages of an array": (
            lambda: EMA(Nameless(), 0.9),
            ("EMA: at path ('table',) there is float32[2]", "only Variables are averaged"),
            "nnx.EMA(model, decay, only=nnx.Param)",
        ),
        "a metric without its keyword": (
            lambda: metrics.Average("loss").update(values=1.0, x=2.0),
            ("Average.update: expected keyword argument 'loss'", "got values, x"),
            "metric.update(loss=...), or make the metric with another name: "
            "nnx.metrics.Average('values')",
        ),
        "a threshold that is an int": (
            lambda: accuracy_class(1),
            ("Accuracy: argument `threshold` is 1 (int)", "expected a float"),
            "nnx.metrics.Accuracy(threshold=0.5)",
        ),
        "a table of what is no object": (
            lambda: tabulate({"a": 1}),
            ("tabulate", "`obj`", "a dict", "expected a Module"),
            "nnx.tabulate(model, *inputs)",
        ),
    },
    errors.AbstractMethodError: {
        "a Metric without methods": (
            metrics.Metric,
            ("Metric: a Metric must override `__init__()`",),
            "define __init__(self, ...) in a subclass of nnx.Metric",
        )
    },
    errors.ArgumentError: {
        "labels with an axis too many": (
            lambda: metrics.Accuracy().update(
                logits=jnp.ones((3, 2)), labels=jnp.ones((3, 1), jnp.int32)
            ),
            (
                "Accuracy.update: expected logits [..., classes] and labels [...]",
                "(3, 2)",
                "(3, 1)",
            ),
            "metrics.update(logits=logits, labels=labels) with one label for each prediction",
        ),
        "labels that are floats": (
            lambda: metrics.Accuracy().update(logits=jnp.ones((3, 2)), labels=jnp.ones(3)),
            ("Accuracy.update: expected labels of dtype int32", "got float32"),
            "labels=labels.astype(jnp.int32)",
        ),
        "a mask for a number": (
            lambda: metrics.Average("loss").update(loss=2.0, mask=jnp.ones(3)),
            ("Average.update: with a mask `loss` should be a jax array", "got 2.0"),
            "metrics.update(loss=jnp.array(...), mask=mask), or no mask",
        ),
    },
    errors.ReservedNameError: {
        "a metric named like a method": (
            lambda: metrics.MultiMetric(update=metrics.Average()),
            ("MultiMetric: a metric cannot be named 'update'", "expected another name"),
            "nnx.MultiMetric(update_metric=...)",
        )
    },
    errors.CheckpointMismatchError: {
        "a checkpoint of another model": (
            in_folder(
                lambda path: restore(
                    saved(path, w=nnx.Param(jnp.ones(4)), b=nnx.Param(1)), network()
                )
            ),
            (
                "restore: the checkpoint ",
                "does not fit Bag; 3 leaves differ. Nothing was changed.",
                "missing at ('norm', 'mean'): expected float32[3], found nothing",
                "extra at ('b',): expected nothing, found int (a value of Python)",
                "wrong at ('w',): expected float32[2,3], found float32[4]",
            ),
            "build the model with the arguments of the saved one",
        ),
        "a checkpoint of a larger model": (
            in_folder(lambda path: restore(saved(path), Bag())),
            ("restore: ", "2 leaves differ", "extra at ('norm', 'mean'): expected nothing"),
            "restore(path, model, ...)",
        ),
    },
    errors.CheckpointNotFoundError: {
        "a path without a checkpoint": (
            in_folder(lambda path: restore(path, network())),
            ("restore: ", "run' does not exist"),
            "give the path that a finished save wrote to",
        ),
        "a step that is not there": (
            in_folder(lambda path: CheckpointManager(path).restore(network(), step=3)),
            ("CheckpointManager.restore: ", "has no complete step 3; it has []"),
            "give the path that a finished save wrote to",
        ),
    },
    errors.CheckpointError: {
        "a file for a checkpoint": (
            in_folder(lambda path: restore(in_a_file(path).parent, network())),
            ("restore: ", "run' is a file, not a checkpoint"),
            "a .safetensors file is for load_safetensors",
        )
    },
    errors.CheckpointExistsError: {
        "a second checkpoint at a path": (
            in_folder(lambda path: save(saved(path), network())),
            ("save: ", "holds a checkpoint already"),
            "save(path, model, overwrite=True)",
        )
    },
    errors.CheckpointDamagedError: {
        "a truncated file": (
            in_folder(lambda path: restore(with_a_broken_file(path), network())),
            ("restore: ", "is damaged and cannot be read (", "has other bytes than were written"),
            "restore another checkpoint, or save it again",
        )
    },
    errors.CheckpointSaveError: {
        "a folder that cannot be made": (
            in_folder(lambda path: save(in_a_file(path), network())),
            ("save: ", "could not be written (", "NotADirectoryError"),
            "see the cause above; earlier checkpoints are intact",
        )
    },
    errors.CheckpointLeafError: {
        "a function in a Variable": (
            in_folder(lambda path: save(path, Bag(f=nnx.Variable(max)))),
            ("save: 1 leaf cannot be in a checkpoint.", "at ('f',): builtin_function_or_method"),
            "save(path, nnx.state(model, nnx.Param))",
        )
    },
    errors.MethodNotFoundError: {
        "a table of a method that is not there": (
            lambda: tabulate(Layer(), method="encode"),
            ("tabulate", "Layer", "'encode'", "its methods are __call__"),
            "method='__call__'",
        )
    },
    errors.MissingPackageError: {
        "a package that is not installed": (
            _without_rich,
            ("tabulate", "`rich`", "not installed"),
            "pip install 'typed-nnx[tools]'",
        )
    },
}
