"""Metrics: values that are accumulated over batches and then computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Self, overload

import jax
import jax.numpy as jnp
from typing_extensions import TypeVar

from typed_nnx._core.filters import Filter
from typed_nnx._core.pytree import Pytree
from typed_nnx._core.variable import Variable
from typed_nnx._core.variable_types import MetricState as MetricState
from typed_nnx._graph.graphdef import GraphDef
from typed_nnx._graph.split import split, state
from typed_nnx.errors import (
    AbstractMethodError,
    ArgumentError,
    ArgumentTypeError,
    ReservedNameError,
)
from typed_nnx.training._values import FrozenPytree, StateOf, Tree, is_variable


class Metric(Pytree):
    """The base of metrics; a subclass defines ``__init__``, `reset`, `update` and `compute`."""

    def __init__(self) -> None:
        raise _not_overridden(self, "__init__")

    def reset(self) -> None:
        """Forget what was accumulated."""
        raise _not_overridden(self, "reset")

    if TYPE_CHECKING:
        # A metric names the keywords that it reads; any signature is compatible with this one.

        def update(self, *args: Any, **kwargs: Any) -> None:
            """Accumulate the values of a batch."""
    else:

        def update(self, **kwargs: Any) -> None:
            """Accumulate the values of a batch."""
            raise _not_overridden(self, "update")

    def compute(self) -> Any:
        """Return the value of the metric for all that was accumulated."""
        raise _not_overridden(self, "compute")

    @overload
    def split(self) -> tuple[GraphDef[Self], StateOf[Self]]: ...
    @overload
    def split(self, first: Filter, /) -> tuple[GraphDef[Self], StateOf[Self]]: ...
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
            ArgumentTypeError: There is no keyword `argname`.
            ArgumentError: There is a mask for a number.
        """
        values = _argument(self, self.argname, kwargs)
        if mask is not None and _is_number(values):
            raise ArgumentError(
                f"{type(self).__name__}.update",
                f"with a mask `{self.argname}` should be a jax array; got {values!r}.",
                f"metrics.update({self.argname}=jnp.array(...), mask=mask), or no mask",
            )
        self._add(values, mask)

    def _add(self, values: Tree, mask: Tree) -> None:
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
        ArgumentTypeError: `threshold` is neither a float nor None.
    """

    threshold: float | None

    def __init__(self, threshold: float | None = None, *args: Any, **kwargs: Any) -> None:
        if threshold is not None and not isinstance(threshold, float):
            raise ArgumentTypeError.of_argument(
                "Accuracy",
                "threshold",
                threshold,
                "a float for labels of 0 and 1, or None for class numbers",
                "nnx.metrics.Accuracy(threshold=0.5)",
            )
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
            ArgumentError: The rank or the dtype of `labels` does not fit.
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
            ArgumentTypeError: There is no keyword `argname`.
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


V_co = TypeVar("V_co", default=Any, covariant=True)


class MultiMetric(Metric, Generic[V_co]):
    """Several metrics that are updated together; each is an attribute.

    The type parameter is that of the values: ``jax.Array`` where each is an `Average`.

    Args:
        **metrics: The metrics by name.

    Raises:
        ReservedNameError: A name is that of a method.
    """

    _metric_names: tuple[str, ...]

    @overload
    def __init__(self: MultiMetric[jax.Array], **metrics: Average) -> None: ...
    @overload
    def __init__(self, **metrics: Metric) -> None: ...
    def __init__(self, **metrics: Any) -> None:
        for name in metrics:
            if name in _TAKEN:
                raise ReservedNameError(
                    "MultiMetric",
                    name,
                    f"a metric cannot be named {name!r}, which is a method or attribute of "
                    "MultiMetric; expected another name.",
                    f"nnx.MultiMetric({name.strip('_')}_metric=...)",
                )
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

    def compute(self) -> dict[str, V_co]:
        """Return the value of each metric by name."""
        return {name: getattr(self, name).compute() for name in self._metric_names}


_TAKEN = frozenset({"reset", "update", "compute", "_metric_names"})


def _not_overridden(metric: Metric, method: str) -> AbstractMethodError:
    kind = type(metric).__name__
    return AbstractMethodError(
        kind,
        f"a Metric must override `{method}()`, and {kind} does not.",
        f"define {method}(self, ...) in a subclass of nnx.Metric, or use nnx.metrics.Average",
    )


def _argument(metric: Metric, argname: str, kwargs: dict[str, Tree]) -> Tree:
    if argname not in kwargs:
        kind, given = type(metric).__name__, sorted(kwargs)
        raise ArgumentTypeError(
            f"{kind}.update",
            f"expected keyword argument {argname!r}; got {', '.join(given) or 'none'}.",
            f"metric.update({argname}=...), or make the metric with another name: "
            f"nnx.metrics.{kind}({given[0] if given else 'loss'!r})",
        )
    values = kwargs[argname]
    return values if _is_number(values) or hasattr(values, "sum") else jnp.asarray(values)


def _is_number(values: object) -> bool:
    return isinstance(values, int | float)


def _check_labels(logits: Tree, labels: Tree, threshold: float | None) -> None:
    rank = labels.ndim + (threshold is None)
    if logits.ndim != rank:
        task = "multi-class" if threshold is None else "binary"
        kind = "logits [..., classes] and labels [...]" if threshold is None else "equal shapes"
        raise ArgumentError(
            "Accuracy.update",
            f"expected {kind}. For {task} classification logits of rank {rank} go with labels of "
            f"rank {labels.ndim}; got logits {tuple(logits.shape)} and labels "
            f"{tuple(labels.shape)}.",
            "metrics.update(logits=logits, labels=labels) with one label for each prediction; "
            "Accuracy(threshold=0.5) is for labels of 0 and 1",
        )
    if labels.dtype not in (jnp.int32, jnp.int64):
        raise ArgumentError(
            "Accuracy.update",
            f"expected labels of dtype int32; got {labels.dtype}.",
            "labels=labels.astype(jnp.int32)",
        )
