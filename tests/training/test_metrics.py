"""Metrics: what they compute, against numpy and against flax."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from tests.training.models import FLAX, OURS, both, contents, trees


@pytest.mark.parametrize("cls", ["Average", "Accuracy", "Welford"])
def test_attributes_types_and_dtypes_are_those_of_flax(cls: str) -> None:
    found = []
    for lib in (OURS, FLAX):
        metric = getattr(lib.metrics, cls)()
        names = [name for name in vars(metric) if not name.startswith("_pytree__")]
        found.append((names, contents(lib, metric), str(metric)))
    assert found[0] == found[1]


def test_a_mask_of_fewer_axes_counts_every_value_that_it_covers() -> None:
    metric = OURS.metrics.Average()
    metric.update(values=jnp.ones((3, 4)), mask=jnp.array([True, False, True, True]))
    assert metric.count[...] == 9
    assert float(metric.compute()) == 1.0


@both
def test_statistics_are_a_frozen_pytree(lib: Any) -> None:
    statistics = lib.metrics.Statistics(
        mean=1.0, standard_error_of_mean=2.0, standard_deviation=3.0
    )
    assert statistics.replace(mean=5.0).mean == 5.0
    paths = [str(path) for path, _ in jax.tree_util.tree_leaves_with_path(statistics)]
    assert paths == [
        "(GetAttrKey(name='mean'),)",
        "(GetAttrKey(name='standard_error_of_mean'),)",
        "(GetAttrKey(name='standard_deviation'),)",
    ]
    assert statistics == lib.metrics.Statistics(1.0, 2.0, 3.0)
    assert str(statistics).endswith(
        "Statistics(mean=1.0, standard_error_of_mean=2.0, standard_deviation=3.0)"
    )
    with pytest.raises(dataclasses.FrozenInstanceError):
        statistics.mean = 2.0


def several(lib: Any) -> Any:
    """Make a MultiMetric of three kinds."""
    return lib.MultiMetric(
        accuracy=lib.metrics.Accuracy(),
        loss=lib.metrics.Average("loss"),
        spread=lib.metrics.Welford("loss"),
    )


def one_batch() -> dict[str, jax.Array]:
    """Return keywords for `several`."""
    return {
        "logits": jnp.array([[0.1, 0.9], [0.8, 0.2], [0.3, 0.7]]),
        "labels": jnp.array([1, 1, 1]),
        "loss": jnp.array([1.0, 2.0, 3.0]),
    }


@both
def test_a_multi_metric_updates_computes_and_resets_all(lib: Any) -> None:
    metric = several(lib)
    metric.update(**one_batch())
    values = metric.compute()
    assert list(values) == ["accuracy", "loss", "spread"]
    assert float(values["accuracy"]) == pytest.approx(2 / 3)
    assert float(values["loss"]) == 2.0
    assert float(values["spread"].standard_deviation) == pytest.approx(np.sqrt(2 / 3))
    assert float(metric.loss.compute()) == 2.0
    metric.reset()
    assert np.isnan(metric.compute()["loss"])


@both
def test_metrics_are_split_and_merged(lib: Any) -> None:
    metric = several(lib)
    metric.update(**one_batch())
    graphdef, state = metric.split()
    assert trees(lib.merge(graphdef, state).compute()) == trees(metric.compute())
    _, states, rest = metric.split(lib.metrics.MetricState, ...)
    assert len(rest) == 0
    assert len(jax.tree.leaves(states)) == 7


def test_a_multi_metric_of_ours_holds_and_shows_what_one_of_flax_does() -> None:
    found = []
    for lib in (OURS, FLAX):
        metric = several(lib)
        metric.update(**one_batch(), mask=jnp.array([True, True, False]))
        found.append((contents(lib, metric), trees(metric.compute()), str(metric)))
    assert found[0] == found[1]


def test_a_failed_update_of_a_multi_metric_changes_nothing() -> None:
    metric = several(OURS)
    metric.update(**one_batch())
    before = contents(OURS, metric)
    with pytest.raises(TypeError, match="expected keyword argument 'loss'; got labels, logits"):
        metric.update(logits=one_batch()["logits"], labels=one_batch()["labels"])
    assert contents(OURS, metric) == before


@pytest.mark.thorough
@both
def test_metrics_go_through_jit_scan_and_vmap(lib: Any) -> None:
    values = jnp.arange(6.0).reshape(3, 2)
    metric = lib.metrics.Welford()
    update = lib.jit(lambda metric, values: metric.update(values=values))
    for row in values:
        update(metric, row)
    scanned = lib.metrics.Welford()

    def body(metric: Any, row: jax.Array) -> Any:
        metric.update(values=row)
        return metric

    lib.scan(body, in_axes=(lib.Carry, 0), out_axes=lib.Carry)(scanned, values)
    for found in (metric, scanned):
        np.testing.assert_allclose(found.compute().mean, 2.5)
        np.testing.assert_allclose(found.compute().standard_deviation, np.arange(6.0).std(), 1e-6)
    many = lib.vmap(lambda _: lib.metrics.Average())(jnp.arange(3))
    lib.vmap(lambda metric, row: metric.update(values=row))(many, values)
    computed = lib.vmap(lambda metric: metric.compute())(many)
    assert computed.tolist() == [0.5, 2.5, 4.5]


@both
def test_wrong_use_raises_what_flax_raises(lib: Any) -> None:
    metrics, logits = lib.metrics, one_batch()["logits"]
    accuracy = metrics.Accuracy()
    for error, does in (
        (TypeError, lambda: metrics.Average().update(loss=1.0)),
        (TypeError, lambda: metrics.Welford().update(loss=1.0)),
        (TypeError, lambda: metrics.Accuracy(1)),
        (TypeError, lambda: accuracy.update(logits=logits)),
        (ValueError, lambda: accuracy.update(logits=logits, labels=jnp.ones((3, 1), jnp.int32))),
        (ValueError, lambda: accuracy.update(logits=logits, labels=jnp.ones(3))),
        (ValueError, lambda: metrics.Accuracy(0.5).update(logits=logits, labels=jnp.array([1]))),
        (NotImplementedError, lambda: lib.Metric()),
        (TypeError, lambda: lib.MultiMetric(metrics.Average())),
    ):
        with pytest.raises(error):
            does()


DTYPES = st.sampled_from(["float32", "bfloat16", "float16", "int32", "int8", "bool"])
SHAPES = npst.array_shapes(min_dims=0, max_dims=3, max_side=4)


def computed(lib: Any, shape: tuple[int, ...], dtype: str, masked: bool) -> Any:
    values = (jnp.sin(jnp.arange(np.prod(shape, dtype=int)) * 1.0) * 5).reshape(shape)
    values, mask = values.astype(dtype), values > 0
    logits = jnp.stack([values, values[..., ::-1] if shape else values], -1)
    labels, chosen = mask.astype(jnp.int32), mask if masked else None
    average, welford, accuracy, binary = metrics = (
        lib.metrics.Average(),
        lib.metrics.Welford(),
        lib.metrics.Accuracy(),
        lib.metrics.Accuracy(0.5),
    )
    found: list[Any] = []
    for number in range(3):
        average.update(values=values, mask=chosen, other="ignored")
        welford.update(values=values)
        accuracy.update(logits=logits, labels=labels, mask=mask)
        binary.update(logits=values.astype(jnp.float32), labels=labels, mask=chosen)
        found.append([(trees(metric.compute()), contents(lib, metric)) for metric in metrics])
        if number == 1 and jnp.array(1.0).dtype == "float32":  # with 64 bits flax's Welford warns
            for metric in metrics:
                metric.reset()
            average.update(values=3)
            found.append([contents(lib, metric) for metric in metrics])
    return repr(found)


@settings(max_examples=10, deadline=None)
@given(st.sampled_from([(), (0,), (3,), (2, 3)]), DTYPES, st.booleans())
def test_values_of_any_shape_and_dtype_give_what_flax_gives(
    shape: tuple[int, ...], dtype: str, masked: bool
) -> None:
    assert computed(OURS, shape, dtype, masked) == computed(FLAX, shape, dtype, masked)


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(SHAPES, DTYPES, st.booleans(), st.booleans())
def test_many_more_values_give_what_flax_gives(
    shape: tuple[int, ...], dtype: str, masked: bool, x64: bool
) -> None:
    with jax.enable_x64(x64):
        assert computed(OURS, shape, dtype, masked) == computed(FLAX, shape, dtype, masked)


@pytest.mark.thorough
def test_metrics_work_under_strict_promotion() -> None:
    with jax.numpy_dtype_promotion("strict"), jax.numpy_rank_promotion("raise"):
        metric = several(OURS)
        metric.update(**one_batch(), mask=jnp.array([True, True, False]))
        assert float(metric.compute()["accuracy"]) == 0.5


@both
def test_masks_by_the_names_of_metrics(lib: Any) -> None:
    class Seen(lib.metrics.Average):
        def update(self, values: Any) -> None:  # takes no mask
            super().update(values=values)

    metrics = lib.MultiMetric(a=lib.metrics.Average(), b=lib.metrics.Average(), c=Seen())
    values, mask = jnp.array([1.0, 2.0, 6.0]), jnp.array([True, False, True])
    metrics.update(values=values, mask={"a": mask, "b": None})
    assert {name: float(mean) for name, mean in metrics.compute().items()} == {
        "a": 3.5,
        "b": 3.0,
        "c": 3.0,
    }
