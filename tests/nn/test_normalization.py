"""LayerNorm, RMSNorm, GroupNorm and InstanceNorm against flax over generated configurations."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import typed_nnx as nnx
from tests.nn.test_conv import quick
from tests.nn.twins import DTYPES, Twins, assert_refused_alike, normal
from tests.support.examples import few_or
from typed_nnx import errors

NORMS = ("LayerNorm", "RMSNorm", "GroupNorm", "InstanceNorm")
each_norm = pytest.mark.parametrize("norm", NORMS)


def a_mask(draw: Any, shape: tuple[int, ...], norm: str) -> jax.Array | None:
    if not draw(st.booleans()):
        return None
    cut = draw(st.integers(0, len(shape) - 1))
    # flax cannot group a mask whose last axis has size 1.
    last = shape[-1] if norm == "GroupNorm" else draw(st.sampled_from([1, shape[-1]]))
    mask = np.random.RandomState(3).rand(*shape[cut:-1], last) > 0.3
    return jnp.asarray(mask)


def axes_for(draw: Any, norm: str, ndim: int) -> dict[str, Any]:
    if norm == "GroupNorm":
        # Of what comes before, flax takes either all or none as one.
        choices = [None, tuple(range(1, ndim)), tuple(range(1 - ndim, 0))]
        return {"reduction_axes": draw(st.sampled_from(choices))}
    axes = st.integers(-ndim + (norm == "InstanceNorm"), -1)
    several = st.lists(axes, min_size=1, max_size=ndim)
    options = {"feature_axes": draw(st.one_of(axes, several.map(tuple)))}
    if norm != "InstanceNorm":
        options["reduction_axes"] = draw(st.one_of(axes, several.map(tuple)))
    return options


@st.composite
def configurations(draw: Any, norm: str) -> tuple[dict[str, Any], jax.Array, Any]:
    ndim = draw(st.integers(2, 4))
    shape = tuple([2, 3, 3, 4][-ndim:])
    options: dict[str, Any] = {
        "epsilon": draw(st.sampled_from([1e-6, 0.1])),
        "dtype": draw(st.sampled_from(DTYPES)),
        "param_dtype": draw(st.sampled_from(DTYPES[1:])),
        "use_scale": draw(st.booleans()),
        "use_fast_variance": draw(st.booleans()),
        "scale_init": draw(st.sampled_from([nnx.initializers.ones, nnx.initializers.normal()])),
        "scale_metadata": draw(st.sampled_from([{}, {"note": "s"}])),
        **axes_for(draw, norm, ndim),
    }
    if norm != "RMSNorm":
        options["use_bias"] = draw(st.booleans())
        options["bias_init"] = draw(st.sampled_from([nnx.initializers.normal()]))
    features = options.get("feature_axes", -1)
    features = {features} if isinstance(features, int) else {axis % ndim for axis in features}
    options["num_features"] = math.prod(shape[axis] for axis in features)
    if norm == "GroupNorm":
        size = draw(st.sampled_from([1, 2, 4]))
        by_size = {"num_groups": None, "group_size": size}
        options |= draw(st.sampled_from([{"num_groups": size}, by_size]))
    x = normal(*shape, dtype=draw(st.sampled_from(DTYPES)))
    return options, x, a_mask(draw, shape, norm)


def check_norm(norm: str, configuration: tuple[dict[str, Any], jax.Array, Any]) -> None:
    options, x, mask = configuration
    twins = Twins(lambda lib, rngs: getattr(lib, norm)(**options, rngs=rngs))
    twins.assert_made_alike()
    if norm == "RMSNorm":
        # Our program lacks theirs' subtraction of zeros.
        twins.assert_same_values_and_gradients(x, mask=mask)
    else:
        twins.assert_same_program(x, mask=mask)
        twins.assert_same_gradients(x, mask=mask)


@pytest.mark.thorough
@pytest.mark.parametrize("norm", ["LayerNorm", "GroupNorm", "InstanceNorm"])
@quick
@given(st.data())
def test_a_norm_is_the_twin_of_flax(norm: str, data: Any) -> None:
    check_norm(norm, data.draw(configurations(norm)))


@pytest.mark.thorough
@settings(max_examples=few_or(4, 300), deadline=None)
@given(configurations("RMSNorm"))
def test_rms_norm_is_the_twin_of_flax(configuration: Any) -> None:
    check_norm("RMSNorm", configuration)


def four_features(norm: str) -> dict[str, Any]:
    return {"num_features": 4, **({"num_groups": 2} if norm == "GroupNorm" else {})}


@each_norm
def test_a_norm_of_complex_inputs_is_that_of_flax(norm: str) -> None:
    twins = Twins(lambda lib, rngs: getattr(lib, norm)(**four_features(norm), rngs=rngs))
    x = normal(2, 3, 4) + 1j * normal(2, 3, 4)[::-1]
    mine, other = (layer(x) for layer in twins.both)
    np.testing.assert_array_equal(mine, other)


@pytest.mark.thorough
@each_norm
@pytest.mark.parametrize("fast", [True, False], ids=["fast", "precise"])
def test_devices_of_a_mapped_axis_count_together(norm: str, fast: bool) -> None:
    options = {**four_features(norm), "axis_name": "i", "use_fast_variance": fast}
    twins = Twins(lambda lib, rngs: getattr(lib, norm)(**options, rngs=rngs))
    x = normal(2, 3, 5, 4)
    mine, other = (jax.vmap(layer, axis_name="i")(x) for layer in twins.both)
    np.testing.assert_array_equal(mine, other)
    # They count as if they stood along an axis that is reduced.
    alone = getattr(nnx, norm)(**four_features(norm), rngs=nnx.Rngs(0))
    assert not np.allclose(mine, jax.vmap(alone)(x), atol=1e-3)


@pytest.mark.parametrize("axes", [-1, (-2, -1), (0, -1), (0, 1, 2), (1, 3), (2, 3)], ids=str)
def test_group_norm_keeps_groups_apart_whatever_else_is_reduced(axes: Any) -> None:
    x = normal(2, 3, 5, 4)
    layer = nnx.GroupNorm(4, num_groups=2, reduction_axes=axes, epsilon=0.0, rngs=nnx.Rngs(0))
    if axes == (0, 1, 2):
        with pytest.raises(errors.LayerArgumentError, match=r"Fix: reduction_axes=.0, 1, 2, 3."):
            layer(x)
        return
    grouped = np.asarray(x, np.float64).reshape(2, 3, 5, 2, 2)
    reduced = tuple(sorted({axis % 4 for axis in np.atleast_1d(axes)}))[:-1]
    reduced = (*reduced, 4)
    centred = grouped - grouped.mean(reduced, keepdims=True)
    expected = centred / np.sqrt(grouped.var(reduced, keepdims=True))
    np.testing.assert_allclose(layer(x), expected.reshape(x.shape), atol=2e-3)


def test_the_precise_variance_stands_a_large_mean() -> None:
    x = jnp.array([[1e4, 1e4 + 1, 1e4 + 2, 1e4 + 3]])
    layer = nnx.LayerNorm(4, use_fast_variance=False, rngs=nnx.Rngs(0))
    expected = (np.arange(4) - 1.5) / np.sqrt(1.25)
    np.testing.assert_allclose(layer(x)[0], expected, rtol=1e-4)


@each_norm
@pytest.mark.parametrize(
    ("shape", "options", "mask"),
    [
        ((2, 3, 5), {}, None),
        ((2, 3, 4), {}, jnp.ones((2, 3, 4))),
        ((2, 3, 4), {}, jnp.ones((2, 2, 4), bool)),
        ((2, 3, 4), {"dtype": jnp.int32}, None),
        ((2, 3, 4), {"rngs": None}, None),
    ],
    ids=["features", "mask-dtype", "mask-shape", "dtype", "rngs"],
)
def test_a_norm_refuses_what_flax_refuses(norm: str, shape: Any, options: Any, mask: Any) -> None:
    def make(lib: Any, rngs: Any) -> Any:
        return getattr(lib, norm)(**{**four_features(norm), "rngs": rngs, **options})

    assert_refused_alike(make, jnp.ones(shape), mask=mask)


@pytest.mark.parametrize(
    ("features", "options"),
    [
        (6, {}),
        (6, {"num_groups": 4}),
        (6, {"num_groups": None, "group_size": 4}),
        (6, {"num_groups": None}),
        (6, {"num_groups": 3, "group_size": 2}),
        (6, {"num_groups": -2}),
    ],
    ids=str,
)
def test_group_norm_refuses_groups_that_do_not_divide_the_features(
    features: int, options: Any
) -> None:
    make = lambda lib, rngs: lib.GroupNorm(features, rngs=rngs, **options)  # noqa: E731
    assert_refused_alike(make, jnp.ones((1, features)))


def test_an_axis_that_is_not_there_is_named() -> None:
    layer = nnx.LayerNorm(4, reduction_axes=(1, 5), rngs=nnx.Rngs(0))
    with pytest.raises(errors.LayerInputError, match=r"the axes reduction_axes=.1, 5."):
        layer(jnp.ones((2, 3, 4)))
