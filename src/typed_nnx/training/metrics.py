"""Metrics: values that are accumulated over batches and then computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, overload

import jax
import jax.numpy as jnp

from typed_nnx._core.filters import Filter
from typed_nnx._core.pytree import Pytree
from typed_nnx._core.state import State
from typed_nnx._core.variable import Variable
from typed_nnx._core.variable_types import MetricState as MetricState
from typed_nnx._graph.graphdef import GraphDef
from typed_nnx._graph.split_merge import split, state
from typed_nnx.errors import (
    AbstractMetricError,
    LabelsError,
    MaskedNumberError,
    MetricArgumentError,
    MetricNameError,
    ThresholdError,
)
from typed_nnx.training._frozen import FrozenPytree
from typed_nnx.training._values import is_variable


class Metric(Pytree):
    """The base of metrics; a subclass defines ``__init__``, `reset`, `update` and `compute`."""

    def __init__(self) -> None:
        raise AbstractMetricError(type(self).__name__, "__init__")

    def reset(self) -> None:
        """Forget what was accumulated."""
        raise AbstractMetricError(type(self).__name__, "reset")

    if TYPE_CHECKING:
        # A metric names the keywords that it reads; any signature is compatible with this one.

        def update(self, *args: Any, **kwargs: Any) -> None:
            """Accumulate the values of a batch."""
    else:

        def update(self, **kwargs: Any) -> None:
            """Accumulate the values of a batch."""
            raise AbstractMetricError(type(self).__name__, "update")

    def compute(self) -> Any:
        """Return the value of the metric for all that was accumulated."""
        raise AbstractMetricError(type(self).__name__, "compute")

    @overload
    def split(self) -> tuple[GraphDef[Self], State[Any, Any, Self, Any]]: ...
    @overload
    def split(self, first: Filter, /) -> tuple[GraphDef[Self], State[Any, Any, Self, Any]]: ...
    @overload
    def split(self, first: Filter, second: Filter, /, *filters: Filter) -> tuple[Any, ...]: ...
    def split(self, *filters: Filter) -> tuple[Any, ...]:
        """Return the structure and one State per filter, as `nnx.split` does."""
        return split(self, *filters)


class Average(Metric):
    """The mean of values.

    Args:
        argname: The keyword of `update` that holds the values.

    Attributes:
        total: The sum, float32 [].
        count: How many values there were, int32 [].
    """

    argname: str
    total: MetricState[jax.Array]
    count: MetricState[jax.Array]

    def __init__(self, argname: str = "values") -> None:
        self.argname = argname
        self.total = MetricState(jnp.array(0, dtype=jnp.float32))
        self.count = MetricState(jnp.array(0, dtype=jnp.int32))

    def reset(self) -> None:
        """Forget what was accumulated."""
        self.total[...] = jnp.array(0, dtype=jnp.float32)
        self.count[...] = jnp.array(0, dtype=jnp.int32)

    def update(self, mask: jax.Array | None = None, **kwargs: Any) -> None:
        """Accumulate values.

        Args:
            mask: Which values count, bool or 0 and 1; a shape that broadcasts with that of the
                values.
            **kwargs: Under `argname` the values, numbers [...]; others are ignored.

        Raises:
            MetricArgumentError: There is no keyword `argname`.
            MaskedNumberError: There is a mask for a number.
        """
        values = _argument(self, self.argname, kwargs)
        if mask is not None and _is_number(values):
            raise MaskedNumberError(type(self).__name__, self.argname, values)
        self._add(values, mask)

    def _add(self, values: Any, mask: Any) -> None:
        with jax.numpy_dtype_promotion("standard"):
            if mask is None:
                self.total[...] += values if _is_number(values) else values.sum()
                self.count[...] += 1 if _is_number(values) else values.size
                return
            values, counted = jnp.asarray(values), jnp.asarray(mask)
            masked = values * counted.astype(values.dtype)
            if counted.shape != masked.shape:
                counted = jnp.broadcast_to(counted, masked.shape)
            self.total[...] += masked.sum()
            self.count[...] += counted.sum().astype(jnp.int32)

    def compute(self) -> jax.Array:
        """Return the mean, float32 []; nan if there was no value."""
        with jax.numpy_dtype_promotion("standard"):
            return self.total[...] / self.count[...]


class Accuracy(Average):
    """The share of predictions that equal their labels.

    Args:
        threshold: With a float, labels are 0 or 1 and a logit of at least `threshold` predicts 1;
            without, labels are numbers of classes and the greatest logit predicts.
        *args: For `Average`.
        **kwargs: For `Average`.

    Raises:
        ThresholdError: `threshold` is neither a float nor None.
    """

    threshold: float | None

    def __init__(self, threshold: float | None = None, *args: Any, **kwargs: Any) -> None:
        if threshold is not None and not isinstance(threshold, float):
            raise ThresholdError(threshold)
        self.threshold = threshold
        super().__init__(*args, **kwargs)

    def update(  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride]  # as in NNX: it reads other keywords
        self, *, logits: jax.Array, labels: jax.Array, mask: jax.Array | None = None, **_: Any
    ) -> None:
        """Accumulate predictions.

        Args:
            logits: float [..., classes], or [...] with a threshold.
            labels: int32 [...].
            mask: Which predictions count, bool or 0 and 1 [...].
            **_: Other keywords are ignored.

        Raises:
            LabelsError: The rank or the dtype of `labels` does not fit.
        """
        _check_labels(logits, labels, self.threshold)
        with jax.numpy_dtype_promotion("standard"):
            if self.threshold is None:
                correct = logits.argmax(axis=-1) == labels
            else:
                correct = (logits >= self.threshold) == (labels > 0)
        self._add(correct, mask)


class Statistics(FrozenPytree):
    """What `Welford` computes.

    Attributes:
        mean: float32 [].
        standard_error_of_mean: float32 [].
        standard_deviation: Of the population (divided by n, not n - 1), float32 [].
    """

    mean: jax.Array
    standard_error_of_mean: jax.Array
    standard_deviation: jax.Array


class Welford(Metric):
    """Mean and standard deviation of values, in one pass.

    Args:
        argname: The keyword of `update` that holds the values.

    Attributes:
        count: How many values there were, int32 [].
        mean: Their mean, float32 [].
        m2: The sum of squared distances from the mean, float32 [].

    Source: Chan, Golub, LeVeque: Updating Formulae and a Pairwise Algorithm for Computing Sample
    Variances (1979).
    """

    argname: str
    count: MetricState[jax.Array]
    mean: MetricState[jax.Array]
    m2: MetricState[jax.Array]

    def __init__(self, argname: str = "values") -> None:
        self.argname = argname
        self.count = MetricState(jnp.array(0, dtype=jnp.int32))
        self.mean = MetricState(jnp.array(0, dtype=jnp.float32))
        self.m2 = MetricState(jnp.array(0, dtype=jnp.float32))

    def reset(self) -> None:
        """Forget what was accumulated."""
        self.count[...] = jnp.array(0, dtype=jnp.int32)
        self.mean[...] = jnp.array(0, dtype=jnp.float32)
        self.m2[...] = jnp.array(0, dtype=jnp.float32)

    def update(self, **kwargs: Any) -> None:
        """Accumulate values.

        Args:
            **kwargs: Under `argname` the values, numbers [...]; others are ignored.

        Raises:
            MetricArgumentError: There is no keyword `argname`.
        """
        values = _argument(self, self.argname, kwargs)
        before = self.count[...]
        with jax.numpy_dtype_promotion("standard"):
            number = 1 if _is_number(values) else values.size
            self.count[...] += number
            delta = (values if _is_number(values) else values.mean()) - self.mean[...]
            self.mean[...] += delta * number / self.count[...]
            spread = 0.0 if _is_number(values) else values.var() * number
            self.m2[...] += spread + delta * delta * number * before / self.count[...]

    def compute(self) -> Statistics:
        """Return mean, standard error and standard deviation; nan if there was no value."""
        count = self.count[...]
        with jax.numpy_dtype_promotion("standard"):
            deviation = (self.m2[...] / count) ** 0.5
            error = deviation / count**0.5
        return Statistics(
            mean=self.mean[...], standard_error_of_mean=error, standard_deviation=deviation
        )


class MultiMetric(Metric):
    """Several metrics that are updated together; each is an attribute.

    Args:
        **metrics: The metrics by name.

    Raises:
        MetricNameError: A name is that of a method.
    """

    _metric_names: tuple[str, ...]

    def __init__(self, **metrics: Metric) -> None:
        for name in metrics:
            if name in _TAKEN:
                raise MetricNameError(name)
        self._metric_names = tuple(metrics)
        for name, metric in metrics.items():
            setattr(self, name, metric)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return a metric."""

    def reset(self) -> None:
        """Forget what every metric accumulated."""
        for name in self._metric_names:
            getattr(self, name).reset()

    def update(self, **updates: Any) -> None:
        """Update every metric; all of them, or none if one raises an error.

        Args:
            **updates: Passed to each metric, which takes from it what it reads. `mask` may be a
                dict of masks by the names of metrics; a metric without one gets none.
        """
        mask = updates.pop("mask", None)
        masks = mask if isinstance(mask, dict) else dict.fromkeys(self._metric_names, mask)
        leaves = jax.tree.leaves(state(self), is_leaf=is_variable)
        before = [(v, v.get_raw_value()) for v in leaves if isinstance(v, Variable)]
        try:
            for name in self._metric_names:
                own = masks.get(name)
                getattr(self, name).update(**updates, **({} if own is None else {"mask": own}))
        except BaseException:
            for variable, value in before:
                if variable.get_raw_value() is not value:
                    variable.set_raw_value(value)
            raise

    def compute(self) -> dict[str, Any]:
        """Return the value of each metric by name."""
        return {name: getattr(self, name).compute() for name in self._metric_names}


