# runtime: typed_nnx
from __future__ import annotations

import jax.numpy as jnp

import typed_nnx as nnx

x = jnp.ones(3)


class Named(nnx.MultiMetric):
    def __init__(self) -> None:
        super().__init__(loss=nnx.metrics.Average("loss"))


# -- reports
class Trainer:
    def __init__(self) -> None:
        self.metrics = nnx.MultiMetric(loss=nnx.metrics.Average("loss"))

    def misspelt(self) -> None:
        self.metrics.los  # E: no metric `los`; its metrics are `loss`  [nnx-metric-name]


metrics = nnx.MultiMetric(accuracy=nnx.metrics.Accuracy(), loss=nnx.metrics.Average("loss"))
metrics.comput()  # E: MultiMetric: it has no method and no metric `comput`; its metrics are `accuracy`, `loss`. Fix: one of these, or nnx.MultiMetric(comput=...)  [nnx-metric-name]


def in_a_function() -> None:
    own = nnx.MultiMetric(loss=nnx.metrics.Average("loss"))
    own.accuracy.compute()  # E: no metric `accuracy`; its metrics are `loss`  [nnx-metric-name]
    metrics.updates(loss=x)  # E: no metric `updates`  [nnx-metric-name]


# -- correct
metrics.update(loss=x)
metrics.compute()
metrics.reset()
metrics.loss.compute()
metrics.accuracy.reset()
metrics.split()
Named().loss.compute()

either = nnx.MultiMetric(first=nnx.metrics.Average())
either = nnx.MultiMetric(second=nnx.metrics.Average())
either.first
either.second

# -- unsure
more = {"recall": nnx.metrics.Average()}
with_more = nnx.MultiMetric(loss=nnx.metrics.Average("loss"), **more)
with_more.recall
extended = nnx.MultiMetric(loss=nnx.metrics.Average("loss"))
setattr(extended, "extra", nnx.metrics.Average())
extended.extra
named = Named()
named.anything


def given(metrics: nnx.MultiMetric) -> None:
    metrics.anything
    metrics = nnx.MultiMetric(loss=nnx.metrics.Average("loss"))
    metrics.something
    restored = nnx.clone(metrics)
    restored.anything