_TAKEN = frozenset({"reset", "update", "compute", "_metric_names"})


def _argument(metric: Metric, argname: str, kwargs: dict[str, Any]) -> Any:
    if argname not in kwargs:
        raise MetricArgumentError(type(metric).__name__, argname, sorted(kwargs))
    values = kwargs[argname]
    return values if _is_number(values) or hasattr(values, "sum") else jnp.asarray(values)


def _is_number(values: Any) -> bool:
    return isinstance(values, int | float)


def _check_labels(logits: Any, labels: Any, threshold: float | None) -> None:
    rank = labels.ndim + (threshold is None)
    if logits.ndim != rank:
        task = "multi-class" if threshold is None else "binary"
        kind = "logits [..., classes] and labels [...]" if threshold is None else "equal shapes"
        raise LabelsError(
            f"{kind}. For {task} classification logits of rank {rank} go with labels of rank {labels.ndim}",
            f"logits {tuple(logits.shape)} and labels {tuple(labels.shape)}",
            "metrics.update(logits=logits, labels=labels) with one label for each prediction; "
            "Accuracy(threshold=0.5) is for labels of 0 and 1",
        )
    if labels.dtype not in (jnp.int32, jnp.int64):
        raise LabelsError(
            "labels of dtype int32", f"{labels.dtype}", "labels=labels.astype(jnp.int32)"
        )
